package alarm

import (
	"cmp"
	"slices"
)

// Sample is a value that occurred Count times.
type Sample struct {
	Value float64
	Count float64
}

// Aggregate is what a metric had in one period. The zero value is empty.
//
// It keeps the distinct values for percentiles only when they differ, so that
// a period of equal values costs nothing more.
type Aggregate struct {
	Count, Sum, Min, Max float64

	samples []Sample // unsorted; nil while Min == Max
	sets    bool     // holds a statistic set with unknown values
}

// Add counts value count times.
func (a *Aggregate) Add(value, count float64) {
	if count <= 0 {
		return
	}
	if a.Count > 0 && a.samples == nil && !a.sets && value != a.Min {
		a.samples = append(make([]Sample, 0, 4), Sample{a.Min, a.Count})
	}
	if a.samples != nil {
		a.addSample(Sample{value, count})
	}
	a.widen(count, value*count, value, value)
}

func (a *Aggregate) addSample(s Sample) {
	for i := range a.samples {
		if a.samples[i].Value == s.Value {
			a.samples[i].Count += s.Count
			return
		}
	}
	a.samples = append(a.samples, s)
}

// AddSet adds a statistic set. Percentiles need its values, which are known only
// if all are equal.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
func (a *Aggregate) AddSet(count, sum, minimum, maximum float64) {
	if minimum == maximum {
		a.Add(minimum, count)
		return
	}
	a.sets, a.samples = true, nil
	a.widen(count, sum, minimum, maximum)
}

func (a *Aggregate) widen(count, sum, minimum, maximum float64) {
	if a.Count == 0 || minimum < a.Min {
		a.Min = minimum
	}
	if a.Count == 0 || maximum > a.Max {
		a.Max = maximum
	}
	a.Count += count
	a.Sum += sum
}

// Merge adds everything that b holds.
func (a *Aggregate) Merge(b *Aggregate) {
	switch {
	case b.Count == 0:
	case a.sets || b.sets:
		a.sets, a.samples = true, nil
		a.widen(b.Count, b.Sum, b.Min, b.Max)
	case b.samples == nil:
		a.Add(b.Min, b.Count)
	default:
		for _, s := range b.samples {
			a.Add(s.Value, s.Count)
		}
	}
}

// MergeSummary adds count, sum and extremes of b, which is all that the simple
// statistics need. Percentiles of the result are unknown.
func (a *Aggregate) MergeSummary(b *Aggregate) {
	if b.Count > 0 {
		a.sets, a.samples = true, nil
		a.widen(b.Count, b.Sum, b.Min, b.Max)
	}
}

// Samples returns the distinct values in ascending order, or false if they are
// not known.
func (a *Aggregate) Samples() ([]Sample, bool) {
	switch {
	case a.Count == 0:
		return nil, false
	case a.samples != nil:
		s := slices.Clone(a.samples)
		slices.SortFunc(s, func(x, y Sample) int { return cmp.Compare(x.Value, y.Value) })
		return s, true
	case a.Min == a.Max:
		return []Sample{{a.Min, a.Count}}, true
	}
	return nil, false
}
