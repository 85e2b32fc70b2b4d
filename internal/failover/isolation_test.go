package failover

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// hangingStop is a takeover under peer_window whose stop is accepted and never
// confirmed.
func hangingStop(isolation string) (State, *fakeWorld) {
	s, w := steadyState(), newWorld()
	s.Config.Fencing, s.Config.Isolation = PeerWindow, isolation
	w.groups = []string{"sg-1", "sg-2"}
	w.onGather = func(*fakeWorld) Gathered {
		g := vanished()
		o := g.Nodes["a"]
		o.DeadManUntil = now.Add(time.Hour)
		g.Nodes["a"] = o
		return g
	}
	w.onStop = func(w *fakeWorld, e Stop) StopRequested {
		w.machine[e.Node] = InstanceStopping
		return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
	}
	return s, w
}

// TestIsolation: an old primary whose stop stays unconfirmed is cut off from
// new connections, and the group is blocked and loud all the same (R16, R17).
func TestIsolation(t *testing.T) {
	tests := []struct {
		name      string
		isolation string
		world     func(*fakeWorld)
		cut       bool
		says      string
	}{
		{"cut off", "sg-isolated", nil, true, "cut off from new connections; those that it has"},
		{"nothing is declared", "", nil, false, "not confirmed to be down"},
		{"its groups can't be read", "sg-isolated", func(w *fakeWorld) {
			w.onGroups = func(w *fakeWorld) GroupsRead { return GroupsRead{At: w.at, Node: "a", Error: "UnauthorizedOperation"} }
		}, false, "UnauthorizedOperation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := hangingStop(tt.isolation)
			if tt.world != nil {
				tt.world(w)
			}
			s = w.run(s, alarmed(), 1000)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if s.Phase != Blocked || s.Primary != "b" || !strings.HasPrefix(s.Operation.Blocked, "two writers possible") || !strings.Contains(s.Operation.Blocked, tt.says) {
				t.Errorf("phase %s, primary %s: %s", s.Phase, s.Primary, s.Operation.Blocked)
			}
			cut := slices.Contains(w.log, "groups of a: sg-isolated")
			if cut != tt.cut || cut && !slices.Equal(s.Fenced["a"].Groups, []string{"sg-1", "sg-2"}) {
				t.Errorf("cut off %v, on the record %v", cut, s.Fenced["a"].Groups)
			}
			if s.Fenced["a"].Confirmed {
				t.Error("R17: isolation counts as confirmation")
			}
		})
	}
}

// TestReconnection: a node that comes back has its groups again before it
// starts, also where the runner died between reading and replacing them.
func TestReconnection(t *testing.T) {
	s, w := hangingStop("sg-isolated")
	s = w.run(s, alarmed(), 1000)
	w.machine["a"], w.onStop = InstanceStopped, nil
	s = w.run(s, Retried{At: w.at, Actor: "dba"}, 1000)
	if s.Phase != Steady {
		t.Fatalf("phase %s: %+v", s.Phase, s.Operation)
	}
	w.log = nil
	s = w.run(s, RejoinAsked{At: w.at, Node: "a", OperationID: "op2", Actor: "dba"}, 1000)
	back, start := slices.Index(w.log, "groups of a: sg-1,sg-2"), slices.Index(w.log, "start a")
	if back < 0 || start < back || len(s.Fenced) > 0 || s.Phase != Steady {
		t.Errorf("effects %q, fenced %v, phase %s", w.log, s.Fenced, s.Phase)
	}

	s, w = hangingStop("sg-isolated")
	w.onGroups = func(w *fakeWorld) GroupsRead { // an earlier try has replaced them, and they are on the record
		return GroupsRead{At: w.at, Node: "a", Groups: []string{"sg-isolated"}}
	}
	s = w.run(s, alarmed(), 1000)
	if got := s.Fenced["a"].Groups; len(got) > 0 {
		t.Errorf("the isolating group is taken for the node's own: %v", got)
	}
}
