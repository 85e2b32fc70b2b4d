package alarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	eventSource     = "aws.cloudwatch"
	eventDetailType = "CloudWatch Alarm State Change"

	// maxEvent is above every limit of Lambda and EventBridge for events.
	maxEvent = 1 << 20
)

// Delivery is the way on which an alarm event came.
type Delivery string

// Ways of delivery.
const (
	ByLambda      Delivery = "lambda"      // action of the alarm
	ByEventBridge Delivery = "eventbridge" // rule on alarm state changes
)

// Event is a change of an alarm's state as an action or EventBridge reports it.
// It is a hint: events are delivered late, twice or out of order.
type Event struct {
	Delivery  Delivery
	Alarm     Identity
	Composite bool
	New, Old  Condition
	Metrics   []Query   // what a metric alarm watches
	Rule      string    // of a composite alarm
	Triggers  []Trigger // children that changed a composite alarm; not all that are in ALARM
}

// Key identifies the change of state: repeated deliveries on any way have the same.
func (e *Event) Key() string { return e.Alarm.ARN + "|" + e.New.At.UTC().Format(TimeFormat) }

// ToAlarm reports whether the alarm is in ALARM now.
func (e *Event) ToAlarm() bool { return e.New.State == Alarm }

// First reports whether this is the first evaluation of a new alarm, which says
// nothing about a change of what it watches.
func (e *Event) First() bool {
	return e.Old.State == InsufficientData && strings.HasPrefix(e.Old.Reason, CreationReason)
}

// Dimensions returns the dimensions of all metrics that the alarm watches by name.
// A name with two different values is left out.
func (e *Event) Dimensions() map[string]string {
	out := map[string]string{}
	ambiguous := map[string]bool{}
	for _, q := range e.Metrics {
		if q.Stat == nil {
			continue
		}
		for k, v := range q.Stat.Metric.Dimensions {
			if old, ok := out[k]; ok && old != v {
				ambiguous[k] = true
			}
			out[k] = v
		}
	}
	for k := range ambiguous {
		delete(out, k)
	}
	return out
}

// ParseEvent reads the payload of a Lambda action of a metric or composite alarm,
// or an EventBridge event about an alarm's change of state. Everything else, and
// an event whose ARN, account, Region and name contradict each other, is refused.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html
func ParseEvent(payload []byte) (Event, error) {
	e, err := parseEvent(payload)
	if err != nil {
		return Event{}, fmt.Errorf("alarm event: %w", err)
	}
	return e, nil
}

func parseEvent(payload []byte) (e Event, err error) {
	if len(payload) > maxEvent {
		return e, fmt.Errorf("%d bytes, at most %d are read", len(payload), maxEvent)
	}
	var raw struct {
		lambdaJSON
		DetailType string      `json:"detail-type"`
		Owner      string      `json:"account"`
		Resources  []string    `json:"resources"`
		Detail     *detailJSON `json:"detail"`
	}
	if err := json.Unmarshal(payload, &raw); err != nil {
		return e, fmt.Errorf("no JSON object of the expected shape: %w", err)
	}
	if raw.Source != eventSource {
		return e, fmt.Errorf("source is %q, want %q", raw.Source, eventSource)
	}
	var d *detailJSON
	switch {
	case raw.Data != nil && raw.Detail == nil:
		d = raw.Data
		e.Delivery = ByLambda
		e.Alarm = Identity{d.Name, raw.ARN, raw.Account, raw.Region}
	case raw.Detail == nil || raw.Data != nil:
		return e, errors.New("want either alarmData (Lambda action) or detail (EventBridge)")
	case raw.DetailType != eventDetailType:
		return e, fmt.Errorf("detail-type is %q, want %q", raw.DetailType, eventDetailType)
	case len(raw.Resources) != 1:
		return e, fmt.Errorf("%d resources, want the alarm's ARN alone", len(raw.Resources))
	default:
		d = raw.Detail
		e.Delivery = ByEventBridge
		e.Alarm = Identity{d.Name, raw.Resources[0], raw.Owner, raw.Region}
	}
	if err := e.Alarm.check(); err != nil {
		return e, err
	}
	if e.New, err = d.State.condition("state"); err != nil {
		return e, err
	}
	if e.Old, err = d.Previous.condition("previousState"); err != nil {
		return e, err
	}
	e.Metrics, e.Rule = d.Configuration.Metrics, d.Configuration.Rule
	e.Composite = e.Rule != ""
	if e.Composite && e.New.ReasonData != "" {
		e.Triggers, err = parseTriggers(e.New.ReasonData)
	}
	return e, err
}

func (i Identity) check() error {
	ref := ParseReference(i.ARN)
	if ref.Account == "" || ref.Name == "" {
		return fmt.Errorf("%q is no ARN of an alarm", i.ARN)
	}
	if ref.Account != i.Account || ref.Region != i.Region || ref.Name != i.Name {
		return fmt.Errorf("ARN %s contradicts account %q, Region %q or name %q", i.ARN, i.Account, i.Region, i.Name)
	}
	return nil
}

func (c *conditionJSON) condition(member string) (Condition, error) {
	switch {
	case c == nil:
		return Condition{}, fmt.Errorf("%s is missing", member)
	case !c.Value.Valid():
		return Condition{}, fmt.Errorf("%s has the value %q, want OK, ALARM or INSUFFICIENT_DATA", member, c.Value)
	}
	at, err := parseTime(c.Timestamp)
	if err != nil {
		return Condition{}, fmt.Errorf("%s: %w", member, err)
	}
	return Condition{c.Value, c.Reason, c.ReasonData, at, c.SuppressedBy, c.SuppressedReason}, nil
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(TimeFormat, s)
	if err != nil {
		if t, err = time.Parse(time.RFC3339, s); err != nil {
			return t, fmt.Errorf("timestamp %q is not in the form %s", s, TimeFormat)
		}
	}
	return t.UTC(), nil
}

// parseTriggers reads the reason data of a composite alarm. What a caller of
// SetAlarmState wrote instead is not an error: it names no triggers.
func parseTriggers(data string) ([]Trigger, error) {
	var d triggersJSON
	if json.Unmarshal([]byte(data), &d) != nil {
		return nil, nil //nolint:nilerr // see above
	}
	var out []Trigger
	for _, x := range d.Alarms {
		at, err := parseTime(x.State.Timestamp)
		if err != nil {
			return nil, fmt.Errorf("triggering alarm %s: %w", x.ARN, err)
		}
		out = append(out, Trigger{x.ARN, x.State.Value, at})
	}
	return out, nil
}
