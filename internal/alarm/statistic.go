package alarm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Statistic computes one number from the samples of a period.
type Statistic struct {
	name   string
	kind   statKind
	bounds bounds
}

type statKind uint8

const (
	statCount statKind = iota
	statAverage
	statSum
	statMinimum
	statMaximum
	statPercentile
	statTrimmedMean
	statTrimmedCount
	statTrimmedSum
	statWinsorizedMean
	statPercentileRank
)

// bounds select samples by rank (0 to 1) or by value.
type bounds struct {
	lo, hi  float64
	byValue bool
}

var simpleStatistics = map[string]statKind{
	"SampleCount": statCount, "Average": statAverage, "Sum": statSum, "Minimum": statMinimum, "Maximum": statMaximum,
}

var trimmedStatistics = map[string]statKind{
	"tm": statTrimmedMean, "tc": statTrimmedCount, "ts": statTrimmedSum, "wm": statWinsorizedMean,
	"TM": statTrimmedMean, "TC": statTrimmedCount, "TS": statTrimmedSum, "WM": statWinsorizedMean, "PR": statPercentileRank,
}

// ParseStatistic reads the name of a statistic: SampleCount, Average, Sum,
// Minimum, Maximum, a percentile such as p99.9, a trimmed mean, count or sum or
// winsorized mean such as tm90 or TM(10%:90%) or TC(0.005:0.030), a percentile
// rank such as PR(:300), or IQM.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html
func ParseStatistic(name string) (Statistic, error) {
	if k, ok := simpleStatistics[name]; ok {
		return Statistic{name: name, kind: k}, nil
	}
	if name == "IQM" {
		return Statistic{name: name, kind: statTrimmedMean, bounds: bounds{lo: .25, hi: .75}}, nil
	}
	if rest, ok := strings.CutPrefix(name, "p"); ok {
		if p, ok := percent(rest); ok {
			return Statistic{name: name, kind: statPercentile, bounds: bounds{hi: p}}, nil
		}
	}
	if len(name) > 2 {
		if k, ok := trimmedStatistics[name[:2]]; ok {
			if b, ok := parseBounds(name[2:]); ok && (k != statPercentileRank || b.byValue) {
				return Statistic{name: name, kind: k, bounds: b}, nil
			}
		}
	}
	return Statistic{}, fmt.Errorf("statistic %q: want SampleCount, Average, Sum, Minimum, Maximum, pNN, tmNN, tcNN, tsNN, wmNN, TM(a:b), TC(a:b), TS(a:b), WM(a:b), PR(a:b) or IQM", name)
}

// percent reads a percentage with up to ten decimals as a fraction.
func percent(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	p, err := strconv.ParseFloat(s, 64)
	return p / 100, err == nil && p >= 0 && p <= 100
}

// parseBounds reads "90", "(10%:90%)", "(5%:)", "(:95%)" or "(0.1:0.3)".
func parseBounds(s string) (bounds, bool) {
	if p, ok := percent(s); ok {
		return bounds{hi: p}, true
	}
	if len(s) < 3 || s[0] != '(' || s[len(s)-1] != ')' {
		return bounds{}, false
	}
	lo, hi, ok := strings.Cut(s[1:len(s)-1], ":")
	if !ok || lo == "" && hi == "" {
		return bounds{}, false
	}
	if !strings.Contains(s, "%") {
		b := bounds{lo: math.Inf(-1), hi: math.Inf(1), byValue: true}
		return b, number(lo, &b.lo) && number(hi, &b.hi) && b.lo <= b.hi
	}
	b := bounds{hi: 1}
	for _, side := range []struct {
		text string
		to   *float64
	}{{lo, &b.lo}, {hi, &b.hi}} {
		if side.text == "" {
			continue
		}
		text, isPercent := strings.CutSuffix(side.text, "%")
		p, ok := percent(text)
		if !ok || !isPercent {
			return bounds{}, false
		}
		*side.to = p
	}
	return b, b.lo <= b.hi
}

func number(s string, to *float64) bool {
	if s == "" {
		return true
	}
	f, err := strconv.ParseFloat(s, 64)
	*to = f
	return err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// String returns the name as it was parsed.
func (s Statistic) String() string { return s.name }

// NeedsSamples reports whether the statistic needs the single values of a period
// and not only count, sum and extremes.
func (s Statistic) NeedsSamples() bool { return s.kind >= statPercentile }

// Value computes the statistic. It is false if the period has no samples: an
// empty period has no SampleCount of 0, it has no datapoint at all. It is also
// false for percentiles of statistic sets.
func (s Statistic) Value(a *Aggregate) (float64, bool) {
	if a.Count == 0 {
		return 0, false
	}
	switch s.kind {
	case statCount:
		return a.Count, true
	case statAverage:
		return a.Sum / a.Count, true
	case statSum:
		return a.Sum, true
	case statMinimum:
		return a.Min, true
	case statMaximum:
		return a.Max, true
	}
	samples, ok := a.Samples()
	if !ok {
		return 0, false
	}
	if s.kind == statPercentile {
		return quantile(samples, a.Count, s.bounds.hi), true
	}
	return s.trimmed(samples, a.Count)
}

// quantile returns the smallest value that at least the fraction p of all
// samples does not exceed.
func quantile(samples []Sample, count, p float64) float64 {
	seen := 0.0
	for _, s := range samples {
		seen += s.Count
		if seen >= p*count-1e-9 {
			return s.Value
		}
	}
	return samples[len(samples)-1].Value
}

func (s Statistic) trimmed(samples []Sample, total float64) (float64, bool) {
	b := s.bounds
	var count, sum, below, seen float64
	for _, x := range samples {
		var in float64
		if b.byValue {
			if x.Value >= b.lo && x.Value <= b.hi {
				in = x.Count
			}
			if x.Value < b.lo {
				below += x.Count
			}
		} else {
			in = max(0, min(seen+x.Count, b.hi*total)-max(seen, b.lo*total))
		}
		seen += x.Count
		count += in
		sum += in * x.Value
	}
	switch s.kind {
	case statTrimmedCount:
		return count, true
	case statTrimmedSum:
		return sum, true
	case statPercentileRank:
		return 100 * count / total, true
	case statTrimmedMean:
		return sum / count, count > 0
	}
	// Winsorized mean: what lies outside counts as the nearest bound.
	lo, hi := b.lo, b.hi
	if !b.byValue {
		below = b.lo * total
		lo, hi = quantile(samples, total, b.lo), quantile(samples, total, b.hi)
	}
	above := total - count - below
	if below > 0 {
		sum += below * lo
	}
	if above > 0 {
		sum += above * hi
	}
	return sum / total, true
}

// EnoughSamples reports whether a percentile of so many samples is statistically
// significant, which alarms with EvaluateLowSampleCountPercentile=ignore ask
// for. All other statistics are.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/percentiles-with-low-samples.html
func (s Statistic) EnoughSamples(count float64) bool {
	p := s.bounds.hi
	switch {
	case s.kind != statPercentile || p <= 0 || p >= 1:
		return true
	case p < .5:
		return count >= 10/p-1e-6
	}
	return count >= 10/(1-p)-1e-6
}
