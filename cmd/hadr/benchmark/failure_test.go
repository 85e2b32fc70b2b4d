package benchmark

import (
	"testing"
	"time"
)

// TestFailures: some failures, always the same ones, end as fast as they did, in
// virtual time: a step that waits for nothing shows. So few scatter; the aims are
// those of BenchmarkFailures.
func TestFailures(t *testing.T) {
	tests := []struct {
		which    int
		seeds    int
		p50, max time.Duration
	}{
		{shortLease, 4, 15 * time.Second, 26 * time.Second},
		{databaseOnly, 3, 11 * time.Second, 26 * time.Second},
	}
	for _, tt := range tests {
		c := Cases[tt.which]
		t.Run(c.Name, func(t *testing.T) {
			outages := many(t, 1, tt.seeds, func(t *testing.T, seed uint64) Outage { return fail(t, c, seed) })
			if f := Sum(c.Name, outages); len(f.Lost) > 0 || f.Restored.P50 > tt.p50 || f.Restored.Max > tt.max {
				t.Errorf("want p50 %s, max %s\n%s", tt.p50, tt.max, f)
			}
		})
	}
}
