package postgresql

import (
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const second = time.Second

func TestCheckTiming(t *testing.T) {
	tests := []struct {
		name   string
		window time.Duration
		timing Timing
		want   string
		fits   bool
	}{
		{"alarms alone, default window", 300 * second, Timing{Detection: 170 * second, FenceTimeout: 90 * second},
			"contact 20 + detection 170 + decision 10 + one resume 60 + command delivery 5 + fence 90 + clock offset 2 + margin 10 = 367 s > 300 s", false},
		{"a lease of 20 s, which fences by itself", 300 * second, Timing{Contact: 5 * second, Detection: 25 * second},
			"contact 5 + detection 25 + decision 10 + one resume 60 + command delivery 5 + fence 0 + clock offset 2 + margin 10 = 117 s <= 300 s", true},
		{"to the second", 117 * second, Timing{Contact: 5 * second, Detection: 25 * second}, "= 117 s <= 117 s", true},
		{"a second less", 116 * second, Timing{Contact: 5 * second, Detection: 25 * second}, "= 117 s > 116 s", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := CheckTiming(Settings{Mode: Sync, Window: tt.window}, tt.timing)
			if b.Fits() != tt.fits || !strings.HasSuffix(b.String(), tt.want) {
				t.Errorf("%v: %s, want %s", b.Fits(), b, tt.want)
			}
		})
	}
}

// The rule holds strictly: at the same moment two nodes could write.
func TestCheckLease(t *testing.T) {
	tests := []struct {
		name  string
		lease Lease
		want  string
		fits  bool
	}{
		{"20 s", Lease{Duration: 20 * second, Demote: 10 * second, Fence: 4 * second, Watchdog: 14 * second, Drift: second}, "demote after 10 + fence 4 + clock drift 1 = 15 s < 20 s", true},
		{"the watchdog comes later", Lease{Duration: 20 * second, Demote: 10 * second, Fence: 4 * second, Watchdog: 18 * second, Drift: second}, "watchdog 18 + clock drift 1 = 19 s < 20 s", true},
		{"the watchdog comes too late", Lease{Duration: 20 * second, Demote: 10 * second, Fence: 4 * second, Watchdog: 19 * second, Drift: second}, "watchdog 19 + clock drift 1 = 20 s >= 20 s", false},
		{"6 s", Lease{Duration: 6 * second, Demote: 3 * second, Fence: 2 * second, Drift: second / 2}, "demote after 3 + fence 2 + clock drift 0.5 = 5.5 s < 6 s", true},
		{"6 s leave no time for a fence of 4 s", Lease{Duration: 6 * second, Demote: 2 * second, Fence: 4 * second}, "demote after 2 + fence 4 + clock drift 0 = 6 s >= 6 s", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if b := CheckLease(tt.lease); b.Fits() != tt.fits || b.String() != tt.want {
				t.Errorf("%v: %s, want %s", b.Fits(), b, tt.want)
			}
		})
	}
}

func TestCheckSettings(t *testing.T) {
	fast := Timing{Contact: 5 * second, Detection: 25 * second}
	tests := []struct {
		name     string
		settings Settings
		policy   failover.Policy
		timing   Timing
		setting  string // "" = nothing found
		fatal    bool
	}{
		{"sync fits", Settings{Mode: Sync, Window: 300 * second}, failover.Automatic, fast, "", false},
		{"sync with alarms alone", Settings{Mode: Sync, Window: 300 * second}, failover.Automatic, Timing{Detection: 300 * second}, "sync_window_seconds", true},
		{"async with an RPO that detection alone uses up", Settings{Mode: Async, Window: 30 * second}, failover.Automatic, fast, "max_rpo_seconds", true},
		{"the same, and a human decides", Settings{Mode: Async, Window: 30 * second}, failover.Approval, fast, "max_rpo_seconds", false},
		{"async fits", Settings{Mode: Async, Window: 120 * second}, failover.Automatic, fast, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := CheckSettings(tt.settings, tt.policy, tt.timing)
			if len(found) == 0 && tt.setting == "" {
				return
			}
			if len(found) != 1 || found[0].Setting != tt.setting || found[0].Error != tt.fatal || !strings.Contains(found[0].Detail, "detection") {
				t.Errorf("found %+v, want %q, fatal %v", found, tt.setting, tt.fatal)
			}
		})
	}
}

func TestCheckLeaseSettings(t *testing.T) {
	sound := Lease{Duration: 20 * second, Interval: 5 * second, Demote: 10 * second, Fence: 4 * second, Watchdog: 14 * second, Drift: second}
	change := func(f func(*Lease)) Lease { l := sound; f(&l); return l }
	tests := []struct {
		name    string
		mode    Mode
		lease   Lease
		setting string
		fatal   bool
	}{
		{"sound", Async, sound, "", false},
		{"it outlives its lease", Async, change(func(l *Lease) { l.Demote = 15 * second }), "lease_seconds", true},
		{"one lost renewal demotes", Async, change(func(l *Lease) { l.Interval = 6 * second }), "lease_interval_seconds", false},
		{"async without a watchdog", Async, change(func(l *Lease) { l.Watchdog = 0 }), "watchdog_seconds", true},
		{"sync without a watchdog: it can acknowledge nothing alone", Sync, change(func(l *Lease) { l.Watchdog = 0 }), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := CheckLeaseSettings(Settings{Mode: tt.mode}, failover.Automatic, tt.lease)
			if len(found) == 0 && tt.setting == "" {
				return
			}
			if len(found) != 1 || found[0].Setting != tt.setting || found[0].Error != tt.fatal {
				t.Errorf("found %+v, want %q, fatal %v", found, tt.setting, tt.fatal)
			}
		})
	}
}
