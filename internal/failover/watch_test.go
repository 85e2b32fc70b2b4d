package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// quietNight is what watch sees when nothing is wrong.
func quietNight() Watched {
	c := testConfig()
	return Watched{
		At: now, OperationID: "op1",
		Nodes: map[string]Observation{
			"a": {Node: "a", Answer: Answered, Role: RolePrimary, Database: DatabaseActive, Instance: InstanceRunning},
			"b": {Node: "b", Answer: Answered, Role: RoleStandby, Database: DatabaseActive, Instance: InstanceRunning},
		},
		Owners: map[string]string{"rtb-1": c.Nodes[0].ENI, "rtb-2": c.Nodes[0].ENI},
	}
}

func TestWatch(t *testing.T) {
	red := RedAlarm{ARN: alarmARN, Node: "a", Since: now.Add(-time.Hour), Reason: "r"}
	tests := []struct {
		name    string
		state   func(*State)
		seen    func(*Watched)
		world   func(*fakeWorld)
		log     []string
		primary string
		phase   Phase
		last    string // event of the last entry, "" for none
		says    string
	}{
		{name: "a quiet night", primary: "a", phase: Steady},
		{
			name: "R3: an alarm that is red although no event told of it",
			seen: func(e *Watched) { e.Alarms = []RedAlarm{red} },
			log:  takenOver, primary: "b", phase: Steady, last: "ended", says: "primary",
		},
		{
			name:  "R3: red since before the node became primary, after settling",
			state: func(s *State) { s.Changed = now.Add(-2 * time.Minute) },
			seen:  func(e *Watched) { e.Alarms = []RedAlarm{red} },
			log:   takenOver, primary: "b", phase: Steady, last: "ended", says: "primary",
		},
		{
			name:    "R3: red from before the change of primary, not settled yet",
			state:   func(s *State) { s.Changed = now.Add(-119 * time.Second) },
			seen:    func(e *Watched) { e.Alarms = []RedAlarm{red} },
			primary: "a", phase: Steady,
		},
		{
			name:    "the standby's alarm is red",
			seen:    func(e *Watched) { e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "b", Since: now}} },
			primary: "a", phase: Steady,
		},
		{
			name:    "maintenance: nothing is done",
			state:   func(s *State) { s.Maintenance = Maintenance{On: true} },
			seen:    func(e *Watched) { e.Alarms = []RedAlarm{red}; e.Owners["rtb-1"] = "eni-other" },
			primary: "a", phase: Steady,
		},
		{
			name:  "maintenance that has expired ends, and the red alarm counts",
			state: func(s *State) { s.Maintenance = Maintenance{On: true, Until: now.Add(-time.Second)} },
			seen:  func(e *Watched) { e.Alarms = []RedAlarm{red} },
			log:   append([]string{"end maintenance"}, takenOver...), primary: "b", phase: Steady, last: "ended", says: "primary",
		},
		{
			name:    "a route that was moved by hand is led back",
			seen:    func(e *Watched) { e.Owners["rtb-2"] = "eni-other" },
			log:     []string{"repair rtb-2 to a"},
			primary: "a", phase: Steady, last: "route_repaired", says: "led to eni-other",
		},
		{
			name:    "a missing route is led back",
			seen:    func(e *Watched) { e.Owners["rtb-2"] = "" },
			log:     []string{"repair rtb-2 to a"},
			primary: "a", phase: Steady, last: "route_repaired", says: "led to nowhere",
		},
		{
			name: "R14: no route is moved to a primary that does not read PRIMARY",
			seen: func(e *Watched) {
				e.Owners["rtb-2"] = "eni-other"
				o := e.Nodes["a"]
				o.Role = RoleUnknown
				e.Nodes["a"] = o
			},
			primary: "a", phase: Steady,
		},
		{
			name:    "a route table of somebody else is left alone",
			seen:    func(e *Watched) { e.Owners["rtb-9"] = "eni-other" },
			primary: "a", phase: Steady,
		},
		{
			name: "R18: a fenced node that was started is stopped again, and the VIP stays",
			state: func(s *State) {
				s.Primary, s.Fenced = "b", map[string]Fence{"a": {Epoch: 7, Method: "stop", Confirmed: true}}
			},
			seen: func(e *Watched) {
				c := testConfig()
				e.Owners = map[string]string{"rtb-1": c.Nodes[1].ENI, "rtb-2": c.Nodes[1].ENI}
				e.Nodes["b"] = Observation{Node: "b", Answer: Answered, Role: RolePrimary, Database: DatabaseActive, Instance: InstanceRunning}
			},
			log:     []string{"stop a"},
			primary: "b", phase: Steady, last: "fenced_again", says: "fenced since epoch 7",
		},
		{
			name: "R7: an operator took over while nobody looked",
			seen: func(e *Watched) {
				a, b := e.Nodes["a"], e.Nodes["b"]
				a.Role, b.Role = RoleStandby, RolePrimary
				e.Nodes["a"], e.Nodes["b"] = a, b
			},
			world: func(w *fakeWorld) {
				w.role["a"], w.role["b"] = RoleStandby, RolePrimary
				w.onGather = func(*fakeWorld) Gathered {
					g := vanished()
					a, b := g.Nodes["a"], g.Nodes["b"]
					a.Answer, a.Role, b.Role = Answered, RoleStandby, RolePrimary
					g.Nodes["a"], g.Nodes["b"] = a, b
					return g
				}
			},
			log:     []string{"seal", "claim epoch 8", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			primary: "b", phase: Steady, last: "ended", says: "primary",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w, e := steadyState(), newWorld(), quietNight()
			if tt.state != nil {
				tt.state(&s)
			}
			if tt.seen != nil {
				tt.seen(&e)
			}
			if tt.world != nil {
				tt.world(w)
			}
			w.was = e.Owners["rtb-2"]
			s = w.run(s, e, 500)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if diff := cmp.Diff(tt.log, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if s.Primary != tt.primary || s.Phase != tt.phase {
				t.Errorf("primary %s, phase %s; want %s, %s", s.Primary, s.Phase, tt.primary, tt.phase)
			}
			if tt.last == "" {
				if len(w.entries) > 0 {
					t.Errorf("recorded: %+v", w.entries)
				}
				return
			}
			if len(w.entries) == 0 {
				t.Fatal("nothing was recorded")
			}
			if last := w.entries[len(w.entries)-1]; last.Event != tt.last || !strings.Contains(last.Reason, tt.says) {
				t.Errorf("last entry %s %q, want %s that says %q", last.Event, last.Reason, tt.last, tt.says)
			}
		})
	}
}

// takenOver are the effects of a takeover that goes well.
var takenOver = []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"}

// TestWatchGoesOn: an operation whose runner died is gone on with.
func TestWatchGoesOn(t *testing.T) {
	w := newWorld()
	s, effects := Step(steadyState(), alarmed())
	for len(effects) > 0 && s.Operation == nil {
		s, effects = Step(s, w.answer(s, effects[0]))
	}
	s = w.run(s, quietNight(), 500)
	if s.Primary != "b" || s.Operation != nil || len(w.bad) > 0 {
		t.Errorf("primary %s, operation %+v, bad %q", s.Primary, s.Operation, w.bad)
	}
}

// TestWatchUnblocks: what blocked an operation is gone.
func TestWatchUnblocks(t *testing.T) {
	t.Run("the machine has stopped after all", func(t *testing.T) {
		w := newWorld()
		w.onStop = func(w *fakeWorld, e Stop) StopRequested {
			w.machine[e.Node] = InstanceStopping
			return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
		}
		s := w.run(steadyState(), alarmed(), 500)
		if s.Phase != Blocked {
			t.Fatalf("phase %s", s.Phase)
		}
		e := quietNight()
		e.At = w.at
		if after := w.run(s, e, 10); after.Phase != Blocked {
			t.Errorf("phase %s while the machine is still stopping", after.Phase)
		}
		w.machine["a"] = InstanceStopped
		o := e.Nodes["a"]
		o.Instance = InstanceStopped
		e.Nodes["a"] = o
		s = w.run(s, e, 500)
		if s.Phase != Steady || len(w.bad) > 0 {
			t.Errorf("phase %s, bad %q", s.Phase, w.bad)
		}
	})
	t.Run("the denied route is allowed now", func(t *testing.T) {
		w := newWorld()
		w.onMove = func(w *fakeWorld, e MoveRoute) RouteMoved {
			return RouteMoved{At: w.at, Table: e.Table, OK: e.Table != "rtb-1", Error: "UnauthorizedOperation"}
		}
		s := w.run(steadyState(), alarmed(), 500)
		if !s.RouteOnly() {
			t.Fatalf("phase %s", s.Phase)
		}
		w.onMove = nil
		e := quietNight()
		e.At = w.at
		e.Nodes["b"] = Observation{Node: "b", Answer: Answered, Role: RolePrimary, Database: DatabaseActive}
		e.Owners["rtb-2"] = testConfig().Nodes[1].ENI
		s = w.run(s, e, 50)
		e.Owners["rtb-1"] = testConfig().Nodes[1].ENI // the next minute
		s = w.run(s, e, 500)
		if s.Phase != Steady || s.Operation != nil {
			t.Errorf("phase %s, operation %+v; effects %q", s.Phase, s.Operation, w.log)
		}
	})
}

// TestWatchRepeatsItselfRarely: the same refusal is told once in a while, and
// another one at once.
func TestWatchRepeatsItselfRarely(t *testing.T) {
	w, s := newWorld(), steadyState()
	w.onGather = func(*fakeWorld) Gathered { g := vanished(); g.Evidence = g.Evidence[:1]; return g }
	told := func() int {
		n := 0
		for _, e := range w.entries {
			if e.Event == "refused" {
				n++
			}
		}
		return n
	}
	for minute := range 20 {
		e := quietNight()
		e.At = now.Add(time.Duration(minute) * time.Minute)
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "a", Since: now}}
		w.at = e.At
		s = w.run(s, e, 100)
	}
	if told() != 2 {
		t.Errorf("told %d times in 20 minutes, want 2", told())
	}
	w.onGather = func(*fakeWorld) Gathered {
		g := vanished()
		o := g.Nodes["b"]
		o.Fitness = Unfit
		g.Nodes["b"] = o
		return g
	}
	e := quietNight()
	e.At = now.Add(20 * time.Minute)
	e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "a", Since: now}}
	w.at = e.At
	w.run(s, e, 100)
	if told() != 3 {
		t.Errorf("a new reason was not told: %d", told())
	}
}
