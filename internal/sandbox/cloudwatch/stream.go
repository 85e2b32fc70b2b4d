package cloudwatch

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

var _ world.Alarms = (*CloudWatch)(nil)

// AlarmStream implements world.Alarms. Who watches a stream sees the settings
// of its alarm at this time, as a health check of Route 53 does until it is
// updated itself.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/health-checks-creating-values.html#health-checks-creating-values-cloudwatch
func (c *CloudWatch) AlarmStream(region, account, name string) (world.AlarmStream, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenant(region, account)
	r := t.alarms[name]
	if r == nil || r.metric == nil {
		return world.AlarmStream{}, false
	}
	a, p := r.metric, *r.plan
	p.points = nil
	p.criteria.Treatment = alarm.TreatMissing // what missing data means is the watcher's choice
	s := world.AlarmStream{
		Namespace: aws.ToString(a.Namespace), Metric: aws.ToString(a.MetricName), Dimensions: map[string]string{},
		Statistic: string(a.Statistic), Comparison: string(a.ComparisonOperator), Threshold: aws.ToFloat64(a.Threshold),
		Period: p.criteria.Period, Periods: p.criteria.N, ToAlarm: p.criteria.N,
		State: func(at time.Time) world.AlarmState {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.arrive(at)
			return p.state(t, at)
		},
	}
	if a.DatapointsToAlarm != nil {
		s.ToAlarm = int(*a.DatapointsToAlarm)
	}
	if s.Statistic == "" {
		s.Statistic = aws.ToString(a.ExtendedStatistic)
	}
	for _, d := range a.Dimensions {
		s.Dimensions[aws.ToString(d.Name)] = aws.ToString(d.Value)
	}
	return s, true
}

// state is what the data says.
func (p *plan) state(t *tenant, at time.Time) world.AlarmState {
	if err := p.read(t, at); err != nil {
		return world.AlarmInsufficientData
	}
	switch p.criteria.Evaluate(at, p.points).State {
	case alarm.OK:
		return world.AlarmOK
	case alarm.Alarm:
		return world.AlarmRed
	}
	return world.AlarmInsufficientData
}
