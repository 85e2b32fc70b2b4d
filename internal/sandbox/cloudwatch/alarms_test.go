package cloudwatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

const (
	topic    = "arn:aws:sns:eu-central-1:123456789012:ops"
	okTopic  = "arn:aws:sns:eu-central-1:123456789012:fine"
	function = "arn:aws:lambda:eu-central-1:123456789012:function:takeover:live"
)

func TestPutMetricAlarmKeepsAllSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) {
			in.AlarmDescription, in.ActionsEnabled = aws.String("d"), aws.Bool(false)
			in.AlarmActions, in.OKActions, in.InsufficientDataActions = []string{function}, []string{topic}, []string{okTopic}
			in.Dimensions, in.Statistic, in.Period, in.EvaluationPeriods, in.DatapointsToAlarm = dims("Group", "g", "Node", "a"), "Minimum", aws.Int32(10), aws.Int32(3), aws.Int32(2)
			in.ComparisonOperator, in.TreatMissingData, in.Unit = "LessThanThreshold", aws.String("breaching"), "Count"
			in.Tags = []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}
		}))
		now := f.w.Clock.Now()
		want := types.MetricAlarm{
			AlarmName: aws.String("a"), AlarmArn: aws.String("arn:aws:cloudwatch:eu-central-1:123456789012:alarm:a"), AlarmDescription: aws.String("d"), ActionsEnabled: aws.Bool(false),
			AlarmActions: []string{function}, OKActions: []string{topic}, InsufficientDataActions: []string{okTopic},
			Namespace: aws.String(space), MetricName: aws.String("m"), Dimensions: dims("Group", "g", "Node", "a"), Statistic: "Minimum", Period: aws.Int32(10), Unit: "Count",
			EvaluationPeriods: aws.Int32(3), DatapointsToAlarm: aws.Int32(2), Threshold: aws.Float64(5), ComparisonOperator: "LessThanThreshold", TreatMissingData: aws.String("breaching"),
			StateValue: "INSUFFICIENT_DATA", StateReason: aws.String("Unchecked: Initial alarm creation"),
			StateUpdatedTimestamp: &now, StateTransitionedTimestamp: &now, AlarmConfigurationUpdatedTimestamp: &now,
		}
		if diff := cmp.Diff(want, f.describe("a"), cmpopts.IgnoreUnexported(types.MetricAlarm{}, types.Dimension{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestPutMetricAlarmValidation(t *testing.T) {
	type input = api.PutMetricAlarmInput
	expression := func(queries ...types.MetricDataQuery) func(*input) {
		return func(in *input) {
			in.Namespace, in.MetricName, in.Statistic, in.Period, in.Metrics = nil, nil, "", nil, queries
		}
	}
	off := func(q types.MetricDataQuery) types.MetricDataQuery {
		q.ReturnData = aws.Bool(false)
		return q
	}
	var eleven []types.MetricDataQuery
	for i := range 11 {
		eleven = append(eleven, off(statQuery(fmt.Sprint("m", i), "m", "Sum")))
	}
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.compose("composite", "TRUE")
		for _, c := range []struct {
			name  string
			spoil func(*input)
			want  string
		}{
			{"as it is", func(*input) {}, ""},
			{"no name", func(in *input) { in.AlarmName = aws.String("") }, "ValidationError"},
			{"no statistic", func(in *input) { in.Statistic = "" }, "InvalidParameterCombination"},
			{"both statistics", func(in *input) { in.ExtendedStatistic = aws.String("p99") }, "InvalidParameterCombination"},
			{"extended statistic", func(in *input) { in.Statistic, in.ExtendedStatistic = "", aws.String("p99") }, ""},
			{"unknown statistic", func(in *input) { in.Statistic = "Median" }, "ValidationError"},
			{"Sum as extended statistic", func(in *input) { in.Statistic, in.ExtendedStatistic = "", aws.String("Sum") }, "ValidationError"},
			{"period 15", func(in *input) { in.Period = aws.Int32(15) }, "ValidationError"},
			{"period 1", func(in *input) { in.Period = aws.Int32(1) }, "ValidationError"},
			{"period 90", func(in *input) { in.Period = aws.Int32(90) }, "ValidationError"},
			{"no period", func(in *input) { in.Period = nil }, "MissingParameter"},
			{"1440 minutes", func(in *input) { in.EvaluationPeriods = aws.Int32(1440) }, ""},
			{"1441 minutes", func(in *input) { in.EvaluationPeriods = aws.Int32(1441) }, "ValidationError"},
			{"168 hours", func(in *input) { in.Period, in.EvaluationPeriods = aws.Int32(3600), aws.Int32(168) }, ""},
			{"169 hours", func(in *input) { in.Period, in.EvaluationPeriods = aws.Int32(3600), aws.Int32(169) }, "ValidationError"},
			{"no evaluation periods", func(in *input) { in.EvaluationPeriods = aws.Int32(0) }, "ValidationError"},
			{"4 of 3", func(in *input) { in.EvaluationPeriods, in.DatapointsToAlarm = aws.Int32(3), aws.Int32(4) }, "ValidationError"},
			{"0 of 1", func(in *input) { in.DatapointsToAlarm = aws.Int32(0) }, "ValidationError"},
			{"no threshold", func(in *input) { in.Threshold = nil }, "MissingParameter"},
			{"unknown treatment", func(in *input) { in.TreatMissingData = aws.String("x") }, "ValidationError"},
			{"unknown comparison", func(in *input) { in.ComparisonOperator = "Near" }, "ValidationError"},
			{"low samples", func(in *input) { in.EvaluateLowSampleCountPercentile = aws.String("x") }, "ValidationError"},
			{"six actions", func(in *input) { in.AlarmActions = slices.Repeat([]string{topic}, 6) }, "ValidationError"},
			{"an action that is no ARN", func(in *input) { in.AlarmActions = []string{"takeover"} }, "ValidationError"},
			{"a topic elsewhere", func(in *input) { in.OKActions = []string{"arn:aws:sns:us-east-1:123456789012:ops"} }, "ValidationError"},
			{"a composite alarm's name", func(in *input) { in.AlarmName = aws.String("composite") }, "ValidationError"},
			{"expression", expression(exprQuery("e", "FILL(m1, 0)"), off(statQuery("m1", "m", "Sum"))), ""},
			{"one statistic as query", expression(statQuery("m1", "m", "Sum")), ""},
			{"expression with a metric beside", func(in *input) { in.Metrics = []types.MetricDataQuery{statQuery("m1", "m", "Sum")} }, "InvalidParameterCombination"},
			{"a constant series", expression(exprQuery("e", "TIME_SERIES(0)")), ""},
			{"an expression that is a number", expression(exprQuery("e", "1 + 1")), "ValidationError"},
			{"an expression that is an array", expression(exprQuery("e", "[m1, m1]"), off(statQuery("m1", "m", "Sum"))), "ValidationError"},
			{"two results", expression(exprQuery("e", "m1"), statQuery("m1", "m", "Sum")), "ValidationError"},
			{"no result", expression(off(statQuery("m1", "m", "Sum"))), "ValidationError"},
			{"eleven metrics", expression(append(eleven, exprQuery("e", "SUM(METRICS())"))...), "ValidationError"},
			{"an EC2 action of an expression", func(in *input) {
				expression(statQuery("m1", "m", "Sum"))(in)
				in.AlarmActions = []string{"arn:aws:automate:eu-central-1:ec2:stop"}
			}, "ValidationError"},
			{"warm-up", func(in *input) { in.WarmUpConfiguration = &types.WarmUpConfiguration{} }, "ValidationError"},
		} {
			_, err := f.putMetricAlarm(request, metricAlarm("a", c.spoil))
			if got := code(err); got != c.want {
				t.Errorf("%s: error %q (%v), want %q", c.name, got, err, c.want)
			}
		}
	})
}

func TestAnUpdateKeepsTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a"))
		f.set("a", "ALARM")
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) { in.Threshold = aws.Float64(9) }))
		f.want("a", alarm.Alarm)
		if got := f.historyOf("a", "ConfigurationUpdate"); fmt.Sprint(got) != `[Alarm "a" created Alarm "a" updated]` {
			t.Errorf("history %q", got)
		}
		o := must[*api.DescribeAlarmHistoryOutput](t)(f.describeAlarmHistory(request, &api.DescribeAlarmHistoryInput{HistoryItemType: "ConfigurationUpdate"}))
		var d struct {
			Type                  string
			UpdatedAlarm          struct{ AlarmName, StateValue string }
			OriginalUpdatedFields map[string]any
		}
		if err := json.Unmarshal([]byte(*o.AlarmHistoryItems[0].HistoryData), &d); err != nil {
			t.Fatal(err)
		}
		if d.Type != "Update" || d.UpdatedAlarm.AlarmName != "a" || d.UpdatedAlarm.StateValue != "ALARM" || fmt.Sprint(d.OriginalUpdatedFields) != "map[threshold:5]" {
			t.Errorf("data of the update: %s", *o.AlarmHistoryItems[0].HistoryData)
		}
	})
}

func TestDescribeAlarmsFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		for _, name := range []string{"list-0", "list-1", "list-2", "other"} {
			f.alarm(metricAlarm(name, func(in *api.PutMetricAlarmInput) {
				if name != "other" {
					in.AlarmActions = []string{topic}
				}
			}))
		}
		f.set("list-1", "ALARM")
		f.compose("parent", `ALARM("list-0") OR ALARM(list-1)`)
		f.compose("grandparent", "ALARM(parent)")
		both := []types.AlarmType{"MetricAlarm", "CompositeAlarm"}
		for _, c := range []struct {
			name string
			in   api.DescribeAlarmsInput
			want string
		}{
			{"metric alarms by default", api.DescribeAlarmsInput{}, "[list-0 list-1 list-2 other]"},
			{"both kinds", api.DescribeAlarmsInput{AlarmTypes: both}, "[grandparent list-0 list-1 list-2 other parent]"},
			{"by prefix", api.DescribeAlarmsInput{AlarmNamePrefix: aws.String("list-")}, "[list-0 list-1 list-2]"},
			{"by name, unknown ones left out", api.DescribeAlarmsInput{AlarmNames: []string{"other", "nobody"}}, "[other]"},
			{"by state", api.DescribeAlarmsInput{StateValue: "ALARM", AlarmTypes: both}, "[grandparent list-1 parent]"},
			{"by action", api.DescribeAlarmsInput{ActionPrefix: aws.String("arn:aws:sns:")}, "[list-0 list-1 list-2]"},
			{"children", api.DescribeAlarmsInput{ChildrenOfAlarmName: aws.String("parent")}, "[list-0 list-1]"},
			{"parents", api.DescribeAlarmsInput{ParentsOfAlarmName: aws.String("parent")}, "[grandparent]"},
			{"parents of nobody", api.DescribeAlarmsInput{ParentsOfAlarmName: aws.String("other")}, "[]"},
		} {
			if got := fmt.Sprint(f.names(&c.in)); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		in := &api.DescribeAlarmsInput{MaxRecords: aws.Int32(3)}
		first := f.names(in)
		second := f.names(in)
		if fmt.Sprint(first, second) != "[list-0 list-1 list-2] [other]" || in.NextToken != nil {
			t.Errorf("pages %v and %v", first, second)
		}
		for _, bad := range []api.DescribeAlarmsInput{
			{MaxRecords: aws.Int32(101)}, {AlarmNames: []string{"a"}, AlarmNamePrefix: aws.String("a")}, {StateValue: "RED"},
			{ChildrenOfAlarmName: aws.String("parent"), StateValue: "OK"}, {ChildrenOfAlarmName: aws.String("other")}, {NextToken: aws.String("x")},
		} {
			if _, err := f.describeAlarms(request, &bad); err == nil {
				t.Errorf("accepted: %+v", bad)
			}
		}
	})
}

// names lists one page and moves the token of in to the next.
func (f *fixture) names(in *api.DescribeAlarmsInput) []string {
	f.t.Helper()
	o := must[*api.DescribeAlarmsOutput](f.t)(f.describeAlarms(request, in))
	out := []string{}
	for _, a := range o.MetricAlarms {
		out = append(out, *a.AlarmName)
	}
	for _, a := range o.CompositeAlarms {
		out = append(out, *a.AlarmName)
	}
	slices.Sort(out)
	in.NextToken = o.NextToken
	return out
}

func TestDescribeAlarmsForMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) { in.Dimensions = dims("Node", "a") }))
		for _, c := range []struct {
			in   api.DescribeAlarmsForMetricInput
			want int
		}{
			{api.DescribeAlarmsForMetricInput{Dimensions: dims("Node", "a")}, 1},
			{api.DescribeAlarmsForMetricInput{Dimensions: dims("Node", "b")}, 0},
			{api.DescribeAlarmsForMetricInput{Dimensions: dims("Node", "a"), Statistic: "Sum"}, 0},
			{api.DescribeAlarmsForMetricInput{Dimensions: dims("Node", "a"), Period: aws.Int32(60)}, 1},
		} {
			c.in.Namespace, c.in.MetricName = aws.String(space), aws.String("m")
			o := must[*api.DescribeAlarmsForMetricOutput](t)(f.describeAlarmsForMetric(request, &c.in))
			if len(o.MetricAlarms) != c.want {
				t.Errorf("%+v: %d alarms, want %d", c.in, len(o.MetricAlarms), c.want)
			}
		}
	})
}

func TestSetAlarmState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a"))
		put := func(name, state string, reason, data *string) string {
			_, err := f.setAlarmState(request, &api.SetAlarmStateInput{AlarmName: &name, StateValue: types.StateValue(state), StateReason: reason, StateReasonData: data})
			return code(err)
		}
		if c := put("a", "ALARM", aws.String("because"), aws.String(`{"a":1}`)); c != "" {
			t.Fatal(c)
		}
		if a := f.describe("a"); *a.StateReason != "because" || *a.StateReasonData != `{"a":1}` {
			t.Errorf("reason %q, data %q", *a.StateReason, *a.StateReasonData)
		}
		put("a", "ALARM", aws.String("again"), nil)
		if got := f.historyOf("a", "StateUpdate"); fmt.Sprint(got) != "[Alarm updated from INSUFFICIENT_DATA to ALARM]" {
			t.Errorf("the same state again: history %q", got)
		}
		for _, c := range []struct {
			alarm, state string
			reason, data *string
			want         string
		}{
			{"a", "RED", aws.String("x"), nil, "ValidationError"},
			{"nobody", "OK", aws.String("x"), nil, "ResourceNotFound"},
			{"a", "OK", nil, nil, "MissingParameter"},
			{"a", "OK", aws.String("x"), aws.String("{"), "InvalidFormat"},
			{"a", "OK", aws.String(strings.Repeat("x", 1024)), nil, "ValidationError"},
		} {
			if got := put(c.alarm, c.state, c.reason, c.data); got != c.want {
				t.Errorf("%s to %s: %q, want %q", c.alarm, c.state, got, c.want)
			}
		}
		// The data (there is none) says otherwise at the next evaluation.
		time.Sleep(time.Minute)
		f.want("a", alarm.InsufficientData)
	})
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a"))
		for range 60 {
			f.set("a", "ALARM")
			f.set("a", "OK")
		}
		in := &api.DescribeAlarmHistoryInput{AlarmName: aws.String("a")}
		first := must[*api.DescribeAlarmHistoryOutput](t)(f.describeAlarmHistory(request, in))
		in.NextToken = first.NextToken
		second := must[*api.DescribeAlarmHistoryOutput](t)(f.describeAlarmHistory(request, in))
		if len(first.AlarmHistoryItems) != 100 || len(second.AlarmHistoryItems) != 21 || second.NextToken != nil {
			t.Errorf("pages of %d and %d", len(first.AlarmHistoryItems), len(second.AlarmHistoryItems))
		}
		newest := first.AlarmHistoryItems[0]
		var d struct {
			Version  string
			OldState struct{ StateValue, StateReason string }
			NewState struct{ StateValue, StateReason string }
		}
		if err := json.Unmarshal([]byte(*newest.HistoryData), &d); err != nil {
			t.Fatal(err)
		}
		if *newest.HistorySummary != "Alarm updated from ALARM to OK" || d.Version != "1.0" || d.OldState.StateValue != "ALARM" || d.NewState.StateValue != "OK" || d.NewState.StateReason != "by test" {
			t.Errorf("newest entry %q %s", *newest.HistorySummary, *newest.HistoryData)
		}
		must[*api.DeleteAlarmsOutput](t)(f.deleteAlarms(request, &api.DeleteAlarmsInput{AlarmNames: []string{"a"}}))
		if got := f.historyOf("a", "ConfigurationUpdate"); len(got) != 2 || got[1] != `Alarm "a" deleted` {
			t.Errorf("history of a deleted alarm: %q", got)
		}
		time.Sleep(31 * 24 * time.Hour)
		if got := f.historyOf("a", ""); len(got) != 0 {
			t.Errorf("%d entries after a month", len(got))
		}
	})
}

func TestTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.alarm(metricAlarm("a", func(in *api.PutMetricAlarmInput) {
			in.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}}
		}))
		arn := f.describe("a").AlarmArn
		must[*api.TagResourceOutput](t)(f.tagResource(request, &api.TagResourceInput{ResourceARN: arn, Tags: []types.Tag{{Key: aws.String("b"), Value: aws.String("2")}}}))
		must[*api.UntagResourceOutput](t)(f.untagResource(request, &api.UntagResourceInput{ResourceARN: arn, TagKeys: []string{"a"}}))
		o := must[*api.ListTagsForResourceOutput](t)(f.listTagsForResource(request, &api.ListTagsForResourceInput{ResourceARN: arn}))
		if len(o.Tags) != 1 || *o.Tags[0].Key != "b" || *o.Tags[0].Value != "2" {
			t.Errorf("tags %v", o.Tags)
		}
		_, err := f.listTagsForResource(request, &api.ListTagsForResourceInput{ResourceARN: aws.String(*arn + "x")})
		if code(err) != "ResourceNotFoundException" {
			t.Errorf("unknown alarm: %v", err)
		}
	})
}
