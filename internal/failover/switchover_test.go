package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bothWell is what is gathered of a healthy pair.
func bothWell() Gathered {
	g := vanished()
	g.Evidence = nil
	a, b := g.Nodes["a"], g.Nodes["b"]
	a.Answer, a.AnswerError, a.HostTime, a.Database, a.Role, a.State = Answered, "", now, DatabaseActive, RolePrimary, "PEER"
	b.PartnerLost, b.PartnerSilence = false, 0
	g.Nodes["a"], g.Nodes["b"] = a, b
	return g
}

func switchTo(node string) SwitchAsked {
	return SwitchAsked{At: now, To: node, OperationID: "op1", Actor: "dba", Reason: "patches on node a"}
}

// TestSwitchover runs changes of roles in order to their ends.
func TestSwitchover(t *testing.T) {
	suspect := func(change func(*Observation)) func(*fakeWorld) {
		return func(w *fakeWorld) {
			w.onGather = func(*fakeWorld) Gathered { g := bothWell(); o := g.Nodes["a"]; change(&o); g.Nodes["a"] = o; return g }
		}
	}
	standby := func(change func(*Observation)) func(*fakeWorld) {
		return func(w *fakeWorld) {
			w.onGather = func(*fakeWorld) Gathered { g := bothWell(); o := g.Nodes["b"]; change(&o); g.Nodes["b"] = o; return g }
		}
	}
	promotes := func(answer Promoted, roleB Role) func(*fakeWorld) {
		return func(w *fakeWorld) {
			w.onPromote = func(w *fakeWorld, e Promote) Promoted {
				if w.role["b"] = roleB; roleB == RolePrimary {
					w.role["a"] = RoleStandby
				}
				answer.At, answer.Node = w.at, e.Node
				return answer
			}
		}
	}
	tests := []struct {
		name    string
		event   SwitchAsked
		state   func(*State)
		world   func(*fakeWorld)
		log     []string
		phase   Phase
		primary string
		says    string // in the last entry
	}{
		{
			name: "both are well", event: switchTo("b"),
			log:   []string{"seal", "claim epoch 8", "switch to b epoch 8", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", says: "node b is primary in epoch 8",
		},
		{name: "to itself", event: switchTo("a"), phase: Steady, primary: "a", says: "is the primary already"},
		{name: "to nobody", event: switchTo("x"), phase: Steady, primary: "a", says: `no node "x"`},
		{name: "in maintenance", event: switchTo("b"), state: func(s *State) { s.Maintenance.On = true }, phase: Steady, primary: "a", says: "maintenance"},
		{
			name: "while an operation runs", event: switchTo("b"), phase: TakingOver, primary: "a", says: "operation op0 is at step fence",
			state: func(s *State) { s.Phase, s.Operation = TakingOver, &Operation{ID: "op0", Step: StepFence} },
		},
		{
			name: "the primary does not answer", event: switchTo("b"), phase: Steady, primary: "a", says: "that is a failure, not a switchover",
			world: suspect(func(o *Observation) { o.Answer = Silent }),
		},
		{
			name: "the primary waits for its standby", event: switchTo("b"), phase: Steady, primary: "a", says: "waits for its standby",
			world: suspect(func(o *Observation) { o.WaitsForStandby = true }),
		},
		{
			name: "the standby catches up", event: switchTo("b"), phase: Steady, primary: "a", says: "may not be promoted without loss",
			world: standby(func(o *Observation) {
				o.Fitness, o.State, o.FitnessNext = Unfit, "REMOTE_CATCHUP", "wait until it reads PEER"
			}),
		},
		{
			name: "the standby does not hear its primary", event: switchTo("b"), phase: Steady, primary: "a", says: "does not hear node a",
			world: standby(func(o *Observation) { o.PartnerLost = true }),
		},
		{
			name: "Db2 refuses: nothing has changed", event: switchTo("b"), world: promotes(Promoted{Outcome: Failed, Code: "SQL1770N/1"}, RoleStandby),
			log: []string{"seal", "claim epoch 8", "switch to b epoch 8"}, phase: Steady, primary: "a", says: "node a stays primary",
		},
		{
			name: "an answer that is lost, after the change", event: switchTo("b"), world: promotes(Promoted{Outcome: Unknown}, RolePrimary),
			log:   []string{"seal", "claim epoch 8", "switch to b epoch 8", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", says: "node b is primary in epoch 8",
		},
		{
			name: "a lost answer, and the role can't be read: nobody is stopped", event: switchTo("b"), phase: Blocked, primary: "a", says: "can't be read since",
			world: func(w *fakeWorld) {
				promotes(Promoted{Outcome: Unknown}, RoleUnknown)(w)
			},
			log: []string{"seal", "claim epoch 8", "switch to b epoch 8"},
		},
		{
			name: "both read PRIMARY in the end: loud", event: switchTo("b"), phase: Blocked, primary: "b", says: "two writers possible",
			world: func(w *fakeWorld) {
				w.onPromote = func(w *fakeWorld, e Promote) Promoted {
					w.role["b"] = RolePrimary
					return Promoted{At: w.at, Node: e.Node, Outcome: OK}
				}
			},
			log: []string{"seal", "claim epoch 8", "switch to b epoch 8", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := steadyState(), newWorld()
			w.onGather = func(*fakeWorld) Gathered { return bothWell() }
			if tt.state != nil {
				tt.state(&s)
			}
			if tt.world != nil {
				tt.world(w)
			}
			s = w.run(s, tt.event, 2000)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if diff := cmp.Diff(tt.log, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			last := w.entries[len(w.entries)-1]
			if s.Phase != tt.phase || s.Primary != tt.primary || !strings.Contains(last.Reason, tt.says) {
				t.Errorf("phase %s, primary %s, last %q; want %s, %s, %q", s.Phase, s.Primary, last.Reason, tt.phase, tt.primary, tt.says)
			}
			if len(s.Fenced) > 0 || !s.Cooldown.IsZero() {
				t.Errorf("fenced %v, cool-down %v", s.Fenced, s.Cooldown)
			}
			if last.Next == "" && last.Outcome != "ok" {
				t.Error("no next command")
			}
		})
	}
}

// TestApproval: under that policy a person agrees, for one operation in one
// epoch and for as long as the window lasts, and every guard is asked again (R9).
func TestApproval(t *testing.T) {
	wanted := func(t *testing.T, w *fakeWorld) State {
		t.Helper()
		s := steadyState()
		s.Config.Policy = Approval
		s = w.run(s, alarmed(), 500)
		last := w.entries[len(w.entries)-1]
		if s.Pending == nil || last.Event != "approval_wanted" || last.Next != "hadr approve orders --operation op1" || len(w.log) > 0 {
			t.Fatalf("pending %+v, last %+v, effects %v", s.Pending, last, w.log)
		}
		return s
	}
	later := func(d time.Duration) Approved {
		return Approved{At: now.Add(d), OperationID: "op1", Actor: "dba"}
	}
	windowEnds := vanished().Nodes["b"].PromoteUntil
	tests := []struct {
		name    string
		event   Approved
		state   func(*State)
		gather  func(*Gathered)
		primary string
		says    string // in the first entry after it
	}{
		{name: "in time", event: later(30 * time.Second), primary: "b", says: "takeover from a to b"},
		{name: "of another operation", event: Approved{At: now, OperationID: "op9", Actor: "dba"}, primary: "a", says: "no takeover op9 waits"},
		{name: "of another epoch", event: later(30 * time.Second), state: func(s *State) { s.Epoch++ }, primary: "a", says: "in epoch 7; now"},
		{name: "of another primary", event: later(30 * time.Second), state: func(s *State) { s.Primary = "b" }, primary: "b", says: "it was for node a"},
		{name: "too late for the window", event: Approved{At: windowEnds.Add(-DefaultPromoteDelay - DefaultPromoteMargin), OperationID: "op1"}, primary: "a", says: "it had to be given until"},
		{name: "the primary commits again", event: later(30 * time.Second), primary: "a", says: "the primary commits", gather: func(g *Gathered) {
			o := g.Nodes["a"]
			o.LastGoodProbe = now.Add(time.Hour)
			g.Nodes["a"] = o
		}},
		{name: "the standby is behind meanwhile", event: later(30 * time.Second), primary: "a", says: "standby not fit", gather: func(g *Gathered) {
			o := g.Nodes["b"]
			o.Fitness = Unfit
			g.Nodes["b"] = o
		}},
		{name: "maintenance meanwhile", event: later(30 * time.Second), state: func(s *State) { s.Maintenance.On = true }, primary: "a", says: "maintenance"},
		{name: "while another operation runs", event: later(30 * time.Second), state: func(s *State) { s.Operation = &Operation{ID: "op2", Step: StepFence} }, primary: "a", says: "op2 is at step fence"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			s := wanted(t, w)
			told := len(w.entries)
			if tt.state != nil {
				tt.state(&s)
			}
			if tt.gather != nil {
				w.onGather = func(*fakeWorld) Gathered { g := vanished(); tt.gather(&g); return g }
			}
			w.at = tt.event.At
			s = w.run(s, tt.event, 500)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if s.Primary != tt.primary || !strings.Contains(w.entries[told].Reason, tt.says) {
				t.Errorf("primary %s, told %q; want %s, %q", s.Primary, w.entries[told].Reason, tt.primary, tt.says)
			}
		})
	}
	t.Run("asked for once", func(t *testing.T) {
		w := newWorld()
		s := wanted(t, w)
		told := len(w.entries)
		again := alarmed()
		again.OperationID, again.At = "op2", now.Add(time.Minute)
		w.at = again.At
		s = w.run(s, again, 500)
		s = w.run(s, Watched{At: now.Add(2 * time.Minute), OperationID: "op3", Alarms: []RedAlarm{{ARN: alarmARN, Node: "a", Since: now}}}, 500)
		if s.Pending.OperationID != "op1" || len(w.entries) != told+1 || w.entries[told].Event != "ignored" {
			t.Errorf("pending %+v, told %+v", s.Pending, w.entries[told:])
		}
	})
}

// TestAcknowledge ends the cool-down, and only that (R30).
func TestAcknowledge(t *testing.T) {
	s := steadyState()
	s.Cooldown = now.Add(time.Minute)
	s, effects := Step(s, Acknowledged{At: now, Actor: "dba"})
	if !s.Cooldown.IsZero() || effects[0].(Record).Entry.Event != "acknowledged" {
		t.Errorf("cool-down %v, %+v", s.Cooldown, effects)
	}
	_, effects = Step(s, Acknowledged{At: now, Actor: "dba"})
	if e := effects[0].(Record).Entry; e.Event != "refused" || e.Next == "" {
		t.Errorf("a second time: %+v", e)
	}
}
