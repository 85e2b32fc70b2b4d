package postgresql_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var _ agent.Database = postgresql.Local{}

// A pair in which nothing happens, as the control plane and the agents see it.
func TestHealthyPair(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	primary := g.eventually(nodeA, "primary", failover.Observation.ServesAsPrimary)
	standby := g.eventually(nodeB, "a fit standby", fit)
	if primary.State != "read_write" || primary.PartnerLost ||
		primary.PartnerStatus != "streaming sync" || primary.WaitsForStandby || primary.SettingsDiffer != "" || primary.Position == 0 {
		t.Errorf("primary: %+v", primary)
	}
	if standby.State != "streaming" || standby.ConnectedSince.IsZero() || standby.Position < primary.Position || !standby.PromoteUntil.After(standby.HostTime) {
		t.Errorf("standby: %+v, position of the primary before %d", standby, primary.Position)
	}
	a := g.local(nodeA)
	if o := g.view(nodeA, "primary", failover.Observation.ServesAsPrimary); o.ReadAt.IsZero() || o.Trouble != "" {
		t.Errorf("view of the primary: %+v", o)
	}
	if o := g.view(nodeB, "a fit standby", fit); o.Trouble != "" {
		t.Errorf("view of the standby: %+v", o)
	}
	g.sessionsSeeTheSame()
	for range 2 {
		if err := a.Probe(g.within(patience), "a", g.settings); err != nil {
			t.Errorf("probe: %v", err)
		}
	}
	if n := g.A.Query(t, "SELECT seq::text FROM haprobe.beat WHERE node = 'a'"); n != "2" {
		t.Errorf("row of the probe: %s, want 2", n)
	}
	setup, ok := errors.AsType[agent.SetupError](a.Probe(g.within(patience), "c", g.settings))
	if !ok || !strings.Contains(setup.Error(), "0 rows for node c") {
		t.Errorf("probe for an unknown node: %v", setup)
	}
	if err := g.local(nodeB).Probe(g.within(patience), "b", g.settings); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("probe of a standby: %v", err)
	}
	// A quiet primary is no lag, and no silence: it answers the standby's pings.
	pgtest.Eventually(t, patience, "a ping passes", func() bool {
		return g.observe(nodeB).PromoteUntil.Sub(standby.PromoteUntil) > 3*time.Second
	})
	g.eventually(nodeB, "fit after a quiet while", fit)
}

// sessionsSeeTheSame: an agent that starts no process reads what the script
// reads.
func (g *group) sessionsSeeTheSame() {
	g.t.Helper()
	for _, n := range []failover.NodeConfig{nodeA, nodeB} {
		l := g.local(n)
		by := l
		by.Session, by.Shell = &postgresql.Session{}, noShell{g.t}
		defer by.Session.Close()
		script, session := l.View(g.within(patience), g.settings), by.View(g.within(patience), g.settings)
		for _, o := range []*failover.Observation{&script, &session} { // what differs from one moment to the next
			o.ReadAt, o.HostTime, o.PromoteUntil, o.BlockedUntil, o.HeardLast = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
			o.PartnerSilence, o.Position = 0, 0
		}
		if diff := cmp.Diff(script, session); diff != "" {
			g.t.Errorf("node %s by its script and by a session (-script +session):\n%s", n.ID, diff)
		}
	}
}

// R5: a server that hangs in the commit of one probe answers the next ones that
// their row is locked. None of them is good.
func TestProbeOfALockedRow(t *testing.T) {
	g := newGroup(t, postgresql.Async)
	hangs, err := g.A.Connect(g.within(patience))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hangs.Close(context.WithoutCancel(t.Context())) }()
	if _, err := hangs.Exec(g.within(patience), "BEGIN; UPDATE haprobe.beat SET seq = seq WHERE node = 'a'"); err != nil {
		t.Fatal(err)
	}
	err = g.local(nodeA).Probe(g.within(patience), "a", g.settings)
	if _, setup := errors.AsType[agent.SetupError](err); err == nil || setup || !strings.Contains(err.Error(), "pg_stat_activity") {
		t.Errorf("probe of a locked row: %v, of the setup: %t", err, setup)
	}
	if _, err := hangs.Exec(g.within(patience), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := g.local(nodeA).Probe(g.within(patience), "a", g.settings); err != nil {
		t.Errorf("probe of a free row: %v", err)
	}
}

// A standby whose script can't keep what it must know later is not fit.
func TestStandbyWithoutRoomForItsFiles(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	state := filepath.Join(g.B.Root, "var/lib/hadr/orders")
	if err := os.Chmod(state, 0o555); err != nil {
		t.Fatal(err)
	}
	if o := g.observe(nodeB); o.Fitness != failover.Unfit || !strings.Contains(o.FitnessWhy, "Permission denied") || !strings.Contains(o.FitnessNext, "let root write there") {
		t.Errorf("a standby that keeps nothing: %+v", o)
	}
	if err := os.Chmod(state, 0o755); err != nil {
		t.Fatal(err)
	}
	g.eventually(nodeB, "a fit standby", fit)
}

// noShell starts nothing.
type noShell struct{ t *testing.T }

func (s noShell) Run(context.Context, string) (string, int, error) {
	s.t.Error("a process was started")
	return "", -1, errors.New("no shell")
}

// R6: an orderly stop that was announced is told apart from a crash until the
// server runs again. A node that is down keeps its role through every order that
// is not meant for it.
func TestStoppedPrimary(t *testing.T) {
	g := newGroup(t, postgresql.Async)
	a := g.local(nodeA)
	g.A.Mark(t, "stopped", "patch, by ann")
	g.A.Stop(t, "fast")
	if o := a.View(g.within(patience), g.settings); o.Database != failover.DatabaseDown || o.StoppedInOrder != "patch, by ann" || o.Trouble != "" {
		t.Errorf("view of a stopped primary: %+v", o)
	}
	if r := g.rejoin(nodeA, 2); r.Code != "refused" || !strings.Contains(r.Detail, "does not answer as primary") {
		t.Errorf("rejoin to a standby: %+v", r)
	}
	g.before = func(q command.Request) { q.Parameters["as"] = "primary" }
	if outcome, err := g.engine.StartDatabase(g.within(2*patience), g.order(nodeA, 2)); outcome != failover.Failed || !strings.Contains(err.Error(), "has not demoted this node") {
		t.Errorf("start as primary: %s, %v", outcome, err)
	}
	g.before = nil
	if outcome, err := g.engine.StartDatabase(g.within(2*patience), g.order(nodeA, 2)); outcome != failover.OK {
		t.Fatalf("start in the role on disk: %s, %v", outcome, err)
	}
	g.view(nodeA, "primary", failover.Observation.ServesAsPrimary)
	if err := a.Kill(g.within(patience), g.settings); err != nil {
		t.Fatal(err)
	}
	if o := a.View(g.within(patience), g.settings); o.Database != failover.DatabaseDown || o.StoppedInOrder != "" {
		t.Errorf("view of a killed primary: %+v", o)
	}
}

// Once a fence has ended nothing is acknowledged any more, and what was is on
// the standby.
func TestFenceUnderWrites(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	client := g.client()
	client.Await(t, 50, patience)
	fenced, err := g.local(nodeA).Fence(g.within(2*patience), g.settings, 8*time.Second)
	if err != nil {
		t.Fatalf("fence: %+v, %v", fenced, err)
	}
	t.Logf("fenced (%s) in %s", fenced.How, fenced.Took.Round(time.Millisecond))
	if g.A.Alive() {
		t.Error("the server runs")
	}
	if again, err := g.local(nodeA).Fence(g.within(2*patience), g.settings, 8*time.Second); err != nil || again.How != "was down" {
		t.Errorf("fenced again: %+v, %v", again, err)
	}
	g.promote(nodeB, 2)
	client.Await(t, 20, patience)
	client.Stop()
	if lost := g.B.Missing(t, client.Acked()); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
	if r := g.rejoin(nodeA, 2); r.Outcome != failover.OK {
		t.Fatalf("rejoin: %+v", r)
	}
	if o := g.eventually(nodeA, "a fit standby", fit); o.State != "streaming" {
		t.Errorf("node a: %+v", o)
	}
}

// A server that hears no signal but SIGKILL is fenced, too.
func TestFenceOfAFrozenServer(t *testing.T) {
	g := newGroup(t, postgresql.Async)
	client := g.client()
	client.Await(t, 20, patience)
	g.A.Freeze(t)
	fenced, err := g.local(nodeA).Fence(g.within(2*patience), g.settings, 2*time.Second)
	if err != nil || fenced.How != "killed" || g.A.Alive() {
		t.Fatalf("fence: %+v, %v, server runs: %v", fenced, err, g.A.Alive())
	}
	t.Logf("fenced (%s) in %s with a limit of 2 s", fenced.How, fenced.Took.Round(time.Millisecond))
	// Its own start takes the mark of the fence away again.
	if outcome, err := g.engine.StartDatabase(g.within(2*patience), g.order(nodeA, 2)); outcome != failover.OK {
		t.Fatalf("start: %s, %v", outcome, err)
	}
	client.Await(t, 20, patience)
}
