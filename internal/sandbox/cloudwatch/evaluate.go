package cloudwatch

import (
	"fmt"
	"math"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// plan is what a metric alarm needs for its evaluations.
type plan struct {
	criteria  alarm.Criteria
	schedule  alarm.Schedule
	ignoreFew bool // EvaluateLowSampleCountPercentile is ignore
	described []alarm.Query

	statistic statistic // of an alarm on one metric, or
	queries   *queries  // of an alarm on an expression,
	root      *query    // which is this one

	points []alarm.Point // reused
}

// evaluate decides the state of a metric alarm at the time of its appointment.
// The caller holds mu.
func (c *CloudWatch) evaluate(r *record, query, now time.Time) {
	p := r.plan
	if err := p.read(r.tenant, query); err != nil {
		// An expression that does not fit its data, such as arrays of different length.
		c.log.Warn("alarm not evaluated", "alarm", r.ARN, "error", err)
		return
	}
	e := p.criteria.Evaluate(query, p.points)
	if e.State == alarm.Retain || e.State == r.state.State || p.ignoreFew && p.few() {
		return
	}
	c.change(r, alarm.Condition{State: e.State, Reason: e.Reason(), ReasonData: e.ReasonData(), At: now}, now)
}

// read fills points with the evaluation range.
func (p *plan) read(t *tenant, query time.Time) error {
	s := &p.schedule
	p.points = p.points[:0]
	grid := alarm.Grid{Start: s.Start(query), Period: s.Period, N: s.Range}
	if p.queries == nil {
		m := t.metrics[p.statistic.key]
		for i := range grid.N {
			x := alarm.Point{Start: grid.At(i)}
			x.Value, x.Samples = p.statistic.at(m, x.Start, grid.At(i+1))
			p.points = append(p.points, x)
		}
		return nil
	}
	v, err := t.evaluate(p.queries, p.root, grid)
	series, ok := v.Single()
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("expression %q must give one time series", p.root.expression)
	}
	for i, f := range series.Values {
		p.points = append(p.points, alarm.Point{Start: grid.At(i), Value: f})
	}
	return nil
}

// few reports whether one of the newest datapoints is a percentile of too few
// samples.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/percentiles-with-low-samples.html
func (p *plan) few() bool {
	n := p.criteria.N
	for i := len(p.points) - 1; i >= 0 && n > 0; i-- {
		if x := p.points[i]; !math.IsNaN(x.Value) {
			n--
			if p.queries == nil && !p.statistic.EnoughSamples(x.Samples) {
				return true
			}
		}
	}
	return false
}

// change moves an alarm to another state: history, event, actions, and the composite
// alarms that depend on it. The caller holds mu.
func (c *CloudWatch) change(r *record, to alarm.Condition, now time.Time) {
	old := r.state
	r.state, r.transitioned = to, now
	r.tenant.note(r, stateUpdated(r, old))
	free := true
	if r.suppressor != "" {
		free = r.suppression.Changed(now, to.State, r.tenant.state(r.suppressor) == alarm.Alarm)
		c.hold(r)
	}
	c.emit(r, old)
	if free {
		c.act(r, old)
	}
	for _, parent := range r.tenant.composites() {
		if parent.suppressor == r.Name {
			c.suppressorChanged(parent, to.State == alarm.Alarm, now)
		}
		if parent.rule.Refers(r.Name) {
			c.childChanged(parent, r, now)
		}
	}
}
