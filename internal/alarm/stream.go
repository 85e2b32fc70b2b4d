package alarm

import (
	"slices"
	"time"
)

// Stream is how a metric is published: on a fixed ticker, always the same value
// while all is well.
type Stream struct {
	Interval time.Duration
	Healthy  float64
}

// Effect is what a failure does to a stream, from the first tick after it on.
type Effect struct {
	Silent bool          // nothing is published any more
	Value  float64       // what is published instead of the healthy value
	Lag    time.Duration // from the tick to the time stamp, such as the time-out of a probe
}

// Publication is one run of a stream's ticker around a failure.
type Publication struct {
	From, Until time.Duration // ticks in [From, Until)
	Offset      time.Duration // of the first tick after From, below Interval
	Failure     time.Duration
	Effect      Effect
	// Ingest returns how long a datum stays invisible, and false if it is lost.
	// nil means that all are seen at once.
	Ingest func() (delay time.Duration, ok bool)
}

// Publish appends the data of a publication to out, in order of time.
func (s Stream) Publish(out []Datum, p Publication) []Datum {
	for tick := p.From + p.Offset; tick < p.Until; tick += s.Interval {
		d := Datum{At: tick, Value: s.Healthy}
		if tick >= p.Failure {
			if p.Effect.Silent {
				break
			}
			d.At, d.Value = tick+p.Effect.Lag, p.Effect.Value
		}
		d.Seen = d.At
		if p.Ingest != nil {
			delay, ok := p.Ingest()
			if !ok {
				continue
			}
			d.Seen += delay
		}
		out = append(out, d)
	}
	return out
}

// Impact is one metric of an alarm with what a failure does to it.
type Impact struct {
	Stream
	Effect
}

// Horizon returns how much data an alarm needs: so long before a failure, and
// so long after it until its state settles. An alarm that is not raised by then
// never is.
func (w *Watch) Horizon(impacts []Impact) (before, after time.Duration) {
	s := &w.Schedule
	before = time.Duration(s.Range+1)*s.Period + s.Step() + s.Cutoff
	after = before + 2*s.Step()
	for _, i := range impacts {
		after = max(after, before+2*s.Step()+i.Interval+i.Lag)
	}
	return before, after
}

// instant is the smallest time that tells before from after.
const instant = time.Millisecond

// worstTicks bounds the ticks of one pattern of ticks and periods; whoever
// publishes every 7 s repeats it after 60.
const worstTicks = 360

// Worst is what an alarm does about a failure over all phases, when every datum
// is seen at once.
type Worst struct {
	Longest time.Duration // from the failure to the alarm, where it is raised
	Always  bool          // it is raised whatever the phases
	Ever    bool          // there are phases in which it is raised
}

// Worst looks at all phases of a failure, of the tickers and of the evaluations.
// There is an impact for each of the definition's metrics; their tickers run in
// step.
//
// While the order of failure, ticks, periods and evaluations stays the same, the
// time changes linearly with each phase. So the longest time lies where that
// order changes, and only such phases are tried.
func (w *Watch) Worst(impacts []Impact) Worst {
	before, after := w.Horizon(impacts)
	step, phase := w.Schedule.Step(), w.Schedule.Phase
	defer func() { w.Schedule.Phase = phase }()
	out := Worst{Always: true}
	data := make([][]Datum, len(impacts))
	for _, offset := range w.offsets(impacts) {
		for _, failure := range w.failures(before, offset, impacts) {
			for i, m := range impacts {
				data[i] = m.Publish(data[i][:0], Publication{Until: failure + after, Offset: offset % m.Interval, Failure: failure, Effect: m.Effect})
			}
			for _, w.Schedule.Phase = range borders(step, 0, w.Schedule.Cutoff) {
				at, ok := w.FirstAlarm(data, failure, failure+after)
				if ok {
					out.Longest, out.Ever = max(out.Longest, at-failure), true
				}
				out.Always = out.Always && ok
			}
		}
	}
	return out
}

// offsets are the tickers' offsets at which a tick, or a datum, changes its
// period.
func (w *Watch) offsets(impacts []Impact) []time.Duration {
	var out []time.Duration
	for _, m := range impacts {
		cycle := lcm(m.Interval, w.Schedule.Period)
		for n, end := 0, time.Duration(0); n < worstTicks && end < cycle; n, end = n+1, end+w.Schedule.Period {
			out = append(out, borders(m.Interval, end, end-m.Lag)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// failures are the moments just after a tick: until the next one a later failure
// is seen at the same evaluation, and so sooner.
func (w *Watch) failures(before, offset time.Duration, impacts []Impact) []time.Duration {
	var out []time.Duration
	for _, m := range impacts {
		first := before - before%m.Interval + m.Interval + offset%m.Interval
		cycle := lcm(lcm(m.Interval, w.Schedule.Period), w.Schedule.Step())
		for n, tick := 0, first; n < worstTicks && tick < first+cycle; n, tick = n+1, tick+m.Interval {
			out = append(out, tick+instant)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// borders are the given points within [0, cycle), and the instants beside them.
func borders(cycle time.Duration, points ...time.Duration) []time.Duration {
	var out []time.Duration
	for _, p := range points {
		for _, at := range []time.Duration{p - instant, p, p + instant} {
			out = append(out, (at%cycle+cycle)%cycle)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lcm is the least common multiple: after it two cycles repeat together.
func lcm(a, b time.Duration) time.Duration {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return time.Duration(int64(a/x) * int64(b))
}
