package awsalarms

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// account answers DescribeAlarms, one alarm a page.
type account struct {
	metrics    map[string]types.MetricAlarm
	composites map[string]string // rules
	calls      int
	err        error
}

func (a *account) DescribeAlarms(_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	a.calls++
	if a.err != nil {
		return nil, a.err
	}
	i := 0
	if in.NextToken != nil {
		i = slices.Index(in.AlarmNames, *in.NextToken)
	}
	out := &cloudwatch.DescribeAlarmsOutput{}
	name := in.AlarmNames[i]
	if m, ok := a.metrics[name]; ok && slices.Contains(in.AlarmTypes, types.AlarmTypeMetricAlarm) {
		out.MetricAlarms = []types.MetricAlarm{m}
	}
	if rule, ok := a.composites[name]; ok && slices.Contains(in.AlarmTypes, types.AlarmTypeCompositeAlarm) {
		out.CompositeAlarms = []types.CompositeAlarm{{AlarmName: &name, AlarmRule: &rule}}
	}
	if i+1 < len(in.AlarmNames) {
		out.NextToken = &in.AlarmNames[i+1]
	}
	return out, nil
}

func silent() types.MetricAlarm {
	return types.MetricAlarm{
		AlarmName: aws.String("silent"), ComparisonOperator: types.ComparisonOperatorLessThanThreshold, Threshold: aws.Float64(2),
		EvaluationPeriods: aws.Int32(1), TreatMissingData: aws.String("breaching"),
		Metrics: []types.MetricDataQuery{
			{Id: aws.String("m1"), ReturnData: aws.Bool(false), MetricStat: &types.MetricStat{
				Metric: &types.Metric{Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency")}, Period: aws.Int32(60), Stat: aws.String("SampleCount")}},
			{Id: aws.String("e1"), Expression: aws.String("FILL(m1, 0)"), ReturnData: aws.Bool(true)},
		},
	}
}

func latency() types.MetricAlarm {
	return types.MetricAlarm{
		AlarmName: aws.String("latency"), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, Threshold: aws.Float64(20000),
		EvaluationPeriods: aws.Int32(1), TreatMissingData: aws.String("notBreaching"), Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"),
		Statistic: types.StatisticMaximum, Period: aws.Int32(60), Dimensions: []types.Dimension{{Name: aws.String("Node"), Value: aws.String("a")}},
	}
}

func TestReadFollowsRules(t *testing.T) {
	a := &account{
		metrics:    map[string]types.MetricAlarm{"silent": silent(), "latency": latency()},
		composites: map[string]string{"failed": `ALARM(inner) OR ALARM(latency)`, "inner": `ALARM("arn:aws:cloudwatch:eu-central-1:123456789012:alarm:silent")`},
	}
	d, err := Read(t.Context(), a, []string{"arn:aws:cloudwatch:eu-central-1:123456789012:alarm:failed"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Metrics) != 2 || len(d.Composites) != 2 || !slices.Equal(d.Roots, []string{"failed"}) {
		t.Fatalf("read %+v", d)
	}
	sets, notes, err := detection.NewModel().Sets(d)
	if err != nil || len(notes) > 0 || len(sets) != 1 {
		t.Fatalf("sets %v, notes %q, %v", sets, notes, err)
	}
	if host, hang := sets[0].Worst(detection.Host), sets[0].Worst(detection.Hang); detection.WholeSeconds(host) != 170 || detection.WholeSeconds(hang) != 169 {
		t.Errorf("worst cases %s and %s", host, hang)
	}
	if got := d.Metrics[slices.IndexFunc(d.Metrics, func(x alarm.Definition) bool { return x.Name == "latency" })].Metrics()[0].Dimensions["Node"]; got != "a" {
		t.Errorf("dimension Node is %q", got)
	}
}

func TestReadOfNothing(t *testing.T) {
	d, err := Read(t.Context(), &account{}, []string{"gone"})
	if err != nil || len(d.Metrics)+len(d.Composites) != 0 {
		t.Errorf("read %+v, %v", d, err)
	}
}

func TestReadRefuses(t *testing.T) {
	deep := map[string]string{}
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		deep[name] = "ALARM(" + string(rune('b'+i)) + ")"
	}
	for want, a := range map[string]*account{
		"read alarms [a]: denied": {err: errors.New("denied")},
		"composite alarm a":       {composites: map[string]string{"a": "ALARM("}},
		"nested more than":        {composites: deep},
	} {
		if _, err := Read(t.Context(), a, []string{"a"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read: %v, want %q", err, want)
		}
	}
}
