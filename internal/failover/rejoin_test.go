package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// afterTakeover is a group whose old primary a is stopped and fenced.
func afterTakeover() (State, *fakeWorld) {
	w := newWorld()
	s := w.run(steadyState(), alarmed(), 500)
	w.log, w.entries = nil, nil
	return s, w
}

func TestRejoin(t *testing.T) {
	ask := func(w *fakeWorld, node string) RejoinAsked {
		return RejoinAsked{At: w.at, Node: node, OperationID: "op2", Actor: "ann"}
	}
	tests := []struct {
		name    string
		node    string
		world   func(*State, *fakeWorld)
		log     []string
		fenced  bool
		event   string
		outcome string
		says    string
	}{
		{
			name: "a stopped node is started and comes back", node: "a",
			log:   []string{"claim epoch 8", "start a", "reintegrate a"},
			event: "ended", outcome: "rejoined", says: "back as standby of node b",
		},
		{
			name: "R28: success of the command alone is not enough", node: "a",
			world: func(_ *State, w *fakeWorld) {
				w.onRejoin = func(w *fakeWorld, e Reintegrate) Reintegrated {
					return Reintegrated{At: w.at, Node: e.Node, Outcome: OK, Code: "DB20000I"}
				}
			},
			log: []string{"claim epoch 8", "start a", "reintegrate a"}, fenced: true,
			event: "ended", outcome: "needs_reseed", says: "did not become a fit standby",
		},
		{
			name: "the command is tried again while the host comes up", node: "a",
			world: func(_ *State, w *fakeWorld) {
				tries := 0
				w.onRejoin = func(w *fakeWorld, e Reintegrate) Reintegrated {
					if tries++; tries < 3 {
						return Reintegrated{At: w.at, Node: e.Node, Outcome: Unknown, Detail: "undeliverable"}
					}
					w.role[e.Node] = RoleStandby
					return Reintegrated{At: w.at, Node: e.Node, Outcome: OK}
				}
			},
			log:   []string{"claim epoch 8", "start a", "reintegrate a", "reintegrate a", "reintegrate a"},
			event: "ended", outcome: "rejoined", says: "back",
		},
		{
			name: "an engine that needs a reseed is not asked again, and says how", node: "a",
			world: func(_ *State, w *fakeWorld) {
				w.onRejoin = func(w *fakeWorld, e Reintegrate) Reintegrated {
					return Reintegrated{At: w.at, Node: e.Node, Outcome: Failed, Code: NeedsReseed, Detail: "the logs have parted", Next: "pg_basebackup -h 10.0.2.10"}
				}
			},
			log: []string{"claim epoch 8", "start a", "reintegrate a"}, fenced: true,
			event: "ended", outcome: "needs_reseed", says: "the logs have parted",
		},
		{
			name: "R28: a node that a person has to change first is not made standby", node: "a",
			world: func(_ *State, w *fakeWorld) {
				w.onRejoin = func(w *fakeWorld, e Reintegrate) Reintegrated {
					return Reintegrated{At: w.at, Node: e.Node, Outcome: Failed, Code: NotReady, Detail: "it starts by itself", Next: "db2iauto -off db2inst1"}
				}
			},
			log: []string{"claim epoch 8", "start a", "reintegrate a"}, fenced: true,
			event: "ended", outcome: "given_up", says: "it starts by itself",
		},
		{
			name: "a terminated machine needs a reseed", node: "a",
			world: func(_ *State, w *fakeWorld) { w.machine["a"] = InstanceTerminated },
			log:   []string{"claim epoch 8"}, fenced: true,
			event: "ended", outcome: "needs_reseed", says: "terminated",
		},
		{name: "the primary", node: "b", fenced: true, event: "refused", outcome: "refused", says: "is the primary"},
		{name: "an unknown node", node: "c", fenced: true, event: "refused", outcome: "refused", says: "no node"},
		{
			name: "in maintenance", node: "a",
			world:  func(s *State, _ *fakeWorld) { s.Maintenance = Maintenance{On: true} },
			fenced: true, event: "refused", outcome: "refused", says: "in maintenance",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := afterTakeover()
			if tt.world != nil {
				tt.world(&s, w)
			}
			s = w.run(s, ask(w, tt.node), 2000)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if diff := cmp.Diff(tt.log, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if _, fenced := s.Fenced["a"]; fenced != tt.fenced || s.Phase != Steady || s.Primary != "b" || s.Epoch != 8 || s.Operation != nil {
				t.Errorf("fenced %v, phase %s, primary %s, epoch %d, operation %v", fenced, s.Phase, s.Primary, s.Epoch, s.Operation)
			}
			last := w.entries[len(w.entries)-1]
			if last.Event != tt.event || last.Outcome != tt.outcome || !strings.Contains(last.Reason, tt.says) {
				t.Errorf("last entry %s %s %q", last.Event, last.Outcome, last.Reason)
			}
		})
	}
}

// turned is what is gathered when the host of node b has just vanished instead.
func turned(w *fakeWorld) Gathered {
	g := vanished()
	a, b := g.Nodes["a"], g.Nodes["b"]
	a.Node, b.Node = "b", "a"
	later := w.at.Sub(now)
	for _, o := range []*Observation{&a, &b} {
		for _, at := range []*time.Time{&o.ReadAt, &o.HostTime, &o.LastGoodProbe, &o.ClockOffsetAt, &o.PromoteUntil} {
			if !at.IsZero() {
				*at = at.Add(later)
			}
		}
	}
	g.Nodes["a"], g.Nodes["b"] = b, a
	for i := range g.Evidence {
		g.Evidence[i].Node = "b"
	}
	return g
}

// TestSecondFailureOfTheNight: the new primary fails after, or during, the
// return of the old one (R30).
func TestSecondFailureOfTheNight(t *testing.T) {
	second := func(w *fakeWorld) Alarmed {
		return Alarmed{At: w.at, Node: "b", Alarm: alarmARN, Changed: w.at, OperationID: "op3"}
	}
	t.Run("after the rejoin", func(t *testing.T) {
		s, w := afterTakeover()
		s = w.run(s, RejoinAsked{At: w.at, Node: "a", OperationID: "op2"}, 500)
		w.onGather = turned
		s = w.run(s, second(w), 500)
		if s.Primary != "a" || s.Epoch != 9 || s.Phase != Steady || len(w.bad) > 0 {
			t.Errorf("primary %s, epoch %d, phase %s, bad %q", s.Primary, s.Epoch, s.Phase, w.bad)
		}
	})
	t.Run("during the rejoin, when the old primary is a fit standby already", func(t *testing.T) {
		s, w := afterTakeover()
		s, _ = Step(s, RejoinAsked{At: w.at, Node: "a", OperationID: "op2"})
		w.machine["a"], w.role["a"] = InstanceRunning, RoleStandby
		w.onGather = turned
		s = w.run(s, second(w), 500)
		if s.Primary != "a" || s.Epoch != 9 || s.Phase != Steady || len(w.bad) > 0 {
			t.Errorf("primary %s, epoch %d, phase %s, bad %q", s.Primary, s.Epoch, s.Phase, w.bad)
		}
	})
}
