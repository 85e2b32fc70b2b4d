package postgresql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func (g *group) switchover(from, to failover.NodeConfig, epoch uint64) control.PromotionResult {
	g.t.Helper()
	p := g.order(to, epoch)
	p.InOrder, p.Other = true, from
	return g.engine.Promote(g.within(2*patience), p, nil)
}

// A switchover loses nothing even where replication is asynchronous, and goes
// there and back.
func TestSwitchoverAsync(t *testing.T) {
	g := newGroup(t, postgresql.Async)
	client := g.client()
	client.Await(t, 50, patience)
	for _, move := range []struct {
		from, to failover.NodeConfig
		epoch    uint64
	}{{nodeA, nodeB, 2}, {nodeB, nodeA, 3}} {
		began := time.Now()
		r := g.switchover(move.from, move.to, move.epoch)
		if r.Outcome != failover.OK || !strings.Contains(r.Detail, "no acknowledged commit is lost") {
			t.Fatalf("switchover: %+v", r)
		}
		g.Endpoint.Point(g.host(move.to.ID).Address())
		first := client.Await(t, 20, patience)
		t.Logf("switchover to %s, to the first acknowledged write: %s", move.to.ID, first.Sub(began).Round(time.Millisecond))
		g.eventually(move.from, "a fit standby", fit)
	}
	client.Stop()
	if lost := g.A.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged rows are lost: %v", len(lost), len(client.Acked()), lost)
	}
}

// Where the new primary can't take over, the old one goes on.
func TestSwitchoverIsUndone(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 20, patience)
	g.before = func(q command.Request) {
		if q.Document == "promote" {
			g.B.Freeze(t)
		}
	}
	r := g.switchover(nodeA, nodeB, 2)
	g.before = nil
	if r.Outcome != failover.Failed || !strings.Contains(r.Detail, "node a is primary again") {
		t.Fatalf("switchover: %+v", r)
	}
	g.B.Thaw(t)
	client.Await(t, 20, patience)
	g.eventually(nodeB, "a fit standby", fit)
	client.Stop()
	if lost := g.A.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
}

// R21: whoever resumes a switchover gets the results of the steps that have run.
func TestSwitchoverIsResumed(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	p := g.order(nodeB, 2)
	p.InOrder, p.Other = true, nodeA
	demoted, die := context.WithCancel(t.Context())
	g.before = func(q command.Request) {
		if q.Document == "promote" {
			die() // the runner dies after the old primary has stopped
		}
	}
	if r := g.engine.Promote(demoted, p, nil); r.Outcome != failover.Unknown {
		t.Fatalf("a runner that died knows: %+v", r)
	}
	g.before = nil
	if r := g.engine.Promote(g.within(2*patience), p, nil); r.Outcome != failover.OK {
		t.Fatalf("resumed: %+v", r)
	}
	g.eventually(nodeA, "a fit standby", fit)
}
