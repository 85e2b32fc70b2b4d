package cloudwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// record is a metric alarm or a composite alarm.
type record struct {
	alarm.Identity
	tenant       *tenant
	settings     settings
	state        alarm.Condition
	transitioned time.Time
	tags         map[string]string

	// A metric alarm has these. Neither they nor their slices change: an update
	// replaces them.
	metric *types.MetricAlarm // without state
	plan   *plan

	// A composite alarm has these.
	composite   *types.CompositeAlarm // without state
	rule        *alarm.Rule
	cyclic      bool // depends on itself: not evaluated
	suppressor  string
	suppression alarm.Suppression

	due   time.Time // next evaluation or end of a suppression period
	place int       // in the agenda, -1 if not there
}

// settings are what both kinds of alarms have.
type settings struct {
	description    *string
	enabled        bool
	onAlarm        []string
	onOK           []string
	onInsufficient []string
	updated        time.Time
}

// actions returns the actions of a state.
func (s *settings) actions(state alarm.State) []string {
	switch state {
	case alarm.Alarm:
		return s.onAlarm
	case alarm.OK:
		return s.onOK
	}
	return s.onInsufficient
}

func (r *record) kind() types.AlarmType {
	if r.metric != nil {
		return types.AlarmTypeMetricAlarm
	}
	return types.AlarmTypeCompositeAlarm
}

// trigger names the alarm as the cause of a composite alarm's state.
func (r *record) trigger() alarm.Trigger {
	return alarm.Trigger{ARN: r.ARN, State: r.state.State, At: r.state.At}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// describeMetric returns a metric alarm as DescribeAlarms shows it.
func (r *record) describeMetric() types.MetricAlarm {
	a := *r.metric
	a.AlarmName, a.AlarmArn, a.AlarmDescription = aws.String(r.Name), aws.String(r.ARN), r.settings.description
	a.ActionsEnabled = aws.Bool(r.settings.enabled)
	a.AlarmActions, a.OKActions, a.InsufficientDataActions = r.settings.onAlarm, r.settings.onOK, r.settings.onInsufficient
	a.AlarmConfigurationUpdatedTimestamp = aws.Time(r.settings.updated)
	a.StateValue, a.StateReason, a.StateReasonData = types.StateValue(r.state.State), aws.String(r.state.Reason), optional(r.state.ReasonData)
	a.StateUpdatedTimestamp, a.StateTransitionedTimestamp = aws.Time(r.state.At), aws.Time(r.transitioned)
	return a
}

// describeComposite returns a composite alarm as DescribeAlarms shows it.
func (r *record) describeComposite() types.CompositeAlarm {
	a := *r.composite
	a.AlarmName, a.AlarmArn, a.AlarmDescription = aws.String(r.Name), aws.String(r.ARN), r.settings.description
	a.ActionsEnabled = aws.Bool(r.settings.enabled)
	a.AlarmActions, a.OKActions, a.InsufficientDataActions = r.settings.onAlarm, r.settings.onOK, r.settings.onInsufficient
	a.AlarmConfigurationUpdatedTimestamp = aws.Time(r.settings.updated)
	a.StateValue, a.StateReason, a.StateReasonData = types.StateValue(r.state.State), aws.String(r.state.Reason), optional(r.state.ReasonData)
	a.StateUpdatedTimestamp, a.StateTransitionedTimestamp = aws.Time(r.state.At), aws.Time(r.transitioned)
	a.ActionsSuppressedBy = types.ActionsSuppressedBy(r.state.SuppressedBy)
	a.ActionsSuppressedReason = optional(r.state.SuppressedReason)
	return a
}

// sorted returns all alarms in order of name.
func (t *tenant) sorted() []*record {
	var out []*record
	for _, name := range slices.Sorted(maps.Keys(t.alarms)) {
		out = append(out, t.alarms[name])
	}
	return out
}

// composites returns the composite alarms in order of name.
func (t *tenant) composites() []*record {
	return slices.DeleteFunc(t.sorted(), func(r *record) bool { return r.composite == nil })
}

// state returns the state of the alarm with that name.
func (t *tenant) state(name string) alarm.State {
	if r := t.alarms[name]; r != nil {
		return r.state.State
	}
	return alarm.InsufficientData
}

// transition describes a change of state to events and notifications.
func (r *record) transition(old alarm.Condition) *alarm.Transition {
	t := &alarm.Transition{Alarm: r.Identity, Description: aws.ToString(r.settings.description), New: r.state, Old: old}
	if r.metric != nil {
		t.Metrics = r.plan.described
		return t
	}
	t.Rule, t.Suppressor = aws.ToString(r.composite.AlarmRule), aws.ToString(r.composite.ActionsSuppressor)
	t.Wait, t.Extension = r.suppression.Wait, r.suppression.Extension
	return t
}
