package detection

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// leaseRow is a row of lease_timing.json. Its rows about herds, mutants and the
// rule of safety are not about time.
type leaseRow struct {
	ID, Kind, Scheme string
	Parameters       struct {
		Survivors    int
		LeaseS       float64 `json:"lease_s"`
		HeartbeatS   float64 `json:"heartbeat_s"`
		PollS        float64 `json:"poll_s"`
		Synchronised bool
	}
	Times     map[string]float64 `json:"expect_s"`
	Tolerance map[string]float64 `json:"tolerance_s"`
}

func leaseRows(t *testing.T, kind string) []leaseRow {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "lease_timing.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Rows []leaseRow }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	rows := slices.DeleteFunc(f.Rows, func(r leaseRow) bool { return r.Kind != kind })
	if len(rows) == 0 {
		t.Fatalf("no rows of kind %s", kind)
	}
	return rows
}

func secs(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

func TestLeaseTimesOfTheOracle(t *testing.T) {
	for _, row := range leaseRows(t, "reclaim_time") {
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			p := row.Parameters
			l := Lease{
				Duration: secs(p.LeaseS), Heartbeat: secs(p.HeartbeatS), Poll: secs(p.PollS), Watchers: p.Survivors,
				InStep: p.Synchronised, Absolute: strings.HasPrefix(row.Scheme, "absolute"),
			}
			r, err := Simulation{Sets: []Set{{Name: row.ID, Detectors: []Detector{l}}}, Failures: []Failure{Host}, Trials: 100_000, Seed: 1}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			x := r.Sets[0].Failures[0]
			for name, got := range map[string]time.Duration{"min": x.Min, "p50": x.P50, "p95": x.P95, "p99": x.P99, "max": x.Max, "mean": x.Mean} {
				if d := got.Seconds() - row.Times[name]; max(d, -d) > row.Tolerance[name] {
					t.Errorf("%s is %.2f s, want %.1f s", name, got.Seconds(), row.Times[name])
				}
			}
			if x.Max > x.Worst {
				t.Errorf("%s after the crash; the worst case is %s", x.Max, x.Worst)
			}
		})
	}
}

// A renewal that rests on an old round trip keeps a hung database alive.
func TestLeaseOfAHungDatabase(t *testing.T) {
	fresh := Lease{Duration: 20 * time.Second, Heartbeat: 5 * time.Second, Poll: 2 * time.Second}
	stale := fresh
	stale.Health = 40 * time.Second
	for _, c := range []struct {
		lease   Lease
		failure Failure
		worst   time.Duration
	}{
		{fresh, Host, 22 * time.Second},
		{fresh, Hang, 22 * time.Second},
		{fresh, Crash, 22 * time.Second},
		{stale, Host, 22 * time.Second},
		{stale, Hang, 62 * time.Second},
		{stale, Crash, 27 * time.Second}, // one more renewal before the next round trip fails
	} {
		r, err := Simulation{Sets: []Set{{Name: "x", Detectors: []Detector{c.lease}}}, Failures: []Failure{c.failure}, Trials: 20_000}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x := r.Sets[0].Failures[0]
		if x.Worst != c.worst || x.Max > x.Worst || x.Max < x.Worst-2*time.Second {
			t.Errorf("%s, health %s: worst %s, longest %s, want %s", c.failure, c.lease.Health, x.Worst, x.Max, c.worst)
		}
	}
}

func TestLeaseRefuses(t *testing.T) {
	for want, l := range map[string]Lease{
		"must be above 0":         {Duration: time.Second, Heartbeat: 0, Poll: time.Second},
		"below the duration":      {Duration: 5 * time.Second, Heartbeat: 5 * time.Second, Poll: time.Second},
		"must not be negative":    {Duration: 5 * time.Second, Heartbeat: time.Second, Poll: time.Second, Health: -1},
		"longer than an hour":     {Duration: 2 * time.Hour, Heartbeat: time.Second, Poll: time.Second},
		"must be at least 100 ms": {Duration: time.Second, Heartbeat: time.Millisecond, Poll: time.Second},
	} {
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}

// What lets a healthy primary look dead: nothing while all arrives; a cut that
// is longer than the lease allows; three renewals lost in a row. A watcher
// whose reads fail waits longer instead.
func TestFalseExpiries(t *testing.T) {
	short := Lease{Duration: 6 * time.Second, Heartbeat: 2 * time.Second, Poll: time.Second}
	long := Lease{Duration: 20 * time.Second, Heartbeat: 5 * time.Second, Poll: 2 * time.Second}
	cut := Conditions{Cuts: 30, CutLength: 15 * time.Second}
	for _, c := range []struct {
		name       string
		lease      Lease
		conditions Conditions
		min, max   float64 // a month
	}{
		{"all arrives", short, Conditions{Ingestion: Assumed.Ingestion, Call: Assumed.Call}, 0, 0},
		{"every cut of 15 s expires a lease of 6 s", short, cut, 25, 36},
		{"and none of 20 s", long, cut, 0, 0},
		{"a cut of 30 s does", long, Conditions{Cuts: 30, CutLength: 30 * time.Second}, 25, 36},
		// A gap of two lost renewals is 6 s long and three are needed for certain:
		// between them it depends on the phase of the watcher.
		{"one renewal in fifty is lost", short, Conditions{Loss: 0.02}, 5, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := Simulation{Sets: []Set{{Name: "x", Detectors: []Detector{c.lease}}}, Trials: 1, Days: 400, Seed: 7, Healthy: c.conditions}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Sets[0].FalseAlarms.PerMonth(); got < c.min || got > c.max {
				t.Errorf("%.1f false expiries a month, want %g to %g", got, c.min, c.max)
			}
		})
	}
}

// R6: only reads that succeed one after the other prove that a lease stands
// still; a gap between them starts the wait anew.
func TestGapsInReadingStartTheWaitAnew(t *testing.T) {
	l := Lease{Duration: 20 * time.Second, Heartbeat: 5 * time.Second, Poll: 5 * time.Second}
	r, err := Simulation{Sets: []Set{{Name: "x", Detectors: []Detector{l}}}, Failures: []Failure{Host}, Trials: 10_000, Seed: 1, Conditions: Conditions{Loss: 0.3}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if x := r.Sets[0].Failures[0]; x.P50 < 30*time.Second {
		t.Errorf("half of the failures are noticed within %s, though a read in three fails", x.P50)
	}
}
