package evidence

import (
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestLease: only a lease that stands where its watcher saw it is evidence, and
// only a standby that heard nothing for as long is a second witness of a primary
// that does not serve by its own word.
func TestLease(t *testing.T) {
	const s = time.Second
	seen := failover.LeaseSight{Epoch: 7, Counter: 41, At: now, Stood: 6100 * time.Millisecond}
	still := failover.Lease{Holder: "a", Epoch: 7, Counter: 41}
	standby := func(sight failover.LeaseSight, silence time.Duration) failover.Observation {
		return failover.Observation{Node: "b", Answer: failover.Answered, Role: failover.RoleStandby, LeaseStill: sight, PartnerSilence: silence}
	}
	// later is a view of that standby a while after the lease had expired.
	later := func(after, silence time.Duration) failover.Observation {
		o := standby(seen, silence)
		o.HostTime = now.Add(after)
		return o
	}
	tests := []struct {
		name    string
		watcher failover.Observation
		lease   failover.Lease
		want    []failover.Signal
	}{
		{"a primary that is cut off from AWS for long, and pauses once", later(5*time.Minute, 8*s), still, []failover.Signal{failover.SignalLease}},
		{"a primary that died when its lease was renewed last, seen late", later(5*time.Minute, 304*s), still, []failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"the record of the standby's agent is newer than its view", func() failover.Observation {
			o := later(20*s, 6*s)
			o.ViewedAt = now
			return o
		}(), still, []failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"the view is older than the end of the lease", func() failover.Observation {
			o := later(0, 5*s)
			o.ViewedAt = now.Add(-s)
			return o
		}(), still, []failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"it stands where it was seen; the standby hears its primary", standby(seen, s), still, []failover.Signal{failover.SignalLease}},
		{"the standby heard nothing for as long", standby(seen, 6*s), still, []failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"a last message came after the last renewal", standby(seen, 4*s), still, []failover.Signal{failover.SignalLease, failover.SignalStandbyView}},
		{"a commit came a moment later than it should", standby(seen, 3*s), still, []failover.Signal{failover.SignalLease}},
		{"its commits took long when it was renewed", standby(seen, 8*s), failover.Lease{Holder: "a", Epoch: 7, Counter: 41, Slow: true}, []failover.Signal{failover.SignalLease}},
		{"it waited for this standby when it was renewed (R4)", standby(seen, 8*s), failover.Lease{Holder: "a", Epoch: 7, Counter: 41, WaitingForStandby: true}, []failover.Signal{failover.SignalLease}},
		{"the standby's view is not readable", failover.Observation{Node: "b", Answer: failover.Silent, LeaseStill: seen, PartnerSilence: 6 * s}, still, []failover.Signal{failover.SignalLease}},
		{"sealed by this operation: it can't be renewed", standby(seen, s), failover.Lease{Holder: "a", Epoch: 7, Counter: 41, Sealed: true}, []failover.Signal{failover.SignalLease}},
		{"renewed since (R10)", standby(seen, 6*s), failover.Lease{Holder: "a", Epoch: 7, Counter: 42}, nil},
		{"of another epoch", standby(seen, 6*s), failover.Lease{Holder: "a", Epoch: 8, Counter: 41}, nil},
		{"stopped in order (R6)", standby(seen, 6*s), failover.Lease{Holder: "a", Epoch: 7, Counter: 41, Suspended: "db2stop"}, nil},
		{"nobody saw it stand still", standby(failover.LeaseSight{}, 6*s), failover.Lease{Holder: "a"}, nil},
		{"it is the other node's", standby(seen, 6*s), failover.Lease{Holder: "b", Epoch: 7, Counter: 41}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := Lease(failover.Observation{Node: "a"}, tt.watcher, tt.lease)
			if len(found) != len(tt.want) {
				t.Fatalf("evidence %+v, want %v", found, tt.want)
			}
			for i, e := range found {
				if e.Signal != tt.want[i] || e.Node != "a" || e.Conclusive {
					t.Errorf("evidence %+v, want %s", e, tt.want[i])
				}
			}
			if len(found) > 0 && !found[0].At.Equal(now) {
				t.Errorf("the lease expired at %s, want %s", found[0].At, now)
			}
		})
	}
}

// TestSilenceOfAnAgent: whoever says that his database serves is silent because
// his agent is, and nothing else tells of a failure.
func TestSilenceOfAnAgent(t *testing.T) {
	seen := failover.LeaseSight{Epoch: 7, Counter: 41, At: now, Stood: 6 * time.Second}
	still := failover.Lease{Holder: "a", Epoch: 7, Counter: 41}
	standby := failover.Observation{Node: "b", Answer: failover.Answered, Role: failover.RoleStandby, LeaseStill: seen, PartnerSilence: 6 * time.Second}
	tests := []struct {
		name    string
		suspect failover.Observation
		witness bool
	}{
		{"it has not answered yet", failover.Observation{}, true},
		{"it does not answer", failover.Observation{Answer: failover.Silent}, true},
		{"its answer is not understood", failover.Observation{Answer: failover.Unreadable}, true},
		{"it serves", failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive}, false},
		{"its database is not active", failover.Observation{Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseInactive}, true},
		{"it is no primary any more", failover.Observation{Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.suspect.Node = "a"
			if found := Lease(tt.suspect, standby, still); (len(found) == 2) != tt.witness {
				t.Errorf("evidence %+v, want a second witness: %v", found, tt.witness)
			}
		})
	}
}
