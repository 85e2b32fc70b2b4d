package detection

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// Assumptions are what AWS does not publish about the evaluation of alarms.
type Assumptions struct {
	// ExpressionCutoff is how long ago a period must have ended before an alarm
	// on an expression uses it. Captures showed none; the model assumes the one
	// of alarms on metrics, which never promises an alarm too early.
	ExpressionCutoff time.Duration
	// ExtraPeriods is how many periods beyond N an evaluation looks at; negative
	// means alarm.DefaultRange.
	ExtraPeriods int
}

// DefaultAssumptions promise no alarm too early.
func DefaultAssumptions() Assumptions {
	return Assumptions{ExpressionCutoff: alarm.DefaultCutoff, ExtraPeriods: -1}
}

// Alarm is a metric alarm as a detector.
type Alarm struct {
	Definition alarm.Definition

	assumed Assumptions
	reads   []*Signal // of the definition's metrics, in order
	worst   map[Failure]alarm.Worst
	calm    bool // not raised while everything arrives in time
}

// NewAlarm returns the detector that a metric alarm on known signals is.
func NewAlarm(d alarm.Definition, s *Signals, assumed Assumptions) (*Alarm, error) {
	a := &Alarm{Definition: d, assumed: assumed, worst: map[Failure]alarm.Worst{}}
	for _, m := range d.Metrics() {
		signal := s.Find(m)
		if signal == nil {
			return nil, fmt.Errorf("alarm %s: the model does not know the metric %s of %s", d.Name, m.Name, m.Namespace)
		}
		if signal.Stream.Interval <= 0 {
			return nil, fmt.Errorf("alarm %s: the metric %s must be published at an interval above 0, not every %s", d.Name, m.Name, signal.Stream.Interval)
		}
		a.reads = append(a.reads, signal)
	}
	w, err := a.watch()
	if err != nil {
		return nil, err
	}
	well := make([]alarm.Impact, len(a.reads))
	for i, s := range a.reads {
		well[i] = alarm.Impact{Stream: s.Stream, Effect: alarm.Effect{Value: s.Stream.Healthy}}
	}
	a.calm = !w.Worst(well).Ever
	for _, f := range Failures {
		a.worst[f] = w.Worst(a.impacts(f))
	}
	return a, nil
}

func (a *Alarm) watch() (*alarm.Watch, error) {
	w, err := alarm.NewWatch(a.Definition)
	if err != nil {
		return nil, err
	}
	if a.Definition.OnExpression() {
		w.Schedule.Cutoff = a.assumed.ExpressionCutoff
	}
	if a.assumed.ExtraPeriods >= 0 {
		w.Schedule.Range = w.Schedule.N + a.assumed.ExtraPeriods
	}
	return w, nil
}

func (a *Alarm) impacts(f Failure) []alarm.Impact {
	out := make([]alarm.Impact, len(a.reads))
	for i, s := range a.reads {
		out[i] = s.impact(f)
	}
	return out
}

// hold is how much later than stamped the alarm's data may come.
func (a *Alarm) hold() time.Duration {
	longest := time.Duration(0)
	for _, s := range a.reads {
		longest = max(longest, s.Hold)
	}
	return longest
}

// Name implements Detector.
func (a *Alarm) Name() string { return a.Definition.Name }

// Key implements Detector.
func (a *Alarm) Key() string {
	b, err := json.Marshal(struct {
		Definition alarm.Definition
		Assumed    Assumptions
		Signals    []*Signal
	}{a.Definition, a.assumed, a.reads})
	if err != nil { // a number that JSON does not have, such as a threshold of infinity
		return fmt.Sprintf("%+v", a)
	}
	return string(b)
}

// Worst implements Detector.
func (a *Alarm) Worst(f Failure) time.Duration {
	if w := a.worst[f]; w.Always {
		return w.Longest + a.hold()
	}
	return Never
}

// steady reports whether the alarm can't be raised while the primary is well,
// whatever is late or lost: each value looks good, and their number and absence
// do not matter.
func (a *Alarm) steady() bool {
	d := a.Definition
	if len(d.Queries) != 1 || d.Treatment == alarm.TreatBreaching {
		return false
	}
	switch d.Queries[0].Stat.Stat {
	case "Average", "Minimum", "Maximum":
		return !d.Comparison.Breaches(a.reads[0].Stream.Healthy, d.Threshold)
	}
	return false
}

// Notes implements Detector.
func (a *Alarm) Notes() []string {
	var out []string
	for _, s := range a.reads {
		if s.Note != "" {
			out = append(out, s.Note)
		}
		if s.Coarse && a.Definition.Period() < time.Minute {
			out = append(out, fmt.Sprintf("%s is published with standard resolution, which CloudWatch keeps by the minute: an alarm with a period of %s on it needs StorageResolution 1",
				s.Name, a.Definition.Period()))
		}
	}
	return out
}

func (a *Alarm) signals() []*Signal { return a.reads }

func (a *Alarm) horizon(f Failure) (before, after time.Duration) {
	w, err := a.watch()
	if err != nil {
		return 0, 0
	}
	before, after = w.Horizon(a.impacts(f))
	return before, after + a.hold() + w.Schedule.Period
}

func (a *Alarm) watcher(r *rand.Rand) watcher {
	w, err := a.watch()
	if err != nil {
		return blind{}
	}
	return &alarmWatcher{alarm: a, watch: w, r: r, data: make([][]alarm.Datum, len(a.reads))}
}

// blind sees nothing.
type blind struct{}

func (blind) sees(*trial) time.Duration { return Never }
func (blind) suspects(*stretch) []span  { return nil }

// alarmWatcher evaluates the alarm.
type alarmWatcher struct {
	alarm *Alarm
	watch *alarm.Watch
	r     *rand.Rand
	data  [][]alarm.Datum
}

func (w *alarmWatcher) sees(t *trial) time.Duration {
	if !w.alarm.worst[t.failure].Ever {
		return Never
	}
	s := &w.watch.Schedule
	s.Phase = uniform(w.r, s.Step())
	after := t.published[w.alarm.reads[0]].after
	for i, signal := range w.alarm.reads {
		w.data[i] = t.data(signal)
		after = min(after, t.published[signal].after)
	}
	at, ok := w.watch.FirstAlarm(w.data, t.at, t.at+after)
	if !ok {
		return Never
	}
	return at - t.at
}

// suspects evaluates the alarm all the time, but for evaluations that see
// everything in time: of these the answer is known.
func (w *alarmWatcher) suspects(d *stretch) []span {
	if w.alarm.steady() {
		return nil
	}
	s := &w.watch.Schedule
	s.Phase = uniform(w.r, s.Step())
	var out []span
	raised := false
	for at := d.from + s.Phase; at < d.to; at += s.Step() {
		start, end := w.watch.Sees(at)
		inTime := w.alarm.calm
		for i, signal := range w.alarm.reads {
			w.data[i] = d.window(signal, start, end)
			inTime = inTime && complete(w.data[i], start, end, at, signal.Stream.Interval)
		}
		state := alarm.OK
		if !inTime {
			state = w.watch.State(at, w.data)
		}
		switch {
		case state == alarm.Retain:
		case state == alarm.Alarm && !raised:
			raised = true
			out = append(out, span{at, d.to})
		case state != alarm.Alarm && raised:
			raised = false
			out[len(out)-1].to = at
		}
	}
	return out
}

// complete reports whether every tick of [start, end) is there and seen.
func complete(data []alarm.Datum, start, end, at, interval time.Duration) bool {
	expected := start
	for _, x := range data {
		if x.At-expected >= interval || x.Seen > at {
			return false
		}
		expected = x.At + interval
	}
	return end <= expected
}
