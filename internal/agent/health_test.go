package agent

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestLogGrowth: a standby's log grew after the view before the one that has
// more of it, and only what a primary sent counts.
func TestLogGrowth(t *testing.T) {
	const s = time.Second
	standby := func(position uint64) failover.Observation {
		return failover.Observation{Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive, Position: position}
	}
	lost := func(o failover.Observation) failover.Observation { o.PartnerLost = true; return o }
	silent := failover.Observation{Answer: failover.Silent}
	primary := failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive, Position: 900}
	tests := []struct {
		name  string
		views []failover.Observation // one every 2 s
		ago   time.Duration          // before the last view began; -1 = unknown
	}{
		{"the first view knows nothing", []failover.Observation{standby(7)}, -1},
		{"it stands still", []failover.Observation{standby(7), standby(7), standby(7)}, -1},
		{"it grows", []failover.Observation{standby(7), standby(8)}, 2 * s},
		{"it has grown and stands still", []failover.Observation{standby(7), standby(8), standby(8), standby(8)}, 6 * s},
		{"it grows again", []failover.Observation{standby(7), standby(8), standby(8), standby(9)}, 2 * s},
		{"it is shorter: another timeline", []failover.Observation{standby(7), standby(3)}, -1},
		{"its end was not known before", []failover.Observation{standby(0), standby(8)}, -1},
		{"it reads its own disk, without a primary", []failover.Observation{lost(standby(7)), lost(standby(8))}, -1},
		{"it read its own disk, and has connected again", []failover.Observation{lost(standby(7)), standby(8)}, -1},
		{"the primary was lost after it grew", []failover.Observation{standby(7), standby(8), lost(standby(8))}, 4 * s},
		{"a view without an answer changes nothing", []failover.Observation{standby(7), standby(8), silent, standby(8)}, 6 * s},
		{"what grew around a view without an answer is not counted", []failover.Observation{standby(7), silent, standby(8)}, -1},
		{"the log of a primary is its own", []failover.Observation{primary, primary}, -1},
		{"it was primary between", []failover.Observation{standby(7), standby(8), primary, standby(901)}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var h health
			wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for i, o := range tt.views {
				began := time.Minute + 2*s*time.Duration(i)
				wall = wall.Add(-time.Hour) // whatever the host's clock does meanwhile
				h.viewed(o, nil, began, began+300*time.Millisecond, wall)
			}
			o := h.observation()
			got := o.ViewedAt.Sub(o.LogGrew)
			if o.LogGrew.IsZero() {
				got = -1
			}
			if got != tt.ago {
				t.Errorf("the log grew %s before the last view, want %s", got, tt.ago)
			}
		})
	}
}
