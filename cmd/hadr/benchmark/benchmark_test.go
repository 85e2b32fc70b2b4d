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

// BenchmarkFailures plays failures of the primary, 1,000 of each case or
// HADR_BENCH_FAILURES, from seed 1 or HADR_BENCH_SEED on, and measures from the
// failure to the first write that the new primary acknowledges. It runs in
// virtual time: the figures do not depend on the machine.
func BenchmarkFailures(b *testing.B) {
	failures, seed := number(b, "HADR_BENCH_FAILURES", 1000), number(b, "HADR_BENCH_SEED", 1)
	for i, c := range Cases {
		b.Run(c.Name, func(b *testing.B) {
			var outages []Outage
			for b.Loop() {
				var err error
				if outages, err = ask(b.Context(), b.TempDir(), i, failures, uint64(seed)); err != nil {
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
