package failover

import (
	"strings"
	"testing"
	"time"
)

// TestWayToAWS (R8): alarms and the lease prove nothing where the standby
// receives log, and nothing else rests on the primary's way to AWS.
func TestWayToAWS(t *testing.T) {
	const s = time.Second
	standby := func(grew time.Duration) Observation {
		return Observation{Node: "b", Answer: Answered, Role: RoleStandby, ReadAt: now, HostTime: now, LogFlows: now.Add(-grew)}
	}
	with := func(o Observation, change func(*Observation)) Observation { change(&o); return o }
	lateMetrics := []Signal{SignalAlarm, SignalLease, SignalSilent}
	tests := []struct {
		name    string
		standby Observation
		signals []Signal
		doubt   bool
	}{
		{"log a moment ago", standby(4 * s), lateMetrics, true},
		{"log a minute ago", standby(60 * s), lateMetrics, true},
		{"no log for longer", standby(61 * s), lateMetrics, false},
		{"its answer is old", with(standby(40*s), func(o *Observation) { o.ReadAt = now.Add(-21 * s) }), lateMetrics, false},
		{"its clock is an hour behind", with(standby(time.Hour+4*s), func(o *Observation) { o.HostTime = now.Add(-time.Hour) }), lateMetrics, true},
		{"its clock was set back", with(standby(0), func(o *Observation) { o.HostTime = now.Add(-time.Hour) }), lateMetrics, false},
		{"nobody has seen it grow", Observation{Node: "b", Answer: Answered, ReadAt: now, HostTime: now}, lateMetrics, false},
		{"it does not answer", Observation{Node: "b", Answer: Silent, ReadAt: now, LogFlows: now}, lateMetrics, false},
		{"it has lost its primary since", with(standby(4*s), func(o *Observation) { o.PartnerLost = true }), lateMetrics, false},
		{"the standby heard nothing for as long as the lease stood still", standby(10 * s), append(lateMetrics, SignalStandbyView), false},
		{"the primary's agent told of a bad probe", standby(4 * s), append(lateMetrics, SignalProbe), false},
		{"the machine fails its status check", standby(4 * s), append(lateMetrics, SignalInstance), false},
		{"the node says that its database is not active", standby(4 * s), append(lateMetrics, SignalDatabaseDown), false},
		{"a person says so", standby(4 * s), append(lateMetrics, SignalHuman), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := question{at: now, suspect: Observation{Node: "a", Answer: Silent}, standby: tt.standby}
			for _, signal := range tt.signals {
				q.evidence = append(q.evidence, Evidence{Node: "a", Signal: signal, At: now})
			}
			doubt, first := q.doubt()
			if (doubt != "") != tt.doubt {
				t.Errorf("doubt %q, want one: %v", doubt, tt.doubt)
			}
			if tt.doubt && (!strings.Contains(doubt, "node b goes on receiving log of it") || !strings.Contains(first, "its way to AWS")) {
				t.Errorf("doubt %q, first %q: does not say what speaks for node a, and where to look", doubt, first)
			}
		})
	}
}
