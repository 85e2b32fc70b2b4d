package alarm

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Datum is one published value of a metric. Its times count from a full day
// (UTC), so that periods lie as they do in CloudWatch.
type Datum struct {
	At    time.Duration // time stamp
	Seen  time.Duration // from when on an evaluation finds it
	Value float64
}

// day0 is where the times of data and evaluations count from.
var day0 = time.Unix(0, 0).UTC()

// Watch evaluates an alarm over given data, as CloudWatch does over what was
// published. It keeps buffers: one Watch serves one goroutine.
type Watch struct {
	Definition Definition
	Schedule   Schedule

	criteria Criteria
	queries  []watched
	root     int
	metrics  int

	cells  []Aggregate
	slots  []Slot
	values []Series // of the metrics, in order
}

// watched is a compiled query.
type watched struct {
	Query
	metric     int // index of the metric's data, -1 for expressions
	statistic  Statistic
	expression *Expression
}

// NewWatch compiles an alarm with the default schedule.
func NewWatch(d Definition) (*Watch, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	w := &Watch{Definition: d, Schedule: NewSchedule(d.Period(), d.N, d.OnExpression())}
	w.criteria = Criteria{Period: d.Period(), N: d.N, M: d.M, Comparison: d.Comparison, Threshold: d.Threshold, Treatment: d.Treatment}
	for i, q := range d.Queries {
		x := watched{Query: q, metric: -1}
		var err error
		if q.Stat != nil {
			x.metric = w.metrics
			w.metrics++
			x.statistic, err = ParseStatistic(q.Stat.Stat)
		} else {
			x.expression, err = ParseExpression(q.Expression)
		}
		if err != nil {
			return nil, fmt.Errorf("alarm %s: %w", d.Name, err)
		}
		if q.ReturnData {
			w.root = i
		}
		w.queries = append(w.queries, x)
	}
	if err := w.resolves(w.root, nil); err != nil {
		return nil, fmt.Errorf("alarm %s: %w", d.Name, err)
	}
	w.values = make([]Series, w.metrics)
	if err := w.read(0, make([][]Datum, w.metrics)); err != nil { // the kind of a value does not depend on data
		return nil, fmt.Errorf("alarm %s: %w", d.Name, err)
	}
	return w, nil
}

// resolves refuses references to nothing and to themselves.
func (w *Watch) resolves(i int, path []int) error {
	for _, p := range path {
		if p == i {
			return fmt.Errorf("expression %s refers to itself", w.queries[i].ID)
		}
	}
	if w.queries[i].expression == nil {
		return nil
	}
	for _, id := range w.queries[i].expression.References() {
		j := w.find(id)
		if j < 0 {
			return fmt.Errorf("expression %s refers to %s, which is not among the queries", w.queries[i].ID, id)
		}
		if err := w.resolves(j, append(path[:len(path):len(path)], i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *Watch) find(id string) int {
	for i := range w.queries {
		if w.queries[i].ID == id {
			return i
		}
	}
	return -1
}

// State decides the state at an evaluation: Retain if the alarm keeps the one
// that it has. data holds the values of each of the definition's metrics, in
// order of their time stamps.
func (w *Watch) State(at time.Duration, data [][]Datum) State {
	if err := w.read(at, data); err != nil {
		return Retain // CloudWatch does not evaluate what does not fit together
	}
	c := &w.criteria
	state, _ := Decide(w.slots, c.N, c.M, c.Treatment)
	return state
}

// FirstAlarm returns the first evaluation after from, and not after until, that
// gives ALARM.
func (w *Watch) FirstAlarm(data [][]Datum, from, until time.Duration) (at time.Duration, found bool) {
	step := w.Schedule.Step()
	for at = w.Schedule.Next(day0.Add(from)).Sub(day0); at <= until; at += step {
		if w.State(at, data) == Alarm {
			return at, true
		}
	}
	return 0, false
}

// Sees returns which time stamps [start, end) an evaluation looks at.
func (w *Watch) Sees(at time.Duration) (start, end time.Duration) {
	start = w.Schedule.Start(day0.Add(at)).Sub(day0)
	return start, start + time.Duration(w.Schedule.Range)*w.Schedule.Period
}

// read fills slots with the evaluation range, oldest first.
func (w *Watch) read(at time.Duration, data [][]Datum) error {
	s := &w.Schedule
	grid := Grid{Start: s.Start(day0.Add(at)), Period: s.Period, N: s.Range}
	start := grid.Start.Sub(day0)
	w.slots = w.slots[:0]
	if q := &w.queries[w.root]; q.expression == nil {
		w.collect(q, data[q.metric], at, start)
		for i := range w.cells {
			w.slots = append(w.slots, w.criteria.Slot(Point{Value: q.value(&w.cells[i])}))
		}
		return nil
	}
	for i := range w.queries {
		if q := &w.queries[i]; q.expression == nil {
			w.collect(q, data[q.metric], at, start)
			values := w.values[q.metric].Values[:0]
			for j := range w.cells {
				values = append(values, q.value(&w.cells[j]))
			}
			w.values[q.metric] = Series{Label: q.Label, Values: values}
		}
	}
	v, err := w.value(w.root, grid)
	if err != nil {
		return err
	}
	series, ok := v.Single()
	if !ok {
		return fmt.Errorf("expression %q must give one time series", w.queries[w.root].Expression)
	}
	for _, f := range series.Values {
		w.slots = append(w.slots, w.criteria.Slot(Point{Value: f}))
	}
	return nil
}

// value is the statistic of one period, NaN if there is no datapoint.
func (q *watched) value(a *Aggregate) float64 {
	if v, ok := q.statistic.Value(a); ok {
		return v
	}
	return math.NaN()
}

// collect sums up what the evaluation sees in each period from start on.
func (w *Watch) collect(q *watched, data []Datum, at, start time.Duration) {
	n, period := w.Schedule.Range, w.Schedule.Period
	if cap(w.cells) < n {
		w.cells = make([]Aggregate, n)
	}
	w.cells = w.cells[:n]
	clear(w.cells)
	end := start + time.Duration(n)*period
	for i := len(data) - 1; i >= 0 && data[i].At >= start; i-- {
		if data[i].At >= end || data[i].Seen > at {
			continue
		}
		v := data[i].Value
		cell := &w.cells[(data[i].At-start)/period]
		if q.statistic.NeedsSamples() {
			cell.Add(v, 1)
		} else {
			cell.MergeSummary(&Aggregate{Count: 1, Sum: v, Min: v, Max: v})
		}
	}
}

func (w *Watch) value(i int, grid Grid) (Value, error) {
	q := &w.queries[i]
	if q.expression == nil {
		return SeriesValue(w.values[q.metric]), nil
	}
	return q.expression.Eval(&Scope{
		Grid:   grid,
		Lookup: func(id string) (Value, error) { return w.value(w.find(id), grid) },
		Metrics: func(containing string) (out []Series) {
			for j := range w.queries {
				if x := &w.queries[j]; x.expression == nil && strings.Contains(x.ID, containing) {
					out = append(out, w.values[x.metric])
				}
			}
			return out
		},
	})
}
