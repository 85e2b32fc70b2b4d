package postgresql_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestObserveRealServers(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	a := g.observe(nodeA)
	if a.Answer != failover.Answered || a.Role != failover.RolePrimary || a.Database != failover.DatabaseActive || a.State != "read_write" ||
		a.PartnerLost || a.PartnerStatus != "streaming sync" || a.WaitsForStandby || a.SettingsDiffer != "" || a.Position == 0 {
		t.Errorf("primary: %+v", a)
	}
	b := g.observe(nodeB)
	if !fit(b) || b.State != "streaming" || b.ConnectedSince.IsZero() || b.Position < a.Position || !b.PromoteUntil.After(b.HostTime) {
		t.Errorf("standby: %+v, position of the primary before %d", b, a.Position)
	}
}

// A crash under synchronous replication: whatever was acknowledged is there.
func TestCrashSync(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 50, 20*time.Second)
	g.observe(nodeB) // as an agent does all the time
	g.A.Crash(t)
	crashed := time.Now()

	if o := g.observe(nodeA); o.Database != failover.DatabaseDown || o.Role != failover.RolePrimary {
		t.Errorf("the crashed primary: %+v", o)
	}
	if o := g.eventually(nodeB, "without its primary", func(o failover.Observation) bool { return o.PartnerLost }); o.Fitness != failover.Fit {
		t.Fatalf("the standby: %+v", o)
	}
	r := g.promote(nodeB, 2)
	first := client.Await(t, 20, 20*time.Second)
	t.Logf("crash to first acknowledged write on the new primary: %s (detection not included)", first.Sub(crashed).Round(time.Millisecond))
	client.Stop()
	if lost := g.B.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged rows are lost: %v", len(lost), len(client.Acked()), lost)
	}
	if !strings.Contains(r.Detail, "no acknowledged commit is lost") {
		t.Errorf("reported: %+v", r)
	}

	back := g.engine.Rejoin(g.within(time.Minute), g.order(nodeA, 2))
	if back.Outcome != failover.OK {
		t.Fatalf("rejoin: %+v\n%s", back, g.A.Log())
	}
	t.Logf("rejoin: %s", back.Detail)
	g.eventually(nodeA, "a fit standby", fit)
	if o := g.observe(nodeB); o.PartnerStatus != "streaming sync" || o.WaitsForStandby {
		t.Errorf("the new primary does not wait for its standby: %+v", o)
	}
}
