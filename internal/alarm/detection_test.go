package alarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// detectionRow is a row of detection_time.json.
type detectionRow struct {
	ID, Design string
	Parameters struct {
		P, N, M, R int
		Thr        float64
		Cut, Delay float64
		Fill       *float64
		Stat       string
		Probe      float64
		Timeout    float64
	}
	Expect    map[string]float64 `json:"expect_s"`
	Tolerance map[string]float64 `json:"tolerance_s"`
}

func (r detectionRow) definition() Definition {
	p := r.Parameters
	d := Definition{Name: r.ID, N: p.N, M: p.M, Threshold: p.Thr, Comparison: LessThan, Treatment: TreatBreaching}
	if p.Stat == "Maximum" {
		d.Threshold, d.Comparison, d.Treatment = 20000, GreaterThan, TreatNotBreaching
	}
	d.Queries = []Query{{ID: "m1", ReturnData: p.Fill == nil, Stat: &QueryStat{Period: p.P, Stat: p.Stat}}}
	if p.Fill != nil {
		d.Queries = append(d.Queries, Query{ID: "e1", Expression: fmt.Sprintf("FILL(m1, %g)", *p.Fill), ReturnData: true})
	}
	return d
}

// impact: the rows with a Maximum are about a database that hangs while its
// probe lives, the others about a probe that is silent.
func (r detectionRow) impact() Impact {
	i := Impact{Stream: Stream{Interval: seconds(r.Parameters.Probe), Healthy: 20}, Effect: Effect{Silent: true}}
	if r.Parameters.Stat == "Maximum" {
		i.Effect = Effect{Value: 20001, Lag: seconds(r.Parameters.Timeout)}
	}
	return i
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

func (r detectionRow) watch(t *testing.T) *Watch {
	t.Helper()
	w, err := NewWatch(r.definition())
	if err != nil {
		t.Fatal(err)
	}
	if r.Parameters.R > 0 {
		w.Schedule.Range = r.Parameters.R
	}
	w.Schedule.Cutoff = seconds(r.Parameters.Cut)
	return w
}

// trial is one failure at random phases.
func trial(t interface{ Fatalf(string, ...any) }, r *rand.Rand, w *Watch, m Impact, delay time.Duration) time.Duration {
	uniform := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	before, after := w.Horizon([]Impact{m})
	failure := before + m.Interval + uniform(time.Minute)
	w.Schedule.Phase = uniform(w.Schedule.Step())
	data := m.Publish(nil, Publication{
		Until: failure + after, Offset: uniform(m.Interval), Failure: failure, Effect: m.Effect,
		Ingest: func() (time.Duration, bool) { return delay, true },
	})
	at, ok := w.FirstAlarm([][]Datum{data}, failure, failure+after)
	if !ok {
		t.Fatalf("never in alarm: failure %s, phase %s", failure, w.Schedule.Phase)
	}
	return at - failure
}

func TestDetectionTimesOfTheOracle(t *testing.T) {
	const failures = 40_000
	for _, row := range oracle[detectionRow](t, "detection_time.json") {
		t.Run(row.ID+" "+row.Design, func(t *testing.T) {
			t.Parallel()
			r, w, m := rand.New(rand.NewPCG(1, 2)), row.watch(t), row.impact()
			times, sum := make([]time.Duration, failures), time.Duration(0)
			for i := range times {
				times[i] = trial(t, r, w, m, seconds(row.Parameters.Delay))
				sum += times[i]
			}
			slices.Sort(times)
			got := map[string]time.Duration{"mean": sum / failures}
			for name, share := range map[string]float64{"min": 0, "p5": .05, "p50": .5, "p95": .95, "max": .9999} {
				got[name] = times[int(share*failures)]
			}
			for name, want := range row.Expect {
				if d := got[name].Seconds() - want; max(d, -d) > row.Tolerance[name] {
					t.Errorf("%s is %.1f s, want %.1f s", name, got[name].Seconds(), want)
				}
			}
			if worst, longest := w.Worst([]Impact{m}), times[failures-1]; row.Parameters.Delay == 0 && (!worst.Always || worst.Longest < longest || worst.Longest > longest+10*time.Second) {
				t.Errorf("the worst case is %+v; the longest of %d is %s", worst, failures, longest)
			}
		})
	}
}

// The worst cases by hand: the failure comes just after the sample that makes
// the period look good, and the evaluation has just missed the period's end.
func TestWorstCases(t *testing.T) {
	metric := func(stat string, period int) []Query {
		return []Query{{ID: "m1", ReturnData: true, Stat: &QueryStat{Stat: stat, Period: period}}}
	}
	filled := []Query{
		{ID: "m1", Stat: &QueryStat{Stat: "SampleCount", Period: 60}},
		{ID: "e1", Expression: "FILL(m1, 0)", ReturnData: true},
	}
	probe := Stream{Interval: 20 * time.Second, Healthy: 20}
	silent, sentinel := Effect{Silent: true}, Effect{Value: 20001, Lag: 19 * time.Second}
	for _, c := range []struct {
		name   string
		alarm  Definition
		effect Effect
		want   string // "never", "not always", or the longest time
	}{
		{"two samples of the minute came, one empty minute, one evaluation", Definition{Queries: filled, N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching}, silent, "2m40s"},
		{"the same without FILL waits for five empty minutes", Definition{Queries: metric("SampleCount", 60), N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching}, silent, "6m50s"},
		{"a probe that hangs: tick, time-out, minute, evaluation", Definition{Queries: metric("Maximum", 60), N: 1, Comparison: GreaterThan, Threshold: 20000, Treatment: TreatNotBreaching}, sentinel, "2m49s"},
		{"the maximum of nothing", Definition{Queries: metric("Maximum", 60), N: 1, Comparison: GreaterThan, Threshold: 20000, Treatment: TreatNotBreaching}, silent, "never"},
		{"only the minute that the failure cuts short", Definition{Queries: metric("SampleCount", 60), N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatMissing}, silent, "not always"},
		{"high resolution", Definition{Queries: metric("Maximum", 20), N: 1, Comparison: GreaterThan, Threshold: 20000, Treatment: TreatMissing}, sentinel, "1m19s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := NewWatch(c.alarm)
			if err != nil {
				t.Fatal(err)
			}
			worst := w.Worst([]Impact{{probe, c.effect}})
			got := worst.Longest.Round(time.Second).String()
			switch {
			case !worst.Ever:
				got = "never"
			case !worst.Always:
				got = "not always"
			}
			if got != c.want {
				t.Errorf("worst case %s, want %s", got, c.want)
			}
		})
	}
}

// No failure takes longer than the worst case, whatever the alarm.
func TestWorstCaseIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.SampledFrom([]int{10, 20, 30, 60, 120, 300}).Draw(t, "period")
		d := Definition{
			Queries: []Query{{ID: "m1", ReturnData: true, Stat: &QueryStat{Stat: "SampleCount", Period: period}}},
			N:       rapid.IntRange(1, 3).Draw(t, "N"), Comparison: LessThan, Threshold: float64(rapid.IntRange(1, 3).Draw(t, "threshold")), Treatment: TreatBreaching,
		}
		d.M = rapid.IntRange(1, d.N).Draw(t, "M")
		m := Impact{Stream{Interval: time.Duration(rapid.SampledFrom([]int{5, 7, 10, 15, 20, 30, 45, 60}).Draw(t, "interval")) * time.Second, Healthy: 20}, Effect{Silent: true}}
		if rapid.Bool().Draw(t, "hangs") {
			d.Queries[0].Stat.Stat, d.Comparison, d.Threshold, d.Treatment = "Maximum", GreaterThan, 20000, TreatNotBreaching
			m.Effect = Effect{Value: 20001, Lag: time.Duration(rapid.IntRange(0, 40).Draw(t, "lag")) * time.Second}
			if m.Lag >= m.Interval { // a probe ends before the next begins
				m.Lag = m.Interval - time.Second
			}
			if d.N = 1; m.Interval > time.Duration(period)*time.Second {
				d.Treatment = TreatMissing
			}
			d.M = 1
		}
		w, err := NewWatch(d)
		if err != nil {
			t.Fatal(err)
		}
		worst := w.Worst([]Impact{m})
		if !worst.Always {
			t.Fatal("not raised at all phases")
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 200 {
			if got := trial(t, r, w, m, 0); got > worst.Longest {
				t.Fatalf("%s after the failure; the worst case is %s", got, worst.Longest)
			}
		}
	})
}

func TestWatchRefuses(t *testing.T) {
	stat := &QueryStat{Stat: "Maximum", Period: 60}
	one := []Query{{ID: "m1", ReturnData: true, Stat: stat}}
	good := Definition{Name: "x", Queries: one, N: 1, Comparison: GreaterThan}
	for want, change := range map[string]func(*Definition){
		"period 45 s is none of": func(d *Definition) {
			d.Queries = []Query{{ID: "m1", ReturnData: true, Stat: &QueryStat{Stat: "Maximum", Period: 45}}}
		},
		"exactly one query must return data": func(d *Definition) { d.Queries = []Query{{ID: "m1", Stat: stat}} },
		"given twice": func(d *Definition) {
			d.Queries = []Query{{ID: "m1", Stat: stat}, {ID: "m1", Stat: stat, ReturnData: true}}
		},
		"no metric is read":                func(d *Definition) { d.Queries = []Query{{ID: "e1", Expression: "TIME_SERIES(1)", ReturnData: true}} },
		"either a metric or an expression": func(d *Definition) { d.Queries = []Query{{ID: "m1", ReturnData: true}} },
		"at least 1":                       func(d *Definition) { d.N = 0 },
		"between 1 and 1":                  func(d *Definition) { d.M = 2 },
		"more than the documented window":  func(d *Definition) { d.N = 1441 },
		`comparison "<"`:                   func(d *Definition) { d.Comparison = "<" },
		`missing data "never"`:             func(d *Definition) { d.Treatment = "never" },
		"which is not among the queries":   func(d *Definition) { d.Queries = expression("FILL(m2, 0)") },
		"refers to itself":                 func(d *Definition) { d.Queries = expression("FILL(e1, 0)") },
		"must give one time series":        func(d *Definition) { d.Queries = expression("MAX(m1)") },
		"unknown function":                 func(d *Definition) { d.Queries = expression("GUESS(m1)") },
		`statistic "Median"`: func(d *Definition) {
			d.Queries = []Query{{ID: "m1", ReturnData: true, Stat: &QueryStat{Stat: "Median", Period: 60}}}
		},
	} {
		d := good
		change(&d)
		if _, err := NewWatch(d); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "alarm x: ") {
			t.Errorf("NewWatch: %v, want %q", err, want)
		}
	}
	if _, err := NewWatch(good); err != nil {
		t.Error(err)
	}
}

func expression(text string) []Query {
	return []Query{
		{ID: "m1", Stat: &QueryStat{Stat: "SampleCount", Period: 60}},
		{ID: "e1", Expression: text, ReturnData: true},
	}
}

// An evaluation sees what has arrived: a late sample makes a minute look empty,
// and a later look at the same minute forgives it.
func TestLateSamples(t *testing.T) {
	w, err := NewWatch(Definition{Queries: expression("FILL(m1, 0)"), N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching})
	if err != nil {
		t.Fatal(err)
	}
	data := [][]Datum{{
		{At: 5 * time.Second, Seen: 5 * time.Second}, {At: 25 * time.Second, Seen: 70 * time.Second}, {At: 45 * time.Second, Seen: 70 * time.Second},
	}}
	for at, want := range map[time.Duration]State{60 * time.Second: Alarm, 70 * time.Second: OK, 119 * time.Second: OK, 120 * time.Second: Alarm} {
		if got := w.State(at, data); got != want {
			t.Errorf("at %s the alarm is %s, want %s", at, got, want)
		}
	}
}

func BenchmarkFirstAlarm(b *testing.B) {
	for name, d := range map[string]Definition{
		"metric":     {Queries: []Query{{ID: "m1", ReturnData: true, Stat: &QueryStat{Stat: "SampleCount", Period: 60}}}, N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching},
		"expression": {Queries: expression("FILL(m1, 0)"), N: 1, Comparison: LessThan, Threshold: 2, Treatment: TreatBreaching},
	} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWatch(d)
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			m := Impact{Stream{Interval: 20 * time.Second, Healthy: 20}, Effect{Silent: true}}
			for b.Loop() {
				trial(b, r, w, m, 0)
			}
		})
	}
}
