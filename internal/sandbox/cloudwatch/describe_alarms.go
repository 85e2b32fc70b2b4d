package cloudwatch

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
const (
	maxNames       = 100
	alarmsPerPage  = 50
	maxAlarmsAPage = 100
)

// describe returns the alarm as DescribeAlarms shows it.
func (r *record) describe() any {
	if r.metric != nil {
		return r.describeMetric()
	}
	return r.describeComposite()
}

func (c *CloudWatch) describeAlarms(r *wire.Request, in *api.DescribeAlarmsInput) (*api.DescribeAlarmsOutput, error) {
	size, err := pageSize(in.MaxRecords, alarmsPerPage, maxAlarmsAPage)
	if err != nil {
		return nil, err
	}
	family := in.ParentsOfAlarmName != nil || in.ChildrenOfAlarmName != nil
	switch {
	case len(in.AlarmNames) > maxNames:
		return nil, invalid("AlarmNames must have at most %d names.", maxNames)
	case in.AlarmNames != nil && in.AlarmNamePrefix != nil:
		return nil, invalidCombination("AlarmNames and AlarmNamePrefix cannot be used together.")
	case in.StateValue != "" && !alarm.State(in.StateValue).Valid():
		return nil, invalid("StateValue %q is invalid: it must be OK, ALARM or INSUFFICIENT_DATA.", in.StateValue)
	case family && (in.ParentsOfAlarmName != nil && in.ChildrenOfAlarmName != nil || in.AlarmNames != nil || in.AlarmNamePrefix != nil || in.AlarmTypes != nil || in.StateValue != "" || in.ActionPrefix != nil):
		return nil, invalidCombination("ParentsOfAlarmName and ChildrenOfAlarmName can be combined with MaxRecords and NextToken only.")
	}
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	selected := t.selector(in)
	if family {
		selected, err = t.family(in)
	}
	if err != nil {
		return nil, err
	}
	var all []*record
	for _, x := range t.sorted() {
		if selected(x) {
			all = append(all, x)
		}
	}
	part, next, err := page(all, in.NextToken, size)
	if err != nil {
		return nil, err
	}
	out := &api.DescribeAlarmsOutput{MetricAlarms: []types.MetricAlarm{}, CompositeAlarms: []types.CompositeAlarm{}, NextToken: next}
	for _, x := range part {
		if x.metric != nil {
			out.MetricAlarms = append(out.MetricAlarms, x.describeMetric())
		} else {
			out.CompositeAlarms = append(out.CompositeAlarms, x.describeComposite())
		}
	}
	return out, nil
}

// selector returns the filters of DescribeAlarms. Without types only metric
// alarms are returned.
func (t *tenant) selector(in *api.DescribeAlarmsInput) func(*record) bool {
	kinds := in.AlarmTypes
	if len(kinds) == 0 {
		kinds = []types.AlarmType{types.AlarmTypeMetricAlarm}
	}
	return func(x *record) bool {
		return slices.Contains(kinds, x.kind()) &&
			(len(in.AlarmNames) == 0 || slices.Contains(in.AlarmNames, x.Name)) &&
			strings.HasPrefix(x.Name, aws.ToString(in.AlarmNamePrefix)) &&
			(in.StateValue == "" || string(x.state.State) == string(in.StateValue)) &&
			(in.ActionPrefix == nil || x.settings.hasAction(*in.ActionPrefix))
	}
}

// family selects the children or the parents of an alarm.
func (t *tenant) family(in *api.DescribeAlarmsInput) (func(*record) bool, error) {
	if child := aws.ToString(in.ParentsOfAlarmName); child != "" {
		return func(x *record) bool { return x.rule != nil && x.rule.Refers(child) }, nil
	}
	parent := t.alarms[aws.ToString(in.ChildrenOfAlarmName)]
	if parent == nil {
		return nil, noAlarm(aws.ToString(in.ChildrenOfAlarmName))
	}
	if parent.rule == nil {
		return nil, invalid("The alarm %s is not a composite alarm.", parent.Name)
	}
	return func(x *record) bool { return parent.rule.Refers(x.Name) }, nil
}

// describeAlarmsForMetric finds alarms on one metric, not those on expressions.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmsForMetric.html
func (c *CloudWatch) describeAlarmsForMetric(r *wire.Request, in *api.DescribeAlarmsForMetricInput) (*api.DescribeAlarmsForMetricOutput, error) {
	switch {
	case aws.ToString(in.MetricName) == "":
		return nil, missing("MetricName")
	case aws.ToString(in.Namespace) == "":
		return nil, missing("Namespace")
	}
	key := metricKey(*in.Namespace, *in.MetricName, in.Dimensions)
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	out := &api.DescribeAlarmsForMetricOutput{MetricAlarms: []types.MetricAlarm{}}
	for _, x := range t.sorted() {
		if x.metric == nil || x.metric.Metrics != nil || x.plan.statistic.key != key ||
			in.Period != nil && *in.Period != *x.metric.Period ||
			in.Statistic != "" && in.Statistic != x.metric.Statistic ||
			in.ExtendedStatistic != nil && *in.ExtendedStatistic != aws.ToString(x.metric.ExtendedStatistic) ||
			in.Unit != "" && in.Unit != x.metric.Unit {
			continue
		}
		out.MetricAlarms = append(out.MetricAlarms, x.describeMetric())
	}
	return out, nil
}

// hasAction reports whether an action of the alarm starts with prefix.
func (s *settings) hasAction(prefix string) bool {
	for _, list := range [][]string{s.onAlarm, s.onOK, s.onInsufficient} {
		if slices.ContainsFunc(list, func(a string) bool { return strings.HasPrefix(a, prefix) }) {
			return true
		}
	}
	return false
}
