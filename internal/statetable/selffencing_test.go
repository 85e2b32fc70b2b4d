package statetable

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestCheckLease(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name               string
		duration, interval time.Duration
		fences             bool
		watchdog           time.Duration
		says               string
	}{
		{"default", 20 * s, 5 * s, false, 30 * s, ""},
		{"fast", 6 * s, 2 * s, false, 0, ""},
		{"one lost renewal", 6 * s, 3 * s, false, 0, "one lost renewal"},
		{"fences itself", 20 * s, 5 * s, true, 0, ""},
		{"fences itself, fast", 6 * s, 2 * s, true, 0, ""},
		{"no room for two renewals before the fence", 5 * s, 2 * s, true, 0, "would stop a healthy database"},
		{"a hung agent is killed in time", 20 * s, 5 * s, true, 10 * s, ""},
		{"a hung agent is killed too late", 20 * s, 5 * s, true, 30 * s, "another node could be primary before"},
		{"a watchdog that is just too late", 20 * s, 5 * s, true, 14900 * time.Millisecond, "another node could be primary before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Probe{LeaseDuration: tt.duration, LeaseInterval: tt.interval, SelfFencing: tt.fences}.CheckLease(tt.watchdog)
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("CheckLease = %q, want %q", got, tt.says)
			}
		})
	}
}

// Whatever is accepted is over before anybody else may take the lease.
func TestSelfFenceEndsBeforeTheLease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Probe{
			LeaseDuration: time.Duration(rapid.Int64Range(1, 300_000).Draw(t, "duration")) * time.Millisecond,
			LeaseInterval: time.Duration(rapid.Int64Range(1, 60_000).Draw(t, "interval")) * time.Millisecond, SelfFencing: true,
		}
		watchdog := time.Duration(rapid.Int64Range(0, 60_000).Draw(t, "watchdog")) * time.Millisecond
		if p.CheckLease(watchdog) != "" {
			return
		}
		f := p.SelfFence()
		if f.After+f.Limit+failover.DefaultDrift >= p.LeaseDuration || watchdog > 0 && watchdog+f.Limit+failover.DefaultDrift >= p.LeaseDuration {
			t.Errorf("%+v with a watchdog of %s outlives its lease: %+v", p, watchdog, f)
		}
		if f.After < 2*p.LeaseInterval {
			t.Errorf("%+v: one lost renewal fences after %s", p, f.After)
		}
	})
}
