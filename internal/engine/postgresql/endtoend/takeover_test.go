package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

func (s *stage) client() *pgtest.Client {
	s.tb.Helper()
	return pgtest.NewClient(s.tb, s.path)
}

// other is the other node.
func other(node string) string { return map[string]string{"a": "b", "b": "a"}[node] }

// takenOver waits until the group runs on a node, and returns when clients wrote
// there first.
func (s *stage) takenOver(to string, client *pgtest.Client) time.Time {
	s.tb.Helper()
	st := s.await("a takeover by node "+to, func(st failover.State) bool { return st.Primary == to && st.Operation == nil })
	client.Await(s.tb, 5, patience)
	for _, a := range client.Acked() {
		if a.At.After(st.Changed) { // the endpoint is led there only once PRIMARY has been read
			return a.At
		}
	}
	s.tb.Fatalf("no row was acknowledged after %s, when node %s became primary", st.Changed, to)
	return time.Time{}
}

// nothingIsLost stops the client and looks for every row that was acknowledged
// to it.
func (s *stage) nothingIsLost(on string, client *pgtest.Client) {
	s.tb.Helper()
	client.Stop()
	acked := client.Acked()
	if lost := s.hosts[on].Missing(s.tb, acked); len(lost) > 0 {
		s.tb.Errorf("%d of %d acknowledged rows are lost: %v\n%s", len(lost), len(acked), lost, s.story())
	}
	s.tb.Logf("%d rows were acknowledged, all are on node %s", len(acked), on)
}

// rejoin brings a node back, and lets the next failure be one of its own: tests
// don't wait for the end of a cool-down.
func (s *stage) rejoin(node string) {
	s.tb.Helper()
	s.hadr("rejoin", group, "--node", node)
	prev := s.await("the rejoin of node "+node, func(st failover.State) bool { return st.Phase == failover.Steady && st.Operation == nil })
	next := prev
	next.Cooldown = time.Time{}
	must(s.tb, s.table.Save(s.tb.Context(), prev, next))
	s.await("well agents", func(st failover.State) bool { return s.agentsAreWell(st.Primary) })
}

// cutOff loses all packets and calls of a node's host until mend.
func (s *stage) cutOff(node string) (mend func()) {
	s.tb.Helper()
	f, err := s.Faults.Inject(s.tb.Context(), fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: s.instance(node)}})
	must(s.tb, err)
	return func() {
		must(s.tb, s.Faults.Remove(f.ID))
	}
}

// A night of failures of one pair under synchronous replication. Each is seen by
// the agents, decided by the function, and costs no acknowledged row.
func TestNightOfFailures(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{lease: map[string]any{"duration_seconds": 6, "interval_seconds": 2}})
	primary := "a"
	for _, failure := range []struct {
		name string
		hits func(node string) (mend func())
	}{
		{"the server's processes are killed", func(node string) func() {
			s.hosts[node].Crash(t)
			return nil
		}},
		{"the server freezes", func(node string) func() {
			s.hosts[node].Freeze(t)
			return nil
		}},
		{"its disk stalls again and again", func(node string) func() {
			return s.hosts[node].Stutter(t, 5*time.Second, 200*time.Millisecond)
		}},
		{"its host is cut off from everybody", func(node string) func() {
			return s.cutOff(node)
		}},
	} {
		ok := t.Run(failure.name, func(t *testing.T) {
			s.tb = t
			client := s.client()
			client.Await(t, 20, patience)
			began := time.Now()
			mend := failure.hits(primary)
			first := s.takenOver(other(primary), client)
			t.Logf("failure to first write on the new primary: %s", first.Sub(began).Round(100*time.Millisecond))
			if mend != nil {
				mend()
			}
			s.nothingIsLost(other(primary), client)
			s.rejoin(primary)
			primary = other(primary)
		})
		s.tb = t
		if !ok {
			return
		}
	}
	t.Run("words", func(t *testing.T) {
		for _, said := range []string{s.hadr("status", group), s.hadr("history", group)} {
			for _, foreign := range []string{"db2", "Db2", "peer window", "HADR_"} {
				if strings.Contains(said, foreign) {
					t.Errorf("%q is said of a PostgreSQL group:\n%s", foreign, said)
				}
			}
		}
		if !strings.Contains(s.hadr("history", group), "no acknowledged commit is lost") {
			t.Errorf("the history does not say what a takeover lost:\n%s", s.hadr("history", group))
		}
	})
	t.Run("the roles change in order", func(t *testing.T) {
		s.tb = t
		client := s.client()
		client.Await(t, 20, patience)
		s.hadr("switchover", group, "--to", other(primary), "--reason", "patches")
		s.takenOver(other(primary), client)
		s.nothingIsLost(other(primary), client)
		s.await("well agents", func(st failover.State) bool { return s.agentsAreWell(st.Primary) })
	})
}

// An asynchronous primary that is cut off from everybody goes on for clients on
// its own host. Its agent ends it before the lease can be taken; the takeover
// tells what may be lost, and no more is.
func TestCutOffPrimaryFencesItself(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{
		postgresql: map[string]any{"replication_mode": "async", "max_rpo_seconds": 600},
		lease:      map[string]any{"duration_seconds": 6, "interval_seconds": 2, "self_fencing": true},
		agent:      `WATCHDOG_USEC=3000000\n`, // of a unit that was told to
	})
	client := s.client()
	client.Await(t, 20, patience)
	local := pgtest.NewClient(t, s.hosts["a"].Address()) // an application on the host itself
	local.Await(t, 20, patience)
	mend := s.cutOff("a")
	s.takenOver("b", client)
	if s.hosts["a"].Alive() {
		t.Error("the old primary runs")
	}
	log, err := os.ReadFile(filepath.Join(s.Hosts.Root(s.instance("a")), "var/log/hadr-agent.log"))
	if err != nil || !strings.Contains(string(log), "the database is fenced") {
		t.Errorf("the old primary's agent did not fence it: %v\n%s", err, s.story())
	}
	if said := s.hadr("history", group); !strings.Contains(said, "are lost, from") {
		t.Errorf("the history does not say what may be lost:\n%s", said)
	}
	mend()
	s.rejoin("a")
	if said := s.hadr("history", group); !strings.Contains(said, "back as standby") {
		t.Errorf("the old primary is not back:\n%s", said)
	}
}
