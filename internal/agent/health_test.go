package agent

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestLogFlow: log flows to a standby as long as every few views show more of
// it, and only what a primary sends counts.
func TestLogFlow(t *testing.T) {
	const s = time.Second
	standby := func(position uint64) failover.Observation {
		return failover.Observation{Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive, Position: position}
	}
	lost := func(o failover.Observation) failover.Observation { o.PartnerLost = true; return o }
	silent := failover.Observation{Answer: failover.Silent}
	primary := failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive, Position: 900}
	tests := []struct {
		name  string
		views []failover.Observation // one every 2 s; the pace is 6 s
		flows bool
	}{
		{"the first view knows nothing", []failover.Observation{standby(7)}, false},
		{"it stands still", []failover.Observation{standby(7), standby(7), standby(7)}, false},
		{"it grows", []failover.Observation{standby(7), standby(8)}, true},
		{"two views show nothing new", []failover.Observation{standby(7), standby(8), standby(8), standby(8)}, true},
		{"three do", []failover.Observation{standby(7), standby(8), standby(8), standby(8), standby(8)}, false},
		{"it flows again", []failover.Observation{standby(7), standby(8), standby(8), standby(8), standby(8), standby(9)}, true},
		{"it is shorter: another timeline", []failover.Observation{standby(7), standby(3)}, false},
		{"its end was not known before", []failover.Observation{standby(0), standby(8)}, false},
		{"it reads its own disk, without a primary", []failover.Observation{lost(standby(7)), lost(standby(8))}, false},
		{"it read its own disk, and has connected again", []failover.Observation{lost(standby(7)), standby(8)}, false},
		{"a view without an answer tells nothing", []failover.Observation{standby(7), standby(8), silent}, false},
		{"the next one does", []failover.Observation{standby(7), standby(8), silent, standby(8)}, true},
		{"what grew around a view without an answer is not counted", []failover.Observation{standby(7), silent, standby(8)}, false},
		{"the log of a primary is its own", []failover.Observation{primary, primary}, false},
		{"it was primary between", []failover.Observation{standby(7), standby(8), primary, standby(901)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var h health
			wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for i, o := range tt.views {
				began := time.Minute + 2*s*time.Duration(i)
				wall = wall.Add(-time.Hour) // whatever the host's clock does meanwhile
				h.viewed(o, nil, began, began+300*time.Millisecond, wall, 6*s)
			}
			o := h.observation()
			if want := wall.Add(-300 * time.Millisecond); tt.flows && !o.LogFlows.Equal(want) {
				t.Errorf("log flows %s, want at the last view, %s", o.LogFlows, want)
			}
			if !tt.flows && !o.LogFlows.IsZero() {
				t.Errorf("log flows %s, want no flow", o.LogFlows)
			}
		})
	}
}
