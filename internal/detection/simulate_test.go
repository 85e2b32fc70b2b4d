package detection

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sets(t testing.TB, texts ...string) []Set {
	t.Helper()
	var out []Set
	for _, text := range texts {
		s, err := NewModel().ParseSet(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func run(t testing.TB, s Simulation) Report {
	t.Helper()
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What the reference design promises, and what it does: the figures of the
// module's README and of the guide rest on these.
func TestTimesOfTheComparison(t *testing.T) {
	r := run(t, Simulation{Sets: sets(t, Comparison...), Trials: 40_000, Seed: 1})
	type row struct{ p50, p95, worst int } // seconds, rounded up; 0 = not seen
	want := map[string]map[Failure]row{
		"reference":         {Host: {334, 382, 410}, Hang: {99, 141, 169}, Crash: {77, 117, 150}},
		"fill":              {Host: {100, 142, 170}, Hang: {99, 141, 169}, Crash: {77, 117, 150}},
		"high-resolution":   {Host: {55, 70, 80}, Hang: {54, 69, 79}, Crash: {35, 50, 60}},
		"lease:20s/5s":      {Host: {18, 21, 21}, Hang: {38, 41, 41}, Crash: {21, 24, 26}},
		"lease:6s/2s":       {Host: {6, 7, 7}, Hang: {25, 26, 27}, Crash: {7, 8, 9}},
		"fill+lease:20s/5s": {Host: {18, 21, 21}, Hang: {38, 41, 41}, Crash: {21, 24, 26}},
		"fill&lease:6s/2s":  {Host: {100, 142, 170}, Hang: {99, 141, 169}, Crash: {77, 117, 150}},
	}
	for _, s := range r.Sets {
		for f, w := range want[s.Name] {
			x, _ := s.Of(f)
			if near(x.P50, w.p50, 2) && near(x.P95, w.p95, 2) && near(x.Worst, w.worst, 0) && x.Missed == 0 {
				continue
			}
			t.Errorf("%s, %s: p50 %s, p95 %s, worst %s, %d missed; want %+v", s.Name, f, x.P50, x.P95, x.Worst, x.Missed, w)
		}
	}
}

func near(got time.Duration, want, tolerance int) bool {
	s := int((got + time.Second - 1) / time.Second)
	return s >= want-tolerance && s <= want+tolerance
}

// The module's alarms keep their objectives at the price of the reference design.
func TestFillKeepsItsObjectives(t *testing.T) {
	r := run(t, Simulation{Sets: sets(t, PresetReference, PresetFill), Trials: 40_000, Seed: 2})
	for _, x := range r.Sets[1].Failures {
		if x.Worst > 170*time.Second || x.P95 > 145*time.Second {
			t.Errorf("%s: worst %s, p95 %s; want at most 170 s and 145 s", x.Failure, x.Worst, x.P95)
		}
	}
	if r.Sets[0].MonthlyUSD != r.Sets[1].MonthlyUSD {
		t.Errorf("$%.2f a month, and the reference design $%.2f", r.Sets[1].MonthlyUSD, r.Sets[0].MonthlyUSD)
	}
}

// A charge that several detectors share is paid once.
func TestCost(t *testing.T) {
	p := Prices{AlarmMetric: 1, HighResolution: 10, Composite: 100, CustomMetric: 1000}
	for set, want := range map[string]float64{
		"fill":                      2*4 + 2*100 + 2*2*1000, // four alarms, a composite one, two metrics on each node
		"fill+reference":            2*5 + 4*100 + 2*2*1000, // the plain sample count comes on top
		"high-resolution":           2*2*10 + 2*2 + 2*100 + 2*2*1000,
		"lease:20s/5s+lease:20s/5s": 0,
	} {
		if got := Monthly(sets(t, set)[0].Cost(p)); got != want {
			t.Errorf("%s costs %g a month, want %g", set, got, want)
		}
	}
	// 730 hours: a renewal every 5 s, and a read every second.
	if got := Monthly(sets(t, "lease:20s/5s+lease:20s/5s")[0].Cost(Prices{MillionWrites: 1e6, MillionReads: 1})); math.Abs(got-525_602.628) > 1e-6 {
		t.Errorf("a lease costs %f", got)
	}
}

// The same seed gives the same figures, whatever is compared beside them.
func TestFiguresDoNotDependOnNeighbours(t *testing.T) {
	one := run(t, Simulation{Sets: sets(t, "fill"), Trials: 5_000, Days: 30, Seed: 3, Conditions: Assumed, Healthy: Assumed})
	many := run(t, Simulation{Sets: sets(t, "lease:6s/2s", "reference", "fill"), Trials: 5_000, Days: 30, Seed: 3, Conditions: Assumed, Healthy: Assumed})
	if d := cmp.Diff(one.Sets[0], many.Sets[2]); d != "" {
		t.Errorf("alone and beside others (-alone +beside):\n%s", d)
	}
	other := run(t, Simulation{Sets: sets(t, "fill"), Trials: 5_000, Seed: 4, Conditions: Assumed})
	if cmp.Equal(one.Sets[0].Failures, other.Sets[0].Failures) {
		t.Error("another seed gives the same failures")
	}
}

// More detectors of which one is enough are never slower, and of which all are
// needed never faster; no failure takes longer than the worst case.
func TestSetsOfSets(t *testing.T) {
	atoms := []string{"fill", "reference", "lease:20s/5s/2s", "lease:6s/2s/1s", "view:2s", "view:20s"}
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(atoms).Draw(rt, "a")
		b := rapid.SampledFrom(atoms).Draw(rt, "b")
		r := run(t, Simulation{Sets: sets(t, a, b, a+"+"+b, a+"&"+b), Trials: 300, Seed: rapid.Uint64().Draw(rt, "seed")})
		for i, f := range Failures {
			x, y, either, both := r.Sets[0].Failures[i], r.Sets[1].Failures[i], r.Sets[2].Failures[i], r.Sets[3].Failures[i]
			if either.P95 > min(x.P95, y.P95) || both.P95 < max(x.P95, y.P95) {
				rt.Fatalf("%s: %s %s, %s %s, either %s, both %s", f, a, x.P95, b, y.P95, either.P95, both.P95)
			}
			for _, s := range r.Sets {
				if s.Failures[i].Max > s.Failures[i].Worst {
					rt.Fatalf("%s, %s: %s is longer than the worst case %s", f, s.Name, s.Failures[i].Max, s.Failures[i].Worst)
				}
			}
		}
	})
}

// A database that hangs stays connected: nobody but the SQL round trip sees it.
func TestTheStandbysView(t *testing.T) {
	r := run(t, Simulation{Sets: sets(t, "view:2s"), Trials: 10_000, Seed: 1})
	for f, want := range map[Failure]struct{ low, high time.Duration }{
		Host: {90 * time.Second, 122 * time.Second}, Crash: {0, 2 * time.Second}, Hang: {Never, Never},
	} {
		if x, _ := r.Sets[0].Of(f); x.Min < want.low || x.Max > want.high || x.Max > x.Worst {
			t.Errorf("%s: %s to %s, want %s to %s", f, x.Min, x.Max, want.low, want.high)
		}
	}
	if x, _ := r.Sets[0].Of(Hang); x.Missed != 10_000 {
		t.Errorf("%d hangs were missed, want all", x.Missed)
	}
}

// Silence of one minute is what late and lost samples imitate.
func TestFalseAlarms(t *testing.T) {
	late := Conditions{Ingestion: Latency{10 * time.Second, 60 * time.Second}}
	for _, c := range []struct {
		set        string
		conditions Conditions
		some       bool
	}{
		{"fill", Ideal, false},
		{"fill", Conditions{Ingestion: Assumed.Ingestion}, false},
		{"fill", late, true},
		{"reference", late, true},
		{"fill", Conditions{Loss: 0.05}, true},
		{"fill", Conditions{Cuts: 60, CutLength: 15 * time.Second}, false}, // one sample at most
		{"fill", Conditions{Cuts: 60, CutLength: 90 * time.Second}, true},
		{"fill&lease:20s/5s/2s", Conditions{Loss: 0.05}, false},
	} {
		r := run(t, Simulation{Sets: sets(t, c.set), Trials: 1, Days: 60, Seed: 5, Healthy: c.conditions})
		if n := r.Sets[0].FalseAlarms.Count; n > 0 != c.some {
			t.Errorf("%s under %+v: %d false alarms in 60 days", c.set, c.conditions, n)
		}
	}
}

// The shortcut for evaluations that see everything changes no result.
func TestSkippedEvaluationsAreCalm(t *testing.T) {
	s := Simulation{Sets: sets(t, "reference", "fill", "high-resolution"), Trials: 1, Days: 5, Seed: 6,
		Healthy: Conditions{Ingestion: Latency{8 * time.Second, 50 * time.Second}, Loss: 0.02}}
	fast := run(t, s)
	for _, set := range s.Sets {
		for _, d := range set.Detectors {
			d.(*Alarm).calm = false
		}
	}
	slow := run(t, s)
	for i := range s.Sets {
		if a, b := fast.Sets[i].FalseAlarms, slow.Sets[i].FalseAlarms; a != b || a.Count == 0 {
			t.Errorf("%s: %d false alarms, and %d when nothing is skipped", s.Sets[i].Name, a.Count, b.Count)
		}
	}
}

func TestSimulationRefuses(t *testing.T) {
	good := Simulation{Sets: sets(t, "fill"), Trials: 1}
	for want, change := range map[string]func(*Simulation){
		"no set of detectors": func(s *Simulation) { s.Sets = nil },
		"has no detectors":    func(s *Simulation) { s.Sets = []Set{{Name: "x"}} },
		"0 failures":          func(s *Simulation) { s.Trials = 0 },
		"-1 days":             func(s *Simulation) { s.Days = -1 },
		"loss 2":              func(s *Simulation) { s.Conditions.Loss = 2 },
		"ingestion latency":   func(s *Simulation) { s.Healthy.Ingestion = Latency{P50: 2, P99: 1} },
		"cuts per month":      func(s *Simulation) { s.Healthy.Cuts = -1 },
	} {
		s := good
		change(&s)
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run: %v, want %q", err, want)
		}
	}
}

func TestSimulationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Simulation{Sets: sets(t, "fill"), Trials: MaxTrials}.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want that it was cancelled", err)
	}
}

// BenchmarkFailures simulates 100,000 failures of a host with all sets of the
// comparison.
func BenchmarkFailures(b *testing.B) {
	s := Simulation{Sets: sets(b, Comparison...), Failures: []Failure{Host}, Trials: 100_000, Conditions: Assumed}
	for b.Loop() {
		run(b, s)
	}
	b.ReportMetric(float64(s.Trials*b.N)/b.Elapsed().Seconds(), "failures/s")
}

func BenchmarkHealthyDays(b *testing.B) {
	s := Simulation{Sets: sets(b, Comparison...), Failures: []Failure{Host}, Trials: 1, Days: 100, Healthy: Assumed}
	for b.Loop() {
		run(b, s)
	}
	b.ReportMetric(float64(s.Days*b.N)/b.Elapsed().Seconds(), "days/s")
}
