package evidence

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// healthy is a pair in which a is primary and nothing is wrong.
func healthy() map[string]failover.Observation {
	return map[string]failover.Observation{
		"a": {
			Node: "a", Source: "command", ReadAt: now, Instance: failover.InstanceRunning, InstanceCheck: "ok",
			Answer: failover.Answered, Role: failover.RolePrimary, Database: failover.DatabaseActive,
			LastGoodProbe: now.Add(-5 * time.Second), LastBadProbe: now.Add(-time.Hour),
		},
		"b": {
			Node: "b", Source: "command", ReadAt: now, Instance: failover.InstanceRunning, InstanceCheck: "ok",
			Answer: failover.Answered, Role: failover.RoleStandby, Database: failover.DatabaseActive, State: "PEER",
		},
	}
}

func TestOf(t *testing.T) {
	config := failover.Config{LatencyThreshold: 20 * time.Second, Nodes: []failover.NodeConfig{{ID: "a"}, {ID: "b"}}}
	on := func(node string, f func(*failover.Observation)) func(map[string]failover.Observation) {
		return func(m map[string]failover.Observation) {
			o := m[node]
			f(&o)
			m[node] = o
		}
	}
	instance := func(s failover.InstanceState) func(map[string]failover.Observation) {
		return on("a", func(o *failover.Observation) { o.Instance = s })
	}
	type want struct {
		Signal     failover.Signal
		Conclusive bool
	}
	tests := []struct {
		name   string
		change func(map[string]failover.Observation)
		want   []want
	}{
		{"all is well", func(map[string]failover.Observation) {}, nil},
		{"instance stopped", instance(failover.InstanceStopped), []want{{failover.SignalInstance, true}}},
		{"instance terminated", instance(failover.InstanceTerminated), []want{{failover.SignalInstance, true}}},
		{"instance shutting down", instance(failover.InstanceShuttingDown), []want{{failover.SignalInstance, true}}},
		{"instance stopping: perhaps in order", instance(failover.InstanceStopping), []want{{failover.SignalInstance, false}}},
		{"instance not readable: no evidence", instance(failover.InstanceUnknown), nil},
		{"status check impaired", on("a", func(o *failover.Observation) { o.InstanceCheck = "impaired" }), []want{{failover.SignalInstance, false}}},
		{"no answer", on("a", func(o *failover.Observation) { o.Answer = failover.Silent }), []want{{failover.SignalSilent, false}}},
		{"not deliverable", on("a", func(o *failover.Observation) { o.Answer = failover.Undeliverable }), []want{{failover.SignalSilent, false}}},
		{"not asked: no evidence", on("a", func(o *failover.Observation) { o.Answer = failover.AnswerNone }), nil},
		{"not understood: the host lives", on("a", func(o *failover.Observation) { o.Answer = failover.Unreadable }), nil},
		{"server does not run", on("a", func(o *failover.Observation) { o.Database = failover.DatabaseDown }), []want{{failover.SignalDatabaseDown, true}}},
		{"database not active: does not stand alone", on("a", func(o *failover.Observation) { o.Database = failover.DatabaseInactive }), []want{{failover.SignalDatabaseDown, false}}},
		{"database state without an answer is stale", on("a", func(o *failover.Observation) {
			o.Answer, o.Database = failover.Silent, failover.DatabaseDown
		}), []want{{failover.SignalSilent, false}}},
		{"probe fails", on("a", func(o *failover.Observation) { o.LastBadProbe = now }), []want{{failover.SignalProbe, false}}},
		{"probe recovered", on("a", func(o *failover.Observation) { o.LastBadProbe, o.LastGoodProbe = now.Add(-2*time.Second), now }), nil},
		{"standby does not hear its primary", on("b", func(o *failover.Observation) { o.PartnerLost = true }), []want{{failover.SignalStandbyView, false}}},
		{"a standby that does not answer sees nothing", on("b", func(o *failover.Observation) {
			o.PartnerLost, o.Answer = true, failover.Silent
		}), nil},
		{"another primary is no standby", on("b", func(o *failover.Observation) { o.PartnerLost, o.Role = true, failover.RolePrimary }), nil},
		{"standby is down: nothing against the primary", on("b", func(o *failover.Observation) { o.Instance = failover.InstanceStopped }), nil},
		{"suspect was not read", func(m map[string]failover.Observation) { delete(m, "a") }, nil},
		{"host gone", func(m map[string]failover.Observation) {
			on("a", func(o *failover.Observation) { o.Answer, o.InstanceCheck = failover.Silent, "impaired" })(m)
			on("b", func(o *failover.Observation) { o.PartnerLost = true })(m)
		}, []want{{failover.SignalInstance, false}, {failover.SignalSilent, false}, {failover.SignalStandbyView, false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nodes := healthy()
			tt.change(nodes)
			var got []want
			for _, e := range Of("a", nodes, now, config) {
				got = append(got, want{e.Signal, e.Conclusive})
				if e.Node != "a" || e.At.IsZero() || e.Detail == "" || e.Source == "" {
					t.Errorf("evidence without node, time, detail or source: %+v", e)
				}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}
