package alarm

import (
	"fmt"
	"slices"
	"time"
)

// Definition is a metric alarm as PutMetricAlarm takes it: what it computes
// from which metrics, and when that breaches.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
type Definition struct {
	Name       string
	Queries    []Query // one metric, or metrics and expressions; exactly one has ReturnData
	N          int     // EvaluationPeriods
	M          int     // DatapointsToAlarm, 0 = all
	Comparison Comparison
	Threshold  float64
	Treatment  Treatment // "" = missing
}

// Metrics returns the metrics that the alarm reads, one per query of a metric.
// CloudWatch bills an alarm by their number.
func (d Definition) Metrics() []QueryMetric {
	var out []QueryMetric
	for _, q := range d.Queries {
		if q.Stat != nil {
			out = append(out, q.Stat.Metric)
		}
	}
	return out
}

// Period returns the longest period of the alarm's metrics, which is also that
// of its expressions.
func (d Definition) Period() time.Duration {
	longest := 0
	for _, q := range d.Queries {
		if q.Stat != nil {
			longest = max(longest, q.Stat.Period)
		}
	}
	return time.Duration(longest) * time.Second
}

// OnExpression reports whether the alarm compares a metric math expression.
func (d Definition) OnExpression() bool {
	return slices.ContainsFunc(d.Queries, func(q Query) bool { return q.ReturnData && q.Expression != "" })
}

// check refuses what PutMetricAlarm refuses, as far as an evaluation needs it.
func (d Definition) check() error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("alarm %s: %s", d.Name, fmt.Sprintf(format, args...))
	}
	returned := 0
	for i, q := range d.Queries {
		if q.ReturnData {
			returned++
		}
		if (q.Stat == nil) == (q.Expression == "") {
			return fault("query %q must be either a metric or an expression", q.ID)
		}
		if q.Stat != nil && !validPeriod(q.Stat.Period) {
			return fault("period %d s is none of 10, 20, 30 or a multiple of 60", q.Stat.Period)
		}
		if slices.ContainsFunc(d.Queries[:i], func(o Query) bool { return o.ID == q.ID }) {
			return fault("query %q is given twice", q.ID)
		}
	}
	switch {
	case returned != 1:
		return fault("exactly one query must return data, not %d", returned)
	case len(d.Metrics()) == 0:
		return fault("no metric is read")
	case d.N < 1:
		return fault("evaluation periods must be at least 1, not %d", d.N)
	case d.M < 0 || d.M > d.N:
		return fault("datapoints to alarm must be between 1 and %d, not %d", d.N, d.M)
	case d.N > maxWindow(d.Period()):
		return fault("%d periods of %s are more than the documented window of an alarm", d.N, d.Period())
	case !d.Comparison.Valid():
		return fault("comparison %q is none with a static threshold", d.Comparison)
	case d.Treatment != "" && !d.Treatment.Valid():
		return fault("treatment of missing data %q is none of missing, ignore, breaching, notBreaching", d.Treatment)
	}
	return nil
}

func validPeriod(seconds int) bool {
	return seconds == 10 || seconds == 20 || seconds == 30 || seconds >= 60 && seconds%60 == 0 && seconds <= 86400
}

// maxWindow is the largest number of periods: they may cover a day, and a week
// from periods of an hour on.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
func maxWindow(period time.Duration) int {
	window := 24 * time.Hour
	if period >= time.Hour {
		window *= 7
	}
	return int(window / period)
}
