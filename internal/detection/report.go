package detection

import (
	"math"
	"slices"
	"time"
)

// Report is the result of a simulation.
type Report struct {
	Seed       uint64
	Trials     int
	Days       int
	Conditions Conditions
	Healthy    Conditions
	Sets       []SetReport
}

// SetReport is what the model says about one set.
type SetReport struct {
	Name        string
	Failures    []Times
	FalseAlarms Rate
	Cost        []Charge
	MonthlyUSD  float64
	Notes       []string
}

// Times are the times from failures of one kind until the set noticed. Quantiles
// are over all failures: with one that is not seen the longest is Never.
type Times struct {
	Failure                 Failure
	Min, P50, P95, P99, Max time.Duration
	Mean                    time.Duration // of those that were seen
	Missed                  int           // failures that were not seen
	Worst                   time.Duration // over all phases, when nothing is late or lost; Never if it may not be seen
	Sorted                  []time.Duration
}

// summarise sorts times.
func summarise(f Failure, times []time.Duration, worst time.Duration) Times {
	slices.Sort(times)
	t := Times{Failure: f, Worst: worst, Sorted: times}
	t.Min, t.Max = times[0], times[len(times)-1]
	t.P50, t.P95, t.P99 = t.Quantile(.5), t.Quantile(.95), t.Quantile(.99)
	sum, seen := 0.0, 0
	for _, x := range times {
		if x == Never {
			break
		}
		sum += x.Seconds()
		seen++
	}
	t.Missed, t.Mean = len(times)-seen, Never
	if seen > 0 {
		t.Mean = time.Duration(sum / float64(seen) * float64(time.Second))
	}
	return t
}

// Quantile returns the time within which the share p of all failures is seen.
func (t Times) Quantile(p float64) time.Duration {
	return t.Sorted[min(int(p*float64(len(t.Sorted))), len(t.Sorted)-1)]
}

// Of returns the times of one kind of failure.
func (s SetReport) Of(f Failure) (Times, bool) {
	i := slices.IndexFunc(s.Failures, func(t Times) bool { return t.Failure == f })
	if i < 0 {
		return Times{}, false
	}
	return s.Failures[i], true
}

// Rate is how often a healthy primary was suspected.
type Rate struct {
	Count int
	Days  int
}

// PerMonth is the rate in 30.4 days.
func (r Rate) PerMonth() float64 {
	if r.Days == 0 {
		return math.NaN()
	}
	return float64(r.Count) * Month.Hours() / 24 / float64(r.Days)
}

// ruleOfThree: what was not seen in n tries has, with 95 % confidence, a
// probability below 3/n.
const ruleOfThree = 3

// AtMost is a bound of the rate with 95 % confidence where nothing was seen.
func (r Rate) AtMost() float64 { return Rate{ruleOfThree, r.Days}.PerMonth() }
