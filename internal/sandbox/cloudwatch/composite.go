package cloudwatch

import (
	"slices"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// childChanged evaluates a composite alarm after a change of its child. While the
// rule keeps its value, neither state nor reason changes.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-combining.html
func (c *CloudWatch) childChanged(parent, child *record, now time.Time) {
	state := parent.ruled()
	if parent.cyclic || state == parent.state.State {
		return
	}
	t := child.trigger()
	c.change(parent, alarm.Condition{State: state, Reason: alarm.CompositeReason(t), ReasonData: alarm.CompositeReasonData(t), At: now}, now)
}

// ruled returns what the rule evaluates to.
func (r *record) ruled() alarm.State {
	if r.rule.Eval(r.tenant.state) {
		return alarm.Alarm
	}
	return alarm.OK
}

// setUp evaluates a composite alarm that was just "created" or "updated".
func (c *CloudWatch) setUp(r *record, what string, now time.Time) {
	if r.cyclic {
		return
	}
	state := r.ruled()
	if state == r.state.State {
		return
	}
	var triggers []alarm.Trigger
	for _, child := range r.rule.Children() {
		if x := r.tenant.alarms[child.Name]; x != nil {
			triggers = append(triggers, x.trigger())
		}
	}
	slices.SortStableFunc(triggers, func(a, b alarm.Trigger) int { return b.At.Compare(a.At) })
	c.change(r, alarm.Condition{State: state, Reason: alarm.CompositeSetupReason(r.ARN, what, state), ReasonData: alarm.CompositeReasonData(triggers...), At: now}, now)
}

// findCycles marks the composite alarms that depend on themselves. AWS stops to
// evaluate them until one of their rules is set to FALSE.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
func (t *tenant) findCycles() {
	for _, r := range t.composites() {
		r.cyclic = t.reaches(r, r, map[*record]bool{})
	}
}

func (t *tenant) reaches(from, goal *record, seen map[*record]bool) bool {
	if from == nil || from.rule == nil || seen[from] {
		return false
	}
	seen[from] = true
	for _, child := range from.rule.Children() {
		x := t.alarms[child.Name]
		if x == goal || t.reaches(x, goal, seen) {
			return true
		}
	}
	return false
}

// hold shows that the actions of the present state are held back, and arranges
// the end of the period that does so.
func (c *CloudWatch) hold(r *record) {
	r.state.SuppressedBy = r.suppression.By()
	r.state.SuppressedReason = ""
	if by := r.suppression.By(); by != alarm.NotSuppressed {
		r.state.SuppressedReason = "Actions suppressed by " + string(by)
	}
	if at, ok := r.suppression.Deadline(); ok {
		c.appoint(r, at)
	} else {
		c.dismiss(r)
	}
}

// suppressorChanged tells a composite alarm about its suppressor.
func (c *CloudWatch) suppressorChanged(r *record, inAlarm bool, now time.Time) {
	c.release(r, r.suppression.Suppressor(now, inAlarm), now)
}

// suppressionEnds ends a wait or extension period.
func (c *CloudWatch) suppressionEnds(r *record, now time.Time) {
	c.release(r, r.suppression.Expire(now), now)
}

// release runs the actions that were held back, if that is over. The event about
// it has the same value before and after.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
func (c *CloudWatch) release(r *record, state alarm.State, now time.Time) {
	if state == alarm.Retain {
		c.hold(r)
		return
	}
	old := r.state
	c.hold(r)
	r.state.At = now
	c.act(r, old)
}
