package alarm

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestStatistics(t *testing.T) {
	var a Aggregate
	for v := 1.0; v <= 10; v++ {
		a.Add(v, 1)
	}
	for name, want := range map[string]float64{
		"SampleCount": 10, "Sum": 55, "Average": 5.5, "Minimum": 1, "Maximum": 10,
		"p0": 1, "p10": 1, "p50": 5, "p90": 9, "p99.9": 10, "p100": 10,
		"tm90": 5, "TM(10%:90%)": 5.5, "TM(:50%)": 3, "TM(3:5)": 4, "IQM": 5.5,
		"tc90": 9, "TC(80%:)": 2, "TC(2:4)": 3, "ts90": 45, "TS(80%:)": 19,
		"wm90": 5.4, "WM(10%:90%)": 5.4, "WM(2:9)": 5.5, "PR(:3)": 30, "PR(4:)": 70,
	} {
		s, err := ParseStatistic(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := s.Value(&a); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"", "average", "p", "p101", "p-1", "pNaN", "tm", "TM()", "TM(:)", "TM(9:1)", "TM(5%:9)", "PR(1%:2%)", "P90", "q5", "TM(nan:1)"} {
		if _, err := ParseStatistic(name); err == nil {
			t.Errorf("statistic %q was accepted", name)
		}
	}
}

func TestAnEmptyPeriodHasNoDatapoint(t *testing.T) {
	for _, name := range []string{"SampleCount", "Sum", "Average", "p50"} {
		s, _ := ParseStatistic(name)
		if v, ok := s.Value(&Aggregate{}); ok {
			t.Errorf("%s of nothing is %v", name, v)
		}
	}
}

func TestStatisticSetsHaveNoPercentiles(t *testing.T) {
	p, _ := ParseStatistic("p90")
	var set, equal Aggregate
	set.AddSet(10, 100, 1, 20)
	if v, ok := p.Value(&set); ok {
		t.Errorf("p90 of a statistic set is %v", v)
	}
	equal.AddSet(10, 50, 5, 5)
	if v, ok := p.Value(&equal); !ok || v != 5 {
		t.Errorf("p90 of a set of equal values is %v", v)
	}
}

// TestMergeIsLikeAdding: however samples are split over aggregates, merging them
// gives what adding them to one gives.
func TestMergeIsLikeAdding(t *testing.T) {
	names := []string{"SampleCount", "Sum", "Minimum", "Maximum", "p50", "p90"}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 30).Draw(t, "values")
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var all, left, right, summary Aggregate
		for i, v := range values {
			all.Add(float64(v), 1)
			if i < cut {
				left.Add(float64(v), 1)
			} else {
				right.Add(float64(v), 1)
			}
		}
		summary.MergeSummary(&left)
		summary.MergeSummary(&right)
		left.Merge(&right)
		for _, name := range names {
			s, _ := ParseStatistic(name)
			want, _ := s.Value(&all)
			if got, ok := s.Value(&left); !ok || got != want {
				t.Fatalf("%s is %v, want %v", name, got, want)
			}
			if got, ok := s.Value(&summary); !s.NeedsSamples() && (!ok || got != want) {
				t.Fatalf("%s of summaries is %v, want %v", name, got, want)
			}
		}
	})
}
