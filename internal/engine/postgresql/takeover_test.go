package postgresql_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// A crash under synchronous replication: whatever was acknowledged is there.
func TestCrashSync(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 50, patience)
	g.observe(nodeB) // as an agent does all the time
	g.A.Crash(t)
	crashed := time.Now()

	g.eventually(nodeA, "a primary that is down", func(o failover.Observation) bool {
		return o.Database == failover.DatabaseDown && o.Role == failover.RolePrimary
	})
	if o := g.eventually(nodeB, "without its primary", func(o failover.Observation) bool { return o.PartnerLost }); o.Fitness != failover.Fit {
		t.Fatalf("the standby: %+v", o)
	}
	r := g.promote(nodeB, 2)
	first := client.Await(t, 20, patience)
	t.Logf("crash to first acknowledged write on the new primary: %s (detection not included)", first.Sub(crashed).Round(time.Millisecond))
	client.Stop()
	if lost := g.B.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged rows are lost: %v", len(lost), len(client.Acked()), lost)
	}
	if !strings.Contains(r.Detail, "no acknowledged commit is lost") {
		t.Errorf("reported: %+v", r)
	}

	back := g.rejoin(nodeA, 2)
	if back.Outcome != failover.OK {
		t.Fatalf("rejoin: %+v\n%s", back, g.A.Log())
	}
	t.Logf("rejoin: %s", back.Detail)
	g.eventually(nodeA, "a fit standby", fit)
	g.eventually(nodeB, "a primary whose commits wait for its standby", func(o failover.Observation) bool {
		return o.PartnerStatus == "streaming sync" && !o.WaitsForStandby && !o.BlockedUntil.IsZero()
	})
	// A standby that follows already is left alone.
	started := g.A.Query(t, "SELECT pg_postmaster_start_time()::text")
	if r := g.rejoin(nodeA, 2); r.Outcome != failover.OK || g.A.Query(t, "SELECT pg_postmaster_start_time()::text") != started {
		t.Errorf("a second rejoin restarted the server: %+v", r)
	}
}

var (
	lossBound   = regexp.MustCompile(`at most ([0-9.]+) s are lost, from (\S+) to`)
	lossCommits = regexp.MustCompile(`with (\d+) commits`)
)

// A partition under asynchronous replication: the primary goes on and
// acknowledges what the standby never gets. No more is lost than is reported at
// the promotion, and the rejoin measures it (R33).
func TestPartitionAsync(t *testing.T) {
	g := newGroup(t, postgresql.Async, "autovacuum = off") // it commits, too, and every commit is counted below
	client := g.client()
	client.Await(t, 50, patience)
	g.observe(nodeB)
	g.ToA.Lose(false, true)
	client.Await(t, 100, patience)
	if o := g.eventually(nodeB, "without its primary", func(o failover.Observation) bool { return o.PartnerLost }); o.Fitness != failover.Fit {
		t.Fatalf("the standby: %+v", o)
	}
	g.A.Crash(t) // the fence
	r := g.promote(nodeB, 2)
	client.Await(t, 20, patience)
	client.Stop()

	lost := g.B.Missing(t, client.Acked())
	m := lossBound.FindStringSubmatch(r.Detail)
	if m == nil || len(lost) == 0 {
		t.Fatalf("%d acknowledged rows are lost, reported: %+v", len(lost), r)
	}
	since, err := time.Parse(time.RFC3339Nano, m[2])
	if err != nil || lost[0].At.Before(since) {
		t.Errorf("a row acknowledged at %s is lost, reported: %s (%v)", lost[0].At.UTC(), r.Detail, err)
	}
	t.Logf("%d of %d acknowledged rows are lost, over %s; reported: %s", len(lost), len(client.Acked()), lost[len(lost)-1].At.Sub(lost[0].At).Round(time.Millisecond), r.Detail)

	g.ToA.Heal()
	back := g.rejoin(nodeA, 2)
	if back.Outcome != failover.OK {
		t.Fatalf("rejoin: %+v", back)
	}
	// Rows may have been committed and not acknowledged.
	m = lossCommits.FindStringSubmatch(back.Detail)
	if m == nil {
		t.Fatalf("rejoin measured nothing: %+v", back)
	}
	if n, _ := strconv.Atoi(m[1]); n < len(lost) || n > len(lost)+client.Unanswered() {
		t.Errorf("rejoin measured %d lost commits, and %d acknowledged rows are lost: %s", n, len(lost), back.Detail)
	}
	g.eventually(nodeA, "a fit standby", fit)
}

// Beyond the declared RPO a promotion is refused before it is asked for.
func TestStandbyBeyondItsRPO(t *testing.T) {
	g := newGroup(t, postgresql.Async)
	g.settings["max_rpo_seconds"] = "1"
	g.client().Await(t, 20, patience)
	g.ToA.Lose(true, true)
	o := g.eventually(nodeB, "unfit", func(o failover.Observation) bool { return o.Fitness == failover.Unfit })
	if !strings.Contains(o.FitnessWhy, "max_rpo_seconds is 1") || o.HostTime.Before(o.PromoteUntil) {
		t.Errorf("the standby: %+v", o)
	}
}

// A frozen primary that wakes up after a takeover can acknowledge nothing: its
// commits wait for the standby that is primary now.
func TestFreezeSync(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 50, patience)
	g.observe(nodeB)
	g.A.Freeze(t)
	if o := g.observe(nodeA); o.Answer != failover.Unreadable {
		t.Errorf("the frozen primary: %+v", o)
	}
	if err := g.local(nodeA).Probe(g.within(time.Second), "a", g.settings); err == nil {
		t.Error("a probe of a frozen primary succeeds")
	}
	if o := g.eventually(nodeB, "without its primary", func(o failover.Observation) bool { return o.PartnerLost }); o.Fitness != failover.Fit {
		t.Fatalf("the standby: %+v", o)
	}
	g.promote(nodeB, 2)
	client.Await(t, 20, patience)

	g.A.Thaw(t)
	stale := pgtest.NewClient(t, g.A.Address()) // a client that never heard of the takeover
	pgtest.Eventually(t, patience, "a commit waits on the old primary", func() bool {
		return g.A.Query(t, "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0"
	})
	stale.Stop()
	client.Stop()
	if acked := stale.Acked(); len(acked) > 0 {
		t.Errorf("the old primary acknowledged %d rows after the takeover", len(acked))
	}
	if lost := g.B.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
	if back := g.rejoin(nodeA, 2); back.Outcome != failover.OK {
		t.Fatalf("rejoin: %+v", back)
	}
	g.eventually(nodeA, "a fit standby", fit)
}

// R4: where commits wait for a slow standby, the primary says so.
func TestSlowStandby(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 20, patience)
	stop := g.B.Stutter(t, 3*time.Second, 100*time.Millisecond)
	g.eventually(nodeA, "waiting for its standby", func(o failover.Observation) bool { return o.WaitsForStandby })
	stop()
	client.Await(t, 20, patience)
	g.eventually(nodeA, "going on", func(o failover.Observation) bool { return !o.WaitsForStandby })
}

// R21 on a real node: a duplicate gets the first answer, an old epoch and a late
// order are refused, and nothing happens to the server.
func TestOrdersOnARealNode(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	late := g.order(nodeB, 2)
	late.Deadline = time.Now().Add(-time.Minute)
	if r := g.engine.Promote(g.within(2*patience), late, nil); r.Outcome != failover.Failed || !strings.Contains(r.Detail, "deadline") {
		t.Errorf("late: %+v", r)
	}
	g.eventually(nodeB, "a standby still", fit)
	again := g.order(nodeB, 2)
	first := g.engine.Promote(g.within(2*patience), again, nil)
	if second := g.engine.Promote(g.within(2*patience), again, nil); first.Outcome != failover.OK || second != first {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if r := g.engine.Promote(g.within(2*patience), g.order(nodeB, 1), nil); r.Outcome != failover.Failed || !strings.Contains(r.Detail, "epoch 1 is over") {
		t.Errorf("old epoch: %+v", r)
	}
	if r := g.engine.Promote(g.within(2*patience), g.order(nodeB, 3), nil); r.Outcome != failover.OK || !strings.Contains(r.Detail, "primary already") {
		t.Errorf("promoted again: %+v", r)
	}
}
