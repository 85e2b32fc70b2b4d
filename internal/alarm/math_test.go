package alarm

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var none = math.NaN()

// scope has m1 with gaps, m2, z of zeros, e that never had a datapoint and a
// number n.
func scope() *Scope {
	data := map[string][]float64{
		"m1": {1, none, 3, none, 9},
		"m2": {10, 20, none, 40, 50},
		"z":  {0, 0, 0, 0, 0},
		"e":  {none, none, none, none, none},
	}
	s := &Scope{Grid: Grid{Start: time.Unix(0, 0).UTC(), Period: time.Minute, N: 5}}
	s.Lookup = func(id string) (Value, error) {
		if id == "n" {
			return Scalar(7), nil
		}
		v, ok := data[id]
		if !ok {
			return Value{}, fmt.Errorf("no metric %s", id)
		}
		return SeriesValue(Series{Label: id, Values: v}), nil
	}
	s.Metrics = func(containing string) (out []Series) {
		for _, id := range []string{"m1", "m2"} {
			if strings.Contains(id, containing) {
				out = append(out, Series{Label: id, Values: data[id]})
			}
		}
		return out
	}
	return s
}

func TestMetricMath(t *testing.T) {
	for _, c := range []struct {
		expression string
		want       any // float64, []float64 or an error's text
	}{
		{"m1", []float64{1, none, 3, none, 9}},
		{"m1 + m2", []float64{11, none, none, none, 59}},
		{"m2 / z", []float64{none, none, none, none, none}},
		{"1 + 2 * 3 ^ 2 - 4 / 2", 17.0},
		{"2 ^ 3 ^ 2", 512.0},
		{"-2 ^ 2", -4.0},
		{"10 - 4 - 3", 3.0},
		{"(1 + 2) * -3", -9.0},
		{"1.5e1 + .5", 15.5},
		{"n * 2", 14.0},
		{"m1 > 2", []float64{0, none, 1, none, 1}},
		{"m1 >= 3 && m1 <= 3", []float64{0, none, 1, none, 0}},
		{"m1 == 1 OR m1 != 9 AND FALSE", []float64{1, none, 0, none, 0}},
		{"FILL(m1, 0)", []float64{1, 0, 3, 0, 9}},
		{"FILL(e, 0) < 2", []float64{1, 1, 1, 1, 1}},
		{"FILL(m1, REPEAT)", []float64{1, 1, 3, 3, 9}},
		{"FILL(m1, LINEAR)", []float64{1, 2, 3, 6, 9}},
		{"FILL(e, REPEAT)", []float64{none, none, none, none, none}},
		{"FILL(m1, m2)", []float64{1, 20, 3, 40, 9}},
		{"IF(m1 > 2, 100, 0)", []float64{0, none, 100, none, 100}},
		{"IF(m2 > 15, m2)", []float64{none, 20, none, 40, 50}},
		{"IF(n, m2, 0)", []float64{10, 20, none, 40, 50}},
		{"IF(1 > 2, 3, 4)", 4.0},
		{"ABS(m1 - 4)", []float64{3, none, 1, none, 5}},
		{"CEIL(m1 / 2)", []float64{1, none, 2, none, 5}},
		{"FLOOR(m1 / 2)", []float64{0, none, 1, none, 4}},
		{"SUM(m1)", 13.0},
		{"AVG(m2)", 30.0},
		{"MIN(m1)", 1.0},
		{"MAX(m1)", 9.0},
		{"STDDEV(z)", 0.0},
		{"SUM(METRICS())", []float64{11, 20, 3, 40, 59}},
		{"MAX([m1, m2])", []float64{10, 20, 3, 40, 50}},
		{`SUM(METRICS("m2"))`, []float64{10, 20, none, 40, 50}},
		{"METRIC_COUNT(METRICS())", 2.0},
		{"FIRST(METRICS())", []float64{1, none, 3, none, 9}},
		{"LAST(METRICS() * 2)", []float64{20, 40, none, 80, 100}},
		{"METRIC_COUNT(REMOVE_EMPTY([e, m1]))", 1.0},
		{"DIFF(m1)", []float64{none, none, 2, none, 6}},
		{"RATE(m1) * 120", []float64{none, none, 2, none, 6}},
		{"DIFF_TIME(m1)", []float64{none, none, 120, none, 120}},
		{"RUNNING_SUM(m1)", []float64{1, none, 4, none, 13}},
		{"m1 / PERIOD(m1) * 60", []float64{1, none, 3, none, 9}},
		{"TIME_SERIES(5)", []float64{5, 5, 5, 5, 5}},
		{"LOG10(m2 * 0 + 100)", []float64{2, 2, none, 2, 2}},
		{"", "incomplete"},
		{"m1 +", "incomplete"},
		{"(m1", `want ")"`},
		{"m1 m2", "unexpected text"},
		{"M1", "lower-case"},
		{"FILL(m1)", "takes 2 to 2 arguments"},
		{"FILL(m1, 'x')", "REPEAT or LINEAR"},
		{"FOO(m1)", "unknown function FOO"},
		{"SEARCH('x', 'Sum', 60)", "not supported"},
		{"missing + 1", "no metric missing"},
		{"PERIOD(1)", "want a time series"},
		{"[m1, 2]", "not numbers"},
		{"[m1, m2] + [m1]", "do not match"},
		{`"text"`, "no number"},
		{"'open", "unterminated"},
		{strings.Repeat("(", 200) + "1", "too deeply"},
		{strings.Repeat("1+", 1100) + "1", "at most 2048"},
	} {
		t.Run(c.expression, func(t *testing.T) {
			v, err := evaluate(c.expression)
			if want, ok := c.want.(string); ok {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got any = v.number
			if s := v.Series(); len(s) == 1 {
				got = s[0].Values
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func evaluate(expression string) (Value, error) {
	e, err := ParseExpression(expression)
	if err != nil {
		return Value{}, err
	}
	return e.Eval(scope())
}

func TestExpressionReferences(t *testing.T) {
	e, err := ParseExpression("IF(m1 > m2, m1, SUM(METRICS()))")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m1", "m2"}, e.References()); diff != "" || !e.UsesAllMetrics() {
		t.Errorf("uses METRICS: %t, references (-want +got):\n%s", e.UsesAllMetrics(), diff)
	}
}

func FuzzParseExpression(f *testing.F) {
	for _, s := range []string{"FILL(m1, 0) < 2", "IF(m1>3 AND m2, -m1^2, [m1,m2])", "SUM(METRICS('m'))", "1e+", "RATE(e)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := evaluate(s)
		if err != nil {
			return
		}
		for _, x := range v.Series() {
			if len(x.Values) != 5 {
				t.Fatalf("%d values of 5", len(x.Values))
			}
			for _, f := range x.Values {
				if math.IsInf(f, 0) {
					t.Fatal("infinite value")
				}
			}
		}
	})
}
