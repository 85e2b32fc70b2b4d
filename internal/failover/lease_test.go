package failover

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLeaseTiming(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name   string
		timing LeaseTiming
		wrong  string // "" = good
	}{
		{"default", LeaseTiming{Duration: 20 * s, Interval: 5 * s, Drift: DefaultDrift}, ""},
		{"fast", LeaseTiming{Duration: 6 * s, Interval: 2 * s, Drift: DefaultDrift}, ""},
		{"one lost renewal lets it expire", LeaseTiming{Duration: 6 * s, Interval: 3 * s}, "one lost renewal"},
		{"the drift counts", LeaseTiming{Duration: 6 * s, Interval: 2950 * time.Millisecond, Drift: 100 * time.Millisecond}, "one lost renewal"},
		{"self-demotion in time", LeaseTiming{Duration: 20 * s, Interval: 5 * s, Demote: 14 * s, Watchdog: 14 * s, Drift: s}, ""},
		{"self-demotion too late", LeaseTiming{Duration: 20 * s, Interval: 5 * s, Demote: 20 * s}, "stops itself after 20s"},
		{"watchdog too late", LeaseTiming{Duration: 20 * s, Interval: 5 * s, Demote: 14 * s, Watchdog: 20 * s}, "stops itself after 20s"},
		{"no interval", LeaseTiming{Duration: 20 * s}, "above 0"},
		{"negative", LeaseTiming{Duration: 20 * s, Interval: 5 * s, Drift: -s}, "negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.timing.Check(); (got == "") != (tt.wrong == "") || !strings.Contains(got, tt.wrong) {
				t.Errorf("Check = %q, want %q", got, tt.wrong)
			}
		})
	}
}

// TestLeaseTimingOracle checks the rule against known deadlines and watchdogs.
func TestLeaseTimingOracle(t *testing.T) {
	text, err := os.ReadFile("testdata/lease_timing.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Rows []struct {
			ID         string `json:"id"`
			Parameters struct {
				Deadline float64 `json:"renew_deadline_s"`
				Watchdog float64 `json:"watchdog_s"`
				Drift    float64 `json:"max_clock_rate_error_s"`
				Lease    float64 `json:"lease_s"`
			} `json:"parameters"`
			Expect struct {
				Safe bool `json:"safe"`
			} `json:"expect"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(text, &oracle); err != nil || len(oracle.Rows) == 0 {
		t.Fatalf("%d rows, %v", len(oracle.Rows), err)
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for _, row := range oracle.Rows {
		p := row.Parameters
		timing := LeaseTiming{Duration: seconds(p.Lease), Interval: time.Second, Demote: seconds(p.Deadline), Watchdog: seconds(p.Watchdog), Drift: seconds(p.Drift)}
		if why := timing.Check(); (why == "") != row.Expect.Safe {
			t.Errorf("%s: %+v: %q, safe %v", row.ID, timing, why, row.Expect.Safe)
		}
	}
}
