// Package awsalarms reads the alarms of an AWS account for the model of
// detection times.
package awsalarms

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// API is what is needed of the SDK's client.
type API interface {
	DescribeAlarms(ctx context.Context, in *cloudwatch.DescribeAlarmsInput, opts ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
}

const (
	// perCall is the limit of AlarmNames.
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
	perCall = 100
	// maxDepth bounds composite alarms of composite alarms.
	maxDepth = 5
)

// Read reads alarms, given by names or ARNs, and all alarms that their rules
// refer to. What does not exist is not in the result.
func Read(ctx context.Context, api API, alarms []string) (detection.Declared, error) {
	var out detection.Declared
	known := map[string]bool{}
	var next []string
	for _, a := range alarms {
		name := alarm.ParseReference(a).Name
		out.Roots = append(out.Roots, name)
		if !known[name] {
			known[name] = true
			next = append(next, name)
		}
	}
	for depth := 0; len(next) > 0; depth++ {
		if depth == maxDepth {
			return detection.Declared{}, fmt.Errorf("read alarms: composite alarms are nested more than %d deep at %v", maxDepth, next)
		}
		level := next
		next = nil
		for names := range slices.Chunk(level, perCall) {
			children, err := read(ctx, api, names, &out)
			if err != nil {
				return detection.Declared{}, err
			}
			for _, c := range children {
				if !known[c] {
					known[c] = true
					next = append(next, c)
				}
			}
		}
	}
	return out, nil
}

// read adds alarms and returns the children of composite ones.
func read(ctx context.Context, api API, names []string, out *detection.Declared) (children []string, err error) {
	pages := cloudwatch.NewDescribeAlarmsPaginator(api, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: names, AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read alarms %v: %w", names, err)
		}
		for i := range page.MetricAlarms {
			out.Metrics = append(out.Metrics, Definition(&page.MetricAlarms[i]))
		}
		for _, c := range page.CompositeAlarms {
			composite := detection.Composite{Name: aws.ToString(c.AlarmName), Rule: aws.ToString(c.AlarmRule)}
			rule, err := alarm.ParseRule(composite.Rule)
			if err != nil {
				return nil, fmt.Errorf("composite alarm %s: %w", composite.Name, err)
			}
			out.Composites = append(out.Composites, composite)
			for _, child := range rule.Children() {
				children = append(children, child.Name)
			}
		}
	}
	return children, nil
}

// Definition translates a metric alarm.
func Definition(a *types.MetricAlarm) alarm.Definition {
	d := alarm.Definition{
		Name: aws.ToString(a.AlarmName), N: int(aws.ToInt32(a.EvaluationPeriods)), M: int(aws.ToInt32(a.DatapointsToAlarm)),
		Comparison: alarm.Comparison(a.ComparisonOperator), Threshold: aws.ToFloat64(a.Threshold), Treatment: alarm.Treatment(aws.ToString(a.TreatMissingData)),
	}
	if len(a.Metrics) == 0 {
		name := string(a.Statistic)
		if name == "" {
			name = aws.ToString(a.ExtendedStatistic)
		}
		d.Queries = detection.Shortcut(stat(&types.MetricStat{
			Metric: &types.Metric{Namespace: a.Namespace, MetricName: a.MetricName, Dimensions: a.Dimensions}, Period: a.Period, Stat: &name, Unit: a.Unit,
		}), "")
	}
	for _, q := range a.Metrics {
		x := alarm.Query{ID: aws.ToString(q.Id), Expression: aws.ToString(q.Expression), ReturnData: q.ReturnData == nil || *q.ReturnData}
		if q.MetricStat != nil {
			x.Stat = stat(q.MetricStat)
		}
		d.Queries = append(d.Queries, x)
	}
	return d
}

func stat(s *types.MetricStat) *alarm.QueryStat {
	out := &alarm.QueryStat{Period: int(aws.ToInt32(s.Period)), Stat: aws.ToString(s.Stat), Unit: string(s.Unit)}
	if m := s.Metric; m != nil {
		out.Metric = alarm.QueryMetric{Namespace: aws.ToString(m.Namespace), Name: aws.ToString(m.MetricName), Dimensions: map[string]string{}}
		for _, d := range m.Dimensions {
			out.Metric.Dimensions[aws.ToString(d.Name)] = aws.ToString(d.Value)
		}
	}
	return out
}
