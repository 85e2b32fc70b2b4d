package cloudwatch

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
const (
	maxMathMetrics = 10
	day            = 24 * time.Hour
)

func (c *CloudWatch) putMetricAlarm(r *wire.Request, in *api.PutMetricAlarmInput) (*api.PutMetricAlarmOutput, error) {
	if err := served(in); err != nil {
		return nil, err
	}
	a := &types.MetricAlarm{
		ComparisonOperator: in.ComparisonOperator, DatapointsToAlarm: in.DatapointsToAlarm, Dimensions: in.Dimensions,
		EvaluateLowSampleCountPercentile: in.EvaluateLowSampleCountPercentile, EvaluationPeriods: in.EvaluationPeriods,
		ExtendedStatistic: in.ExtendedStatistic, MetricName: in.MetricName, Metrics: in.Metrics, Namespace: in.Namespace,
		Period: in.Period, Statistic: in.Statistic, Threshold: in.Threshold, TreatMissingData: in.TreatMissingData, Unit: in.Unit,
	}
	if a.TreatMissingData == nil {
		a.TreatMissingData = aws.String(defaultTreatment(a))
	}
	for i := range a.Metrics {
		if a.Metrics[i].ReturnData == nil {
			a.Metrics[i].ReturnData = aws.Bool(true)
		}
	}
	s := settings{
		description: in.AlarmDescription, enabled: in.ActionsEnabled == nil || *in.ActionsEnabled,
		onAlarm: listed(in.AlarmActions), onOK: listed(in.OKActions), onInsufficient: listed(in.InsufficientDataActions),
	}

	t, now := c.enter(r)
	defer c.mu.Unlock()
	name := aws.ToString(in.AlarmName)
	var refused []string
	if a.Metrics != nil {
		refused = []string{actionsOfEC2, workflowsOfEC2}
	}
	if err := t.checkSettings(name, &s, refused...); err != nil {
		return nil, err
	}
	p, err := c.newPlan(a)
	if err != nil {
		return nil, err
	}
	x := t.alarms[name]
	if x != nil && x.metric == nil {
		return nil, invalid("The alarm %s is a composite alarm.", name)
	}
	s.updated = now
	if x == nil {
		x = t.create(name, now, in.Tags)
		x.metric, x.plan, x.settings = a, p, s
		t.note(x, configured(x, now, "created", nil))
	} else {
		before := x.describeMetric()
		x.metric, x.plan, x.settings = a, p, s // the state stays as it is
		t.note(x, configured(x, now, "updated", before))
	}
	p.schedule.Phase = c.phase(x.ARN)
	c.appoint(x, p.schedule.Next(now))
	return &api.PutMetricAlarmOutput{}, nil
}

// served refuses kinds of alarms that need more than metrics: their silent
// acceptance would make an alarm that never fires.
func served(in *api.PutMetricAlarmInput) error {
	for what, given := range map[string]bool{
		"EvaluationCriteria": in.EvaluationCriteria != nil, "EvaluationInterval": in.EvaluationInterval != nil,
		"EvaluationWindow": in.EvaluationWindow != nil, "WarmUpConfiguration": in.WarmUpConfiguration != nil,
		"ThresholdMetricId": in.ThresholdMetricId != nil,
	} {
		if given {
			return invalid("The sandbox does not serve alarms with %s.", what)
		}
	}
	return nil
}

// defaultTreatment is missing, but for metrics of DynamoDB.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
func defaultTreatment(a *types.MetricAlarm) string {
	if aws.ToString(a.Namespace) == "AWS/DynamoDB" {
		return string(alarm.TreatIgnore)
	}
	return string(alarm.TreatMissing)
}

// newPlan checks the settings of a metric alarm and compiles them.
func (c *CloudWatch) newPlan(a *types.MetricAlarm) (*plan, error) {
	n, m := int(aws.ToInt32(a.EvaluationPeriods)), int(aws.ToInt32(a.DatapointsToAlarm))
	low := aws.ToString(a.EvaluateLowSampleCountPercentile)
	p := &plan{ignoreFew: low == "ignore"}
	p.criteria = alarm.Criteria{
		N: n, M: m, Comparison: alarm.Comparison(a.ComparisonOperator), Threshold: aws.ToFloat64(a.Threshold),
		Treatment: alarm.Treatment(aws.ToString(a.TreatMissingData)), Unit: string(a.Unit),
	}
	switch {
	case !p.criteria.Comparison.Valid():
		return nil, invalid("The sandbox serves alarms with a static threshold; ComparisonOperator %q is none of theirs.", a.ComparisonOperator)
	case a.Threshold == nil:
		return nil, missing("Threshold")
	case n < 1:
		return nil, invalid("EvaluationPeriods must be at least 1.")
	case a.DatapointsToAlarm != nil && (m < 1 || m > n):
		return nil, invalid("DatapointsToAlarm must be between 1 and EvaluationPeriods (%d), not %d.", n, m)
	case !p.criteria.Treatment.Valid():
		return nil, invalid("TreatMissingData %q is invalid: it must be breaching, notBreaching, ignore or missing.", p.criteria.Treatment)
	case low != "" && low != "evaluate" && low != "ignore":
		return nil, invalid("EvaluateLowSampleCountPercentile %q is invalid: it must be evaluate or ignore.", low)
	}
	watch := p.watchMetric
	if a.Metrics != nil {
		watch = p.watchQueries
	}
	if err := watch(a); err != nil {
		return nil, err
	}
	if err := checkWindow(p.criteria.Period, n); err != nil {
		return nil, err
	}
	if a.Metrics == nil {
		p.described[0].ID = c.w.UUID() // the service makes one up, too
	}
	p.schedule = c.schedule(p.criteria.Period, n, p.queries != nil)
	if err := p.read(&tenant{}, c.w.Clock.Now()); err != nil { // what kind of value an expression has does not depend on data
		return nil, invalid("Invalid metrics list: %v", err)
	}
	return p, nil
}

func checkWindow(period time.Duration, n int) error {
	limit := day
	if period >= time.Hour {
		limit = 7 * day
	}
	switch {
	case period != 10*time.Second && period != 20*time.Second && period != 30*time.Second && (period < time.Minute || period%time.Minute != 0):
		return invalid("Period must be 10, 20, 30 or a multiple of 60, not %v.", period.Seconds())
	case time.Duration(n) > limit/period:
		return invalid("Metrics cannot be checked across more than %v (EvaluationPeriods * Period must be <= %v).", limit, limit.Seconds())
	}
	return nil
}

// watchMetric compiles an alarm on one metric.
func (p *plan) watchMetric(a *types.MetricAlarm) error {
	name := string(a.Statistic)
	switch {
	case aws.ToString(a.MetricName) == "":
		return missing("MetricName or Metrics")
	case aws.ToString(a.Namespace) == "":
		return missing("Namespace")
	case a.Period == nil:
		return missing("Period")
	case (a.Statistic == "") == (a.ExtendedStatistic == nil):
		return invalidCombination("Give either Statistic or ExtendedStatistic.")
	case a.Statistic == "":
		name = *a.ExtendedStatistic
	}
	if err := checkDimensions(a.Dimensions); err != nil {
		return err
	}
	stat, err := alarm.ParseStatistic(name)
	switch {
	case err != nil:
		return invalid("%v", err)
	case (a.Statistic != "") == stat.NeedsSamples():
		return invalid("%s belongs into the other of Statistic and ExtendedStatistic.", name)
	}
	p.criteria.Period, p.criteria.Statistic = time.Duration(*a.Period)*time.Second, name
	p.statistic = statistic{metricKey(*a.Namespace, *a.MetricName, a.Dimensions), string(a.Unit), stat}
	p.described = []alarm.Query{{ReturnData: true, Stat: &alarm.QueryStat{
		Metric: alarm.QueryMetric{Namespace: *a.Namespace, Name: *a.MetricName, Dimensions: dimensionMap(a.Dimensions)},
		Period: int(*a.Period), Stat: name, Unit: string(a.Unit),
	}}}
	return nil
}

// watchQueries compiles an alarm on metric data queries. One of them alone, if it
// is a statistic, is an alarm on that metric.
func (p *plan) watchQueries(a *types.MetricAlarm) error {
	if a.MetricName != nil || a.Namespace != nil || a.Statistic != "" || a.ExtendedStatistic != nil || a.Period != nil || a.Unit != "" || len(a.Dimensions) > 0 {
		return invalidCombination("Metrics cannot be combined with MetricName, Namespace, Dimensions, Period, Unit, Statistic or ExtendedStatistic.")
	}
	set, err := compile(a.Metrics)
	if err != nil {
		return err
	}
	var root *query
	metrics := 0
	for i, q := range set.list {
		if q.expression == nil {
			metrics++
		}
		if q.returnData && root != nil {
			return invalid("Exactly one element of Metrics must have ReturnData = true.")
		}
		if q.returnData {
			root = q
		}
		p.described = append(p.described, describeQuery(&a.Metrics[i]))
	}
	switch {
	case root == nil:
		return invalid("Exactly one element of Metrics must have ReturnData = true.")
	case metrics > maxMathMetrics:
		return invalid("An alarm can use at most %d metrics, not %d.", maxMathMetrics, metrics)
	}
	p.criteria.Period = root.period
	if root.expression == nil {
		p.statistic, p.criteria.Statistic, p.criteria.Unit = root.statistic, root.statistic.String(), root.statistic.unit
		return nil
	}
	p.queries, p.root = set, root
	return nil
}

func describeQuery(q *types.MetricDataQuery) alarm.Query {
	out := alarm.Query{ID: aws.ToString(q.Id), Expression: aws.ToString(q.Expression), Label: aws.ToString(q.Label), Period: int(aws.ToInt32(q.Period)), ReturnData: aws.ToBool(q.ReturnData)}
	if s := q.MetricStat; s != nil {
		out.Stat = &alarm.QueryStat{
			Metric: alarm.QueryMetric{Namespace: *s.Metric.Namespace, Name: *s.Metric.MetricName, Dimensions: dimensionMap(s.Metric.Dimensions)},
			Period: int(*s.Period), Stat: *s.Stat, Unit: string(s.Unit),
		}
	}
	return out
}

func dimensionMap(dimensions []types.Dimension) map[string]string {
	m := map[string]string{}
	for _, d := range dimensions {
		m[aws.ToString(d.Name)] = aws.ToString(d.Value)
	}
	return m
}
