package benchmark

import (
	"os"
	"strconv"
	"testing"
)

// number reads how much is asked for.
func number(b *testing.B, variable string, otherwise int) int {
	b.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s=%s: want a number above 0", variable, text)
	}
	return n
}

// How much is played where nobody says otherwise: a failure takes about 0.4 s of
// a core, a day 2 s.
const (
	failures = 200
	days     = 100
)

// BenchmarkFailures plays failures of the primary, HADR_BENCH_FAILURES of each
// case from seed HADR_BENCH_SEED on, and measures from the failure to the first
// write that the new primary acknowledges. It runs in virtual time: the figures
// do not depend on the machine.
func BenchmarkFailures(b *testing.B) {
	count, seed := number(b, "HADR_BENCH_FAILURES", failures), number(b, "HADR_BENCH_SEED", 1)
	for i, c := range Cases {
		b.Run(c.Name, func(b *testing.B) {
			var outages []Outage
			for b.Loop() {
				var err error
				if outages, err = ask[Outage](b.Context(), b.TempDir(), task{Case: i, Count: count, Seed: uint64(seed)}); err != nil {
					b.Fatal(err)
				}
			}
			f := Sum(c.Name, outages)
			b.Log("\n" + f.String())
			b.ReportMetric(f.Restored.P50.Seconds(), "p50_s")
			b.ReportMetric(f.Restored.P95.Seconds(), "p95_s")
			b.ReportMetric(f.Restored.P99.Seconds(), "p99_s")
			b.ReportMetric(f.Restored.Max.Seconds(), "max_s")
			b.ReportMetric(float64(len(f.Lost)), "lost")
		})
	}
}

// BenchmarkQuiet plays HADR_BENCH_DAYS days without a failure in rough weather,
// from seed HADR_BENCH_SEED on, and counts the takeovers: none is right.
func BenchmarkQuiet(b *testing.B) {
	count, seed := number(b, "HADR_BENCH_DAYS", days), number(b, "HADR_BENCH_SEED", 1)
	for _, i := range []int{shortLease, longLease} {
		b.Run(Cases[i].Name, func(b *testing.B) {
			var all []Calm
			for b.Loop() {
				var err error
				if all, err = ask[Calm](b.Context(), b.TempDir(), task{Case: i, Days: true, Weather: Rough, Count: count, Seed: uint64(seed)}); err != nil {
					b.Fatal(err)
				}
			}
			s := Score(Cases[i].Name, all)
			b.Log("\n" + s.String())
			b.ReportMetric(float64(s.Days), "days")
			b.ReportMetric(float64(s.Takeovers), "takeovers")
			b.ReportMetric(float64(s.Reports+s.Alarms), "suspicions")
		})
	}
}
