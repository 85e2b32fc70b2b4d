package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var at = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

func TestPrintHistory(t *testing.T) {
	var out strings.Builder
	printHistory(&out, []failover.Entry{
		{
			At: at, OperationID: "01J", Event: "started", Epoch: 8, Step: failover.StepRecheck,
			Reason: "takeover from a to b, fencing strict", Actor: "alarm orders-a",
			Evidence: []failover.Evidence{{Signal: failover.SignalSilent, Detail: "no answer in 3s", Source: "ssm"}},
		},
		{
			At: at.Add(20 * time.Second), OperationID: "01J", Event: "ended", Outcome: "ok", Epoch: 8, Step: failover.StepDone,
			Reason: "node b is primary in epoch 8",
			Phases: []failover.PhaseTime{
				{Step: failover.StepFence, Start: at, End: at.Add(1500 * time.Millisecond)},
				{Step: failover.StepConfirm, Start: at.Add(2 * time.Second), End: at.Add(3 * time.Second)},
				{Step: failover.StepConfirm, Start: at.Add(4 * time.Second), End: at.Add(5 * time.Second)},
			},
		},
		{At: at.Add(time.Minute), Event: "refused", Outcome: "refused", Epoch: 8, Reason: "maintenance: patching", Next: "hadr maintenance orders --off"},
	})
	want := `2026-11-29 03:00:00Z  STARTED  step recheck  operation 01J  epoch 8
    why:        takeover from a to b, fencing strict
    set off by: alarm orders-a
    evidence:   node_silent: no answer in 3s (ssm)
2026-11-29 03:00:20Z  ENDED (ok)  step done  operation 01J  epoch 8
    why:        node b is primary in epoch 8
    took:       fence 1.5 s, confirm 2.0 s
2026-11-29 03:01:00Z  REFUSED  epoch 8
    why:        maintenance: patching
    next:       hadr maintenance orders --off
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	out.Reset()
	printHistory(&out, nil)
	if out.String() != "Nothing has happened to this group yet.\n" {
		t.Errorf("empty history: %q", out.String())
	}
}

func TestPrintStatus(t *testing.T) {
	var out strings.Builder
	printStatus(&out, status{
		now: at,
		state: failover.State{
			Group: "orders", Epoch: 8, Primary: "b", Phase: failover.Blocked, Changed: at.Add(-time.Minute),
			Maintenance: failover.Maintenance{On: true, Reason: "patching"},
			Fenced:      map[string]failover.Fence{"a": {Epoch: 8, Method: "stop"}},
			Operation: &failover.Operation{
				ID: "01J", Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepVerify, StepSince: at,
				Blocked: "rtb-2 could not be led to it", Next: "aws ec2 replace-route, then: hadr resume orders",
			},
			Config: failover.Config{
				Preferred: "a", VIP: "10.99.0.1", Routes: []string{"rtb-2", "rtb-1"},
				Nodes: []failover.NodeConfig{{ID: "a", Instance: "i-a", ENI: "eni-a"}, {ID: "b", Instance: "i-b", ENI: "eni-b"}},
			},
		},
		nodes: map[string]failover.Observation{
			"b": {ReadAt: at.Add(-10 * time.Second), Role: failover.RolePrimary, State: "DISCONNECTED", PartnerStatus: "DISCONNECTED", Latency: 31 * time.Millisecond},
		},
		owners: map[string]string{"rtb-1": "eni-b", "rtb-2": "eni-a"},
	})
	want := `Group orders: blocked, epoch 8, node b is primary since 2026-11-29T02:59:00Z
    failed over: the preferred primary is node a
    maintenance: on, nothing is done automatically: patching
    operation:  01J takeover from a to b, step verify since 03:00:00Z
    blocked:    rtb-2 could not be led to it
    next:       aws ec2 replace-route, then: hadr resume orders
    node:       a (i-a, recorded standby), fenced by stop in epoch 8, not confirmed: no record of its agent
    node:       b (i-b, recorded primary): primary, DISCONNECTED DISCONNECTED, SQL 31ms
    route:      10.99.0.1/32 in rtb-1 leads to node b (eni-b)
    route:      10.99.0.1/32 in rtb-2 leads to node a (eni-a)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestPrintNode(t *testing.T) {
	st := status{now: at, state: failover.State{Primary: "a"}}
	n := failover.NodeConfig{ID: "a", Instance: "i-a"}
	for _, tt := range []struct {
		name string
		seen failover.Observation
		want string
	}{
		{"before its agent runs", failover.Observation{ReadAt: at, Role: failover.RolePrimary, State: "PEER", PartnerStatus: "CONNECTED"}, "primary, PEER CONNECTED, SQL not measured yet"},
		{"while its database is down", failover.Observation{ReadAt: at, Role: failover.RolePrimary, Latency: 20001 * time.Millisecond}, "primary, SQL 20.001s"},
		{"the primary is never fit to be promoted", failover.Observation{ReadAt: at, Role: failover.RolePrimary, Latency: time.Millisecond, FitnessWhy: "it is primary already"}, "primary, SQL 1ms"},
		{"a primary whose agent was stopped", failover.Observation{ReadAt: at.Add(-2 * time.Minute), Role: failover.RolePrimary, State: "PEER", FitnessWhy: "its agent: it was stopped", Trouble: "it was stopped"}, "last heard of 2m0s ago as primary PEER; its agent: it was stopped"},
		{"a standby whose agent was stopped", failover.Observation{ReadAt: at, Role: failover.RoleStandby, State: "PEER", Latency: time.Millisecond, FitnessWhy: "its agent: it was stopped", Trouble: "it was stopped"}, "standby, PEER, SQL 1ms; not fit: its agent: it was stopped"},
		{"long ago", failover.Observation{ReadAt: at.Add(-2 * time.Minute), Role: failover.RolePrimary, State: "PEER"}, "last heard of 2m0s ago as primary PEER"},
	} {
		var out strings.Builder
		st.nodes = map[string]failover.Observation{"a": tt.seen}
		printNode(&out, st, n)
		if want := "    node:       a (i-a, recorded primary): " + tt.want + "\n"; out.String() != want {
			t.Errorf("%s: got %q, want %q", tt.name, out.String(), want)
		}
	}
}
