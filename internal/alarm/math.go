package alarm

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Grid is the time axis of metric math: N periods from Start.
type Grid struct {
	Start  time.Time
	Period time.Duration
	N      int
}

// At returns the start of period i.
func (g Grid) At(i int) time.Time { return g.Start.Add(time.Duration(i) * g.Period) }

// Series is one value per period of a grid. NaN is a missing datapoint.
type Series struct {
	Label  string
	Values []float64
}

// Value is the result of an expression: a number, one time series, or an array of
// time series.
type Value struct {
	kind   valueKind
	number float64
	series []Series
}

type valueKind uint8

const (
	scalarValue valueKind = iota
	seriesValue
	arrayValue
)

func (k valueKind) String() string {
	return [...]string{"a number", "a time series", "an array of time series"}[k]
}

// Scalar returns a number as a value.
func Scalar(f float64) Value { return Value{number: f} }

// SeriesValue returns a time series as a value.
func SeriesValue(s Series) Value { return Value{kind: seriesValue, series: []Series{s}} }

// Series returns the time series of a value; a number has none.
func (v Value) Series() []Series { return v.series }

// IsNumber reports whether the value is a number instead of time series.
func (v Value) IsNumber() bool { return v.kind == scalarValue }

// Single returns the one time series that an alarm can watch; a number or an
// array of time series is none.
func (v Value) Single() (Series, bool) {
	if v.kind != seriesValue {
		return Series{}, false
	}
	return v.series[0], true
}

// Scope gives an expression its data.
type Scope struct {
	Grid Grid
	// Lookup returns the metric or the result of the expression with that id.
	Lookup func(id string) (Value, error)
	// Metrics returns the metrics (not the expressions) whose ids contain the
	// text, for METRICS().
	Metrics func(containing string) []Series
}

// Expression is a parsed metric math expression.
type Expression struct {
	text string
	root mathNode
	refs []string
	all  bool
}

// MaxExpressionLength is the documented limit.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html
const MaxExpressionLength = 2048

// String returns the text of the expression.
func (e *Expression) String() string { return e.text }

// References returns the ids that the expression uses, each once.
func (e *Expression) References() []string { return e.refs }

// UsesAllMetrics reports whether the expression calls METRICS.
func (e *Expression) UsesAllMetrics() bool { return e.all }

// Eval computes the expression. A missing operand makes a missing result, and so
// does a division by zero.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
func (e *Expression) Eval(scope *Scope) (Value, error) {
	v, err := e.root.eval(scope)
	if err != nil {
		return Value{}, fmt.Errorf("expression %q: %w", e.text, err)
	}
	return v, nil
}

type mathNode interface {
	eval(*Scope) (Value, error)
}

type (
	mathNumber float64
	mathText   string
	mathRef    string
	mathArray  []mathNode
	mathCall   struct {
		name string
		fn   mathFunction
		args []mathNode
	}
	mathBinary struct {
		op          func(a, b float64) float64
		left, right mathNode
	}
	mathNegate struct{ of mathNode }
)

func (n mathNumber) eval(*Scope) (Value, error) { return Scalar(float64(n)), nil }

func (n mathText) eval(*Scope) (Value, error) {
	return Value{}, fmt.Errorf("text %q is no number", string(n))
}

func (n mathRef) eval(s *Scope) (Value, error) { return s.Lookup(string(n)) }

func (n mathArray) eval(s *Scope) (Value, error) {
	out := Value{kind: arrayValue}
	for _, x := range n {
		v, err := x.eval(s)
		if err != nil {
			return Value{}, err
		}
		if v.kind == scalarValue {
			return Value{}, fmt.Errorf("an array holds time series, not numbers")
		}
		out.series = append(out.series, v.series...)
	}
	return out, nil
}

func (n mathCall) eval(s *Scope) (Value, error) {
	v, err := n.fn.call(s, n.args)
	if err != nil {
		return Value{}, fmt.Errorf("%s: %w", n.name, err)
	}
	return v, nil
}

func (n mathNegate) eval(s *Scope) (Value, error) {
	v, err := n.of.eval(s)
	if err != nil {
		return Value{}, err
	}
	return v.apply(func(f float64) float64 { return -f }), nil
}

func (n mathBinary) eval(s *Scope) (Value, error) {
	l, err := n.left.eval(s)
	if err != nil {
		return Value{}, err
	}
	r, err := n.right.eval(s)
	if err != nil {
		return Value{}, err
	}
	return combine(l, r, n.op)
}

// apply computes f for every datapoint that is there.
func (v Value) apply(f func(float64) float64) Value {
	if v.kind == scalarValue {
		return Scalar(finite(f(v.number)))
	}
	out := Value{kind: v.kind, series: make([]Series, len(v.series))}
	for i, s := range v.series {
		out.series[i] = s.like()
		for j, x := range s.Values {
			out.series[i].Values[j] = finite(f(x))
		}
	}
	return out
}

// like returns a series of the same label and length.
func (s Series) like() Series {
	return Series{Label: s.Label, Values: make([]float64, len(s.Values))}
}

// finite turns what is no number into a missing datapoint.
func finite(f float64) float64 {
	if math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// combine applies a binary operator point by point. An array combines with a
// number, with one time series, or with an array of the same length.
func combine(l, r Value, op func(a, b float64) float64) (Value, error) {
	guarded := func(a, b float64) float64 {
		if math.IsNaN(a) || math.IsNaN(b) {
			return math.NaN()
		}
		return op(a, b)
	}
	switch {
	case r.kind == scalarValue:
		return l.apply(func(a float64) float64 { return guarded(a, r.number) }), nil
	case l.kind == scalarValue:
		return r.apply(func(b float64) float64 { return guarded(l.number, b) }), nil
	case l.kind == arrayValue && r.kind == arrayValue && len(l.series) != len(r.series):
		return Value{}, fmt.Errorf("arrays of %d and %d time series do not match", len(l.series), len(r.series))
	}
	out := Value{kind: max(l.kind, r.kind)}
	n := len(l.series)
	if l.kind == seriesValue {
		n = len(r.series)
	}
	for i := range n {
		a, b := l.at(i), r.at(i)
		s := a.like()
		if l.kind == seriesValue && r.kind == arrayValue {
			s.Label = b.Label
		}
		for j := range s.Values {
			s.Values[j] = finite(guarded(a.Values[j], b.Values[j]))
		}
		out.series = append(out.series, s)
	}
	return out, nil
}

// at returns series i of an array, or the only one of a time series.
func (v Value) at(i int) Series {
	if v.kind == seriesValue {
		return v.series[0]
	}
	return v.series[i]
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// binaryOperators by level, loosest first. All associate to the left, except ^.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#using-IF-expressions
var binaryOperators = [][]struct {
	text string
	op   func(a, b float64) float64
}{
	{{"||", or}, {"OR", or}},
	{{"&&", and}, {"AND", and}},
	{
		{"==", func(a, b float64) float64 { return truth(a == b) }},
		{"!=", func(a, b float64) float64 { return truth(a != b) }},
		{"<=", func(a, b float64) float64 { return truth(a <= b) }},
		{">=", func(a, b float64) float64 { return truth(a >= b) }},
		{"<", func(a, b float64) float64 { return truth(a < b) }},
		{">", func(a, b float64) float64 { return truth(a > b) }},
	},
	{{"+", func(a, b float64) float64 { return a + b }}, {"-", func(a, b float64) float64 { return a - b }}},
	{{"*", func(a, b float64) float64 { return a * b }}, {"/", func(a, b float64) float64 { return a / b }}},
}

func or(a, b float64) float64  { return truth(a != 0 || b != 0) }
func and(a, b float64) float64 { return truth(a != 0 && b != 0) }

// refused are functions of CloudWatch that need more than the metrics at hand.
var refused = strings.Fields("SEARCH ANOMALY_DETECTION_BAND INSIGHT_RULE_METRIC SERVICE_QUOTA DB_PERF_INSIGHTS LAMBDA")
