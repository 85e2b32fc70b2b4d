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
		views []failover.Observation // one every 2 s, each second one a little late
		flows int                    // the view, counted from 1, in which it flowed last; 0 = it does not flow
	}{
		{"the first view knows nothing", []failover.Observation{standby(7)}, 0},
		{"it stands still", []failover.Observation{standby(7), standby(7), standby(7)}, 0},
		{"it grows", []failover.Observation{standby(7), standby(8)}, 2},
		{"two views show nothing new", []failover.Observation{standby(7), standby(8), standby(8), standby(8)}, 4},
		{"three do", []failover.Observation{standby(7), standby(8), standby(8), standby(8), standby(8)}, 0},
		{"it flows again", []failover.Observation{standby(7), standby(8), standby(8), standby(8), standby(8), standby(9)}, 6},
		{"it is shorter: another timeline", []failover.Observation{standby(7), standby(3)}, 0},
		{"its end was not known before", []failover.Observation{standby(0), standby(8)}, 0},
		{"it reads its own disk, without a primary", []failover.Observation{lost(standby(7)), lost(standby(8))}, 0},
		{"it read its own disk, and has connected again", []failover.Observation{lost(standby(7)), standby(8)}, 0},
		{"a view without an answer takes nothing back", []failover.Observation{standby(7), standby(8), silent}, 2},
		{"nor do many: what was seen has its time", []failover.Observation{standby(7), standby(8), silent, silent, silent, silent}, 2},
		{"the next one does", []failover.Observation{standby(7), standby(8), silent, standby(8)}, 4},
		{"what grew around a view without an answer came after the one before", []failover.Observation{standby(7), silent, standby(8), standby(8)}, 4},
		{"and too long ago", []failover.Observation{standby(7), silent, standby(8), standby(8), standby(8)}, 0},
		{"nobody looked for too long to know when it grew", []failover.Observation{standby(7), silent, silent, silent, standby(8)}, 0},
		{"it lost its primary between", []failover.Observation{standby(7), lost(standby(7)), standby(8)}, 0},
		{"the log of a primary is its own", []failover.Observation{primary, primary}, 0},
		{"it was primary between", []failover.Observation{standby(7), standby(8), primary, standby(901)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var h health
			wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var want time.Time
			for i, o := range tt.views {
				began := time.Minute + 2*s*time.Duration(i) + 100*time.Millisecond*time.Duration(i%2)
				wall = wall.Add(-time.Hour) // whatever the host's clock does meanwhile
				h.viewed(o, nil, began, began+300*time.Millisecond, wall, pace(2*s))
				if i+1 == tt.flows {
					want = wall.Add(-300 * time.Millisecond)
				}
			}
			if o := h.observation(); !o.LogFlows.Equal(want) {
				t.Errorf("log flows %s, want %s", o.LogFlows, want)
			}
		})
	}
}
