package db2

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const s = time.Second

func TestCheckTiming(t *testing.T) {
	tests := []struct {
		name                string
		timing              Timing
		required, available time.Duration
	}{
		{"alarms alone, strict fence",
			Timing{PeerWindow: 320 * s, HADRTimeout: 120 * s, Detection: 80 * s, Fencing: failover.Strict, FenceTimeout: 120 * s},
			287 * s, 290 * s},
		{"the stop need only be accepted",
			Timing{PeerWindow: 320 * s, HADRTimeout: 120 * s, Detection: 180 * s, Fencing: failover.PeerWindow, FenceTimeout: 120 * s},
			277 * s, 290 * s},
		{"lease and quick resume",
			Timing{PeerWindow: 120 * s, HADRTimeout: 60 * s, Detection: 30 * s, Resume: 20 * s, Fencing: failover.PeerWindow},
			87 * s, 105 * s},
		{"heartbeat as db2pd shows it",
			Timing{PeerWindow: 300 * s, HADRTimeout: 120 * s, Heartbeat: 5 * s, Detection: 100 * s, Fencing: failover.PeerWindow},
			197 * s, 295 * s},
		{"no window", Timing{HADRTimeout: 60 * s, Fencing: failover.PeerWindow}, 97 * s, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := CheckTiming(tt.timing)
			if b.Required != tt.required || b.Available != tt.available || b.Fits() != (tt.required <= tt.available) {
				t.Errorf("%s (required %s, available %s), want %s, %s", b, b.Required, b.Available, tt.required, tt.available)
			}
		})
	}
}

func TestHeartbeat(t *testing.T) {
	for _, tt := range []struct{ timeout, window, want time.Duration }{
		{30 * s, 300 * s, 7500 * time.Millisecond}, {60 * s, 300 * s, 15 * s}, {120 * s, 300 * s, 30 * s},
		{600 * s, 600 * s, 30 * s}, {120 * s, 40 * s, 10 * s}, {120 * s, 0, 30 * s},
	} {
		if got := Heartbeat(tt.timeout, tt.window); got != tt.want {
			t.Errorf("Heartbeat(%s, %s) = %s, want %s", tt.timeout, tt.window, got, tt.want)
		}
	}
}

func TestCheckSettings(t *testing.T) {
	long := Timing{PeerWindow: 400 * s, HADRTimeout: 120 * s, Detection: 80 * s, Fencing: failover.Strict, FenceTimeout: 120 * s}
	short, none := long, long
	short.PeerWindow, none.PeerWindow = 120*s, 0
	tests := []struct {
		name     string
		syncmode string
		timing   Timing
		setting  string // "" = nothing to say
		says     string
	}{
		{"long window", "NEARSYNC", long, "", ""},
		{"short window", "NEARSYNC", short, "peer_window_seconds", "needs 287 s and has 90 s"},
		{"it says how long a window fits", "NEARSYNC", short, "peer_window_seconds", "at least 317"},
		{"no window", "SYNC", none, "peer_window_seconds", "at least 317"},
		{"ASYNC", "ASYNC", long, "syncmode", "SYNC or NEARSYNC"},
		{"SUPERASYNC", "SUPERASYNC", long, "syncmode", "SYNC or NEARSYNC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for policy, fatal := range map[failover.Policy]bool{failover.Automatic: true, failover.Approval: false, failover.Observe: false} {
				found := CheckSettings(Settings{SyncMode: tt.syncmode}, policy, tt.timing)
				if tt.setting == "" {
					if len(found) > 0 {
						t.Errorf("%s: %+v", policy, found)
					}
					continue
				}
				if len(found) != 1 || found[0].Setting != tt.setting || found[0].Error != fatal || !strings.Contains(found[0].Detail, tt.says) {
					t.Errorf("%s: %+v, want one about %s (error %v) that says %q", policy, found, tt.setting, fatal, tt.says)
				}
			}
		})
	}
}

// The window that an error names fits, and one second less does not.
func TestSmallestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(label string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * s
		}
		timing := Timing{HADRTimeout: seconds("timeout", 4, 600), Detection: seconds("detection", 0, 600), Fencing: failover.Strict, FenceTimeout: seconds("fence", 0, 600)}
		timing.PeerWindow = timing.smallestWindow()
		if !CheckTiming(timing).Fits() {
			t.Fatalf("%s does not fit: %s", timing.PeerWindow, CheckTiming(timing))
		}
		timing.PeerWindow -= s
		if CheckTiming(timing).Fits() {
			t.Fatalf("%s fits, too: %s", timing.PeerWindow, CheckTiming(timing))
		}
	})
}
