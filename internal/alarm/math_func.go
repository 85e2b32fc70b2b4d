package alarm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// mathFunction is a function of metric math with its number of arguments.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#metric-math-syntax-functions-list
type mathFunction struct {
	min, max int
	call     func(*Scope, []mathNode) (Value, error)
}

var mathFunctions map[string]mathFunction

func init() { // refers to itself through the nodes
	mathFunctions = map[string]mathFunction{
		"ABS":          pointwise(math.Abs),
		"CEIL":         pointwise(math.Ceil),
		"FLOOR":        pointwise(math.Floor),
		"LOG":          pointwise(math.Log),
		"LOG10":        pointwise(math.Log10),
		"AVG":          reduction(average),
		"SUM":          reduction(sum),
		"MIN":          reduction(slices.Min[[]float64]),
		"MAX":          reduction(slices.Max[[]float64]),
		"STDDEV":       reduction(deviation),
		"DIFF":         stepwise(func(d float64, _ time.Duration) float64 { return d }),
		"RATE":         stepwise(func(d float64, t time.Duration) float64 { return d / t.Seconds() }),
		"DIFF_TIME":    stepwise(func(_ float64, t time.Duration) float64 { return t.Seconds() }),
		"RUNNING_SUM":  {1, 1, runningSum},
		"PERIOD":       {1, 1, period},
		"TIME_SERIES":  {1, 1, timeSeries},
		"FILL":         {2, 2, fill},
		"IF":           {2, 3, conditional},
		"METRICS":      {0, 1, metrics},
		"METRIC_COUNT": {1, 1, metricCount},
		"FIRST":        {1, 1, pick(func([]Series) int { return 0 })},
		"LAST":         {1, 1, pick(func(s []Series) int { return len(s) - 1 })},
		"REMOVE_EMPTY": {1, 1, removeEmpty},
	}
}

func pointwise(f func(float64) float64) mathFunction {
	return mathFunction{1, 1, func(s *Scope, args []mathNode) (Value, error) {
		v, err := args[0].eval(s)
		if err != nil {
			return Value{}, err
		}
		return v.apply(f), nil
	}}
}

// reduction makes a number of a time series, and one time series of an array: at
// each time of the datapoints that are there.
func reduction(f func([]float64) float64) mathFunction {
	return mathFunction{1, 1, func(s *Scope, args []mathNode) (Value, error) {
		v, err := args[0].eval(s)
		switch {
		case err != nil:
			return Value{}, err
		case v.kind == scalarValue:
			return v, nil
		case v.kind == seriesValue:
			return Scalar(reduce(f, v.series[0].Values)), nil
		}
		out := s.empty()
		column := make([]float64, len(v.series))
		for i := range out.Values {
			for j, x := range v.series {
				column[j] = x.Values[i]
			}
			out.Values[i] = reduce(f, column)
		}
		return SeriesValue(out), nil
	}}
}

func reduce(f func([]float64) float64, values []float64) float64 {
	var there []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			there = append(there, v)
		}
	}
	if len(there) == 0 {
		return math.NaN()
	}
	return finite(f(there))
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

func average(v []float64) float64 { return sum(v) / float64(len(v)) }

func deviation(v []float64) float64 {
	mean, squares := average(v), 0.0
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(len(v)))
}

// empty returns a series without datapoints.
func (s *Scope) empty() Series {
	out := Series{Values: make([]float64, s.Grid.N)}
	for i := range out.Values {
		out.Values[i] = math.NaN()
	}
	return out
}

// needSeries evaluates an argument that must not be a number.
func needSeries(s *Scope, arg mathNode) (Value, error) {
	v, err := arg.eval(s)
	if err == nil && v.kind == scalarValue {
		err = errors.New("want a time series, not a number")
	}
	return v, err
}

// eachSeries computes a new series from each series of the argument.
func eachSeries(s *Scope, arg mathNode, f func(from, to []float64)) (Value, error) {
	v, err := needSeries(s, arg)
	if err != nil {
		return Value{}, err
	}
	out := Value{kind: v.kind}
	for _, x := range v.series {
		y := x.like()
		f(x.Values, y.Values)
		out.series = append(out.series, y)
	}
	return out, nil
}

// stepwise computes f of the difference and the time to the datapoint before.
func stepwise(f func(float64, time.Duration) float64) mathFunction {
	return mathFunction{1, 1, func(s *Scope, args []mathNode) (Value, error) {
		return eachSeries(s, args[0], func(from, to []float64) {
			last := -1
			for i, v := range from {
				to[i] = math.NaN()
				if math.IsNaN(v) {
					continue
				}
				if last >= 0 {
					to[i] = f(v-from[last], time.Duration(i-last)*s.Grid.Period)
				}
				last = i
			}
		})
	}}
}

func runningSum(s *Scope, args []mathNode) (Value, error) {
	return eachSeries(s, args[0], func(from, to []float64) {
		total := 0.0
		for i, v := range from {
			if to[i] = v; !math.IsNaN(v) {
				total += v
				to[i] = total
			}
		}
	})
}

func period(s *Scope, args []mathNode) (Value, error) {
	if _, err := needSeries(s, args[0]); err != nil {
		return Value{}, err
	}
	return Scalar(s.Grid.Period.Seconds()), nil
}

func timeSeries(s *Scope, args []mathNode) (Value, error) {
	v, err := args[0].eval(s)
	if err != nil {
		return Value{}, err
	}
	if v.kind != scalarValue {
		return Value{}, errors.New("want a number")
	}
	out := s.empty()
	for i := range out.Values {
		out.Values[i] = v.number
	}
	return SeriesValue(out), nil
}

// fill gives every period of the grid a value, also where a metric never had one.
func fill(s *Scope, args []mathNode) (Value, error) {
	if mode, ok := args[1].(mathText); ok {
		switch mode {
		case "REPEAT":
			return eachSeries(s, args[0], fillRepeat)
		case "LINEAR":
			return eachSeries(s, args[0], fillLinear)
		}
		return Value{}, fmt.Errorf("want a number, a time series, REPEAT or LINEAR, not %q", string(mode))
	}
	v, err := needSeries(s, args[0])
	if err != nil {
		return Value{}, err
	}
	with, err := args[1].eval(s)
	if err != nil {
		return Value{}, err
	}
	if with.kind == arrayValue {
		return Value{}, errors.New("cannot fill with an array")
	}
	out := Value{kind: v.kind}
	for _, x := range v.series {
		y := x.like()
		for i, f := range x.Values {
			if y.Values[i] = f; math.IsNaN(f) {
				y.Values[i] = with.point(i)
			}
		}
		out.series = append(out.series, y)
	}
	return out, nil
}

// point returns the value of a number or time series in period i.
func (v Value) point(i int) float64 {
	if v.kind == scalarValue {
		return v.number
	}
	return v.series[0].Values[i]
}

func fillRepeat(from, to []float64) {
	last := math.NaN()
	for i, v := range from {
		if !math.IsNaN(v) {
			last = v
		}
		to[i] = last
	}
}

func fillLinear(from, to []float64) {
	last := -1
	copy(to, from)
	for i, v := range from {
		if math.IsNaN(v) {
			continue
		}
		if last >= 0 {
			for j := last + 1; j < i; j++ {
				to[j] = finite(from[last] + (v-from[last])*float64(j-last)/float64(i-last))
			}
		}
		last = i
	}
}

// conditional is IF(condition, then, else). A missing condition makes a missing
// result, and so does a false one without else.
func conditional(s *Scope, args []mathNode) (Value, error) {
	v := []Value{{}, {}, Scalar(math.NaN())}
	result := scalarValue
	for i, a := range args {
		var err error
		if v[i], err = a.eval(s); err != nil {
			return Value{}, err
		}
		if v[i].kind == arrayValue {
			return Value{}, errors.New("an array cannot be a condition or a branch")
		}
		result = max(result, v[i].kind)
	}
	choose := func(i int) float64 {
		switch c := v[0].point(i); {
		case math.IsNaN(c):
			return c
		case c != 0:
			return v[1].point(i)
		}
		return v[2].point(i)
	}
	if result == scalarValue {
		return Scalar(choose(0)), nil
	}
	out := s.empty()
	for i := range out.Values {
		out.Values[i] = choose(i)
	}
	return SeriesValue(out), nil
}

func metrics(s *Scope, args []mathNode) (Value, error) {
	containing := ""
	if len(args) == 1 {
		text, ok := args[0].(mathText)
		if !ok {
			return Value{}, errors.New("want a quoted text")
		}
		containing = string(text)
	}
	return Value{kind: arrayValue, series: s.Metrics(containing)}, nil
}

func metricCount(s *Scope, args []mathNode) (Value, error) {
	v, err := needSeries(s, args[0])
	return Scalar(float64(len(v.series))), err
}

func pick(index func([]Series) int) func(*Scope, []mathNode) (Value, error) {
	return func(s *Scope, args []mathNode) (Value, error) {
		v, err := needSeries(s, args[0])
		if err != nil {
			return Value{}, err
		}
		if len(v.series) == 0 {
			return SeriesValue(s.empty()), nil
		}
		return SeriesValue(v.series[index(v.series)]), nil
	}
}

func removeEmpty(s *Scope, args []mathNode) (Value, error) {
	v, err := needSeries(s, args[0])
	if err != nil {
		return Value{}, err
	}
	out := Value{kind: arrayValue}
	for _, x := range v.series {
		if slices.ContainsFunc(x.Values, func(f float64) bool { return !math.IsNaN(f) }) {
			out.series = append(out.series, x)
		}
	}
	return out, nil
}
