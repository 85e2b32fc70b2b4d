package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func alarmed() Alarmed {
	return Alarmed{At: now, Node: "a", Alarm: alarmARN, Changed: now, OperationID: "op1"}
}

// crashed is a world in which node a is down for certain and node b is behind.
func crashed(machine InstanceState, database DatabaseState) func(*fakeWorld) {
	return func(w *fakeWorld) {
		w.machine["a"], w.database["a"] = machine, database
		w.onGather = func(*fakeWorld) Gathered {
			g := vanished()
			a, b := g.Nodes["a"], g.Nodes["b"]
			a.Instance, a.Database, a.Role = machine, database, RolePrimary
			if machine == InstanceRunning {
				a.Answer = Answered
			}
			b.Fitness, b.FitnessWhy = Unfit, "REMOTE_CATCHUP_PENDING"
			g.Nodes["a"], g.Nodes["b"] = a, b
			return g
		}
	}
}

// TestStories runs whole operations against a world that answers.
func TestStories(t *testing.T) {
	rejected := func(w *fakeWorld, e Stop) StopRequested {
		return StopRequested{At: w.at, Node: e.Node, Outcome: Failed, Error: "OperationNotPermitted: stop protection"}
	}
	tests := []struct {
		name    string
		state   func(*State)
		world   func(*fakeWorld)
		event   Event
		log     []string
		phase   Phase
		primary string
		epoch   uint64
		outcome string // of the last entry
		says    string // in the last entry
	}{
		{
			name:  "the host of the primary vanishes",
			event: alarmed(),
			log: []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", epoch: 8, outcome: "ok", says: "node b is primary in epoch 8",
		},
		{
			name:  "peer_window promotes while the old primary is stopping",
			state: func(s *State) { s.Config.Fencing = PeerWindow },
			world: func(w *fakeWorld) {
				w.onGather = func(*fakeWorld) Gathered {
					g := vanished()
					o := g.Nodes["a"]
					o.DeadManUntil = now.Add(time.Hour)
					g.Nodes["a"] = o
					return g
				}
			},
			event: alarmed(),
			log: []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", epoch: 8, outcome: "ok", says: "primary",
		},
		{
			name:  "the alarm of the standby takes nothing over",
			event: Alarmed{At: now, Node: "b", Alarm: alarmARN, Changed: now, OperationID: "op1"},
			phase: Steady, primary: "a", epoch: 7, says: "standby unhealthy",
		},
		{
			name:  "R3: an alarm from before the last change of primary is stale",
			event: Alarmed{At: now, Node: "a", Alarm: alarmARN, Changed: now.Add(-25 * time.Hour), OperationID: "op1"},
			phase: Steady, primary: "a", epoch: 7, says: "stale",
		},
		{
			name: "R8: an alarm alone waits for a second signal and then is refused",
			world: func(w *fakeWorld) {
				w.onGather = func(*fakeWorld) Gathered { g := vanished(); g.Evidence = g.Evidence[:1]; return g }
			},
			event: alarmed(),
			phase: Steady, primary: "a", epoch: 7, outcome: "refused", says: "only CloudWatch",
		},
		{
			name: "R10: a lease that was renewed meanwhile stops the takeover",
			world: func(w *fakeWorld) {
				w.onSeal = func(w *fakeWorld) Sealed { return Sealed{At: w.at, Why: "renewed at counter 17"} }
			},
			event: alarmed(), log: []string{"seal"},
			phase: Steady, primary: "a", epoch: 7, outcome: "refused", says: "renewed at counter 17",
		},
		{
			name: "the loser of a race stops",
			world: func(w *fakeWorld) {
				w.onClaim = func(w *fakeWorld, _ State) Claimed {
					won := steadyState()
					won.Epoch, won.Phase, won.Version = 8, TakingOver, 41
					won.Operation = &Operation{ID: "other", Kind: Takeover, From: "a", To: "b", Step: StepFence, Config: testConfig()}
					return Claimed{At: w.at, Why: "the record was changed by somebody else", State: &won}
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8"},
			phase: TakingOver, primary: "a", epoch: 8, says: "not claimed",
		},
		{
			name:  "R15: a rejected stop never promotes",
			world: func(w *fakeWorld) { w.onStop = rejected },
			event: alarmed(), log: []string{"seal", "claim epoch 8", "stop a"},
			phase: Blocked, primary: "a", epoch: 8, outcome: "blocked", says: "AWS rejected the stop",
		},
		{
			name: "R15: a stop with unknown outcome is sent again and read",
			world: func(w *fakeWorld) {
				tries := 0
				w.onStop = func(w *fakeWorld, e Stop) StopRequested {
					if tries++; tries == 2 {
						w.machine[e.Node] = InstanceStopped
					}
					return StopRequested{At: w.at, Node: e.Node, Outcome: Unknown, Error: "timeout"}
				}
			},
			event: alarmed(),
			log: []string{"seal", "claim epoch 8", "stop a", "stop a", "promote b epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", epoch: 8, outcome: "ok", says: "primary",
		},
		{
			name: "R16: strict does not promote while the old primary stays in stopping",
			world: func(w *fakeWorld) {
				w.onStop = func(w *fakeWorld, e Stop) StopRequested {
					w.machine[e.Node] = InstanceStopping
					return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8", "stop a"},
			phase: Blocked, primary: "a", epoch: 8, outcome: "blocked", says: "may still write",
		},
		{
			name:  "R16: peer_window is loud when the stop is not confirmed before the window ends",
			state: func(s *State) { s.Config.Fencing = PeerWindow },
			world: func(w *fakeWorld) {
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
			},
			event: alarmed(),
			phase: Blocked, primary: "b", epoch: 8, outcome: "blocked", says: "two writers possible",
		},
		{
			name: "R20: the standby falls back just before the fence: nothing is touched",
			world: func(w *fakeWorld) {
				w.onRead = func(w *fakeWorld, e ReadNode) Observation {
					return Observation{Node: e.Node, Answer: Answered, Role: RoleStandby, Fitness: Unfit, FitnessWhy: "REMOTE_CATCHUP"}
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8"},
			phase: Steady, primary: "a", epoch: 8, outcome: "given_up", says: "REMOTE_CATCHUP",
		},
		{
			name: "R20: Db2 refuses after the fence: the old primary is started again",
			world: func(w *fakeWorld) {
				w.onPromote = func(w *fakeWorld, e Promote) Promoted {
					return Promoted{At: w.at, Node: e.Node, Outcome: Failed, Code: "SQL1770N/9"}
				}
				w.onRead = func(w *fakeWorld, e ReadNode) Observation {
					o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
					if e.Node == "b" && len(w.log) > 3 {
						o.Fitness, o.FitnessWhy = Unfit, "window is over"
					}
					if w.machine[e.Node] != InstanceRunning {
						o.Answer = Silent
					}
					return o
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1", "start a"},
			phase: Steady, primary: "a", epoch: 9, outcome: "restarted", says: "nothing is lost",
		},
		{
			name: "R23: an unknown promotion that happened is read, not repeated",
			world: func(w *fakeWorld) {
				w.onPromote = func(w *fakeWorld, e Promote) Promoted {
					w.role[e.Node] = RolePrimary
					return Promoted{At: w.at, Node: e.Node, Outcome: Unknown}
				}
			},
			event: alarmed(),
			log: []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", epoch: 8, outcome: "ok", says: "primary",
		},
		{
			name: "R20: a standby that stays unreadable is stopped before the old primary starts",
			world: func(w *fakeWorld) {
				w.onPromote = func(w *fakeWorld, e Promote) Promoted {
					return Promoted{At: w.at, Node: e.Node, Outcome: Unknown}
				}
				w.onRead = func(w *fakeWorld, e ReadNode) Observation {
					o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
					if e.Node == "b" && len(w.log) > 3 || w.machine[e.Node] != InstanceRunning {
						o.Answer = Silent
					}
					return o
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8", "stop a", "promote b epoch 8 attempt 1", "stop b", "start a"},
			phase: Steady, primary: "a", epoch: 9, outcome: "restarted", says: "node a serves again",
		},
		{
			name: "R26: a denied route holds up no other and is named",
			world: func(w *fakeWorld) {
				w.onMove = func(w *fakeWorld, e MoveRoute) RouteMoved {
					if e.Table == "rtb-1" {
						return RouteMoved{At: w.at, Table: e.Table, Error: "UnauthorizedOperation"}
					}
					w.moved[e.Table] = e.Node
					return RouteMoved{At: w.at, Table: e.Table, OK: true}
				}
			},
			event: alarmed(),
			phase: Blocked, primary: "b", epoch: 8, outcome: "blocked", says: "rtb-1 could not be led to it: UnauthorizedOperation",
		},
		{
			name: "R7: an operator took over; the record and the routes follow",
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
			event: alarmed(), log: []string{"seal", "claim epoch 8", "move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", epoch: 8, outcome: "ok", says: "primary",
		},
		{
			name:  "R31: the primary crashed and the standby is behind: the database is started in place",
			world: crashed(InstanceRunning, DatabaseDown),
			event: alarmed(), log: []string{"seal", "claim epoch 8", "start database a"},
			phase: Steady, primary: "a", epoch: 8, outcome: "restarted", says: "node a serves again",
		},
		{
			name:  "R31: the machine of the primary is stopped and the standby is behind: it is started",
			world: crashed(InstanceStopped, DatabaseUnknown),
			event: alarmed(), log: []string{"seal", "claim epoch 8", "start a"},
			phase: Steady, primary: "a", epoch: 8, outcome: "restarted", says: "node a serves again",
		},
		{
			name: "R31: the database first, then the host",
			world: func(w *fakeWorld) {
				crashed(InstanceRunning, DatabaseDown)(w)
				w.onStartDB = func(*fakeWorld) {}
				w.onStart = func(w *fakeWorld, e Start) Started {
					w.machine[e.Node], w.database[e.Node] = InstanceRunning, DatabaseActive
					return Started{At: w.at, Node: e.Node, Outcome: OK}
				}
			},
			event: alarmed(), log: []string{"seal", "claim epoch 8", "start database a", "start database a", "stop a", "start a"},
			phase: Steady, primary: "a", epoch: 8, outcome: "restarted", says: "node a serves again",
		},
		{
			name: "R31: a primary that is only silent is not restarted",
			world: func(w *fakeWorld) {
				w.onGather = func(*fakeWorld) Gathered {
					g := vanished()
					b := g.Nodes["b"]
					b.Fitness, b.FitnessWhy = Unfit, "REMOTE_CATCHUP_PENDING"
					g.Nodes["b"] = b
					return g
				}
			},
			event: alarmed(),
			phase: Steady, primary: "a", epoch: 7, outcome: "refused", says: "REMOTE_CATCHUP_PENDING",
		},
		{
			name:  "policy observe only says what it would have done",
			state: func(s *State) { s.Config.Policy = Observe },
			event: alarmed(),
			phase: Steady, primary: "a", epoch: 7, outcome: "observed", says: "node b is fit",
		},
		{
			name: "a data path that does not work is named, with the primary in place",
			world: func(w *fakeWorld) {
				w.onCheck = func(w *fakeWorld, e CheckPath) PathChecked {
					return PathChecked{At: w.at, Table: e.Table, Error: "connection timed out"}
				}
			},
			event: alarmed(),
			phase: Blocked, primary: "b", epoch: 8, outcome: "blocked", says: "no connection to 10.99.0.1:50000 works through rtb-1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := steadyState(), newWorld()
			if tt.state != nil {
				tt.state(&s)
			}
			if tt.world != nil {
				tt.world(w)
			}
			s = w.run(s, tt.event, 500)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if tt.log != nil || s.Phase == Steady && tt.primary == "a" && tt.outcome != "restarted" && tt.outcome != "given_up" {
				if diff := cmp.Diff(tt.log, w.log); diff != "" {
					t.Errorf("effects (-want +got):\n%s", diff)
				}
			}
			if s.Phase != tt.phase || s.Primary != tt.primary || s.Epoch != tt.epoch {
				t.Errorf("phase %s, primary %s, epoch %d; want %s, %s, %d", s.Phase, s.Primary, s.Epoch, tt.phase, tt.primary, tt.epoch)
			}
			if len(w.entries) == 0 {
				t.Fatal("nothing was recorded")
			}
			last := w.entries[len(w.entries)-1]
			if last.Outcome != tt.outcome || !strings.Contains(last.Reason, tt.says) {
				t.Errorf("last entry: %s %q %q; want outcome %q that says %q", last.Event, last.Outcome, last.Reason, tt.outcome, tt.says)
			}
		})
	}
}

// TestResumeAfterEveryStep lets the runner die after every step: whoever goes
// on from the record must reach the same end.
func TestResumeAfterEveryStep(t *testing.T) {
	for dieAfter := 1; dieAfter < 40; dieAfter++ {
		w, s := newWorld(), steadyState()
		queue := []Event{alarmed()}
		for step := 0; len(queue) > 0; step++ {
			if step > 500 {
				t.Fatalf("died after step %d: no end", dieAfter)
			}
			next, effects := Step(s, queue[0])
			queue = queue[1:]
			s = next
			if step == dieAfter { // saved, but no effect was run
				s.Attempt = nil
				queue = []Event{alarmed()}
				continue
			}
			for _, e := range effects {
				if answer := w.answer(s, e); answer != nil {
					queue = append(queue, answer)
				}
			}
		}
		for _, bad := range w.bad {
			t.Errorf("died after step %d: %s", dieAfter, bad)
		}
		if s.Primary != "b" || s.Operation != nil || w.moved["rtb-1"] != "b" || w.moved["rtb-2"] != "b" {
			t.Errorf("died after step %d: primary %s, operation %+v, routes %v", dieAfter, s.Primary, s.Operation, w.moved)
		}
	}
}

// TestEventOfAnEndedOperation (R2): the event of an operation that has ended is
// over whatever ended since, and the record does not grow with it.
func TestEventOfAnEndedOperation(t *testing.T) {
	for _, later := range []int{0, 1, endedKept - 1} {
		s := steadyState()
		end := func(id string) {
			s.Operation = &Operation{ID: id, Kind: Takeover, From: "a", To: "b", Step: StepRecheck, Config: s.Config}
			s.finish()
		}
		for range 2 * endedKept {
			end("before")
		}
		e := alarmed()
		end(e.OperationID)
		before := s
		for range later {
			end("since")
		}
		if _, effects := Step(s, e); len(effects) != 1 || !isEvent(effects[0], "ignored") {
			t.Errorf("%d operations later: %+v", later, effects)
		}
		if len(s.Ended) > endedKept || before.Ended[len(before.Ended)-1] != e.OperationID {
			t.Errorf("%d operations later: %d are kept, and an earlier state has changed: %q", later, len(s.Ended), before.Ended)
		}
	}
}

func isEvent(e Effect, event string) bool {
	r, ok := e.(Record)
	return ok && r.Entry.Event == event
}
