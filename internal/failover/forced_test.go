package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The machine of node a was read as stopped at stoppedAt, within the window of
// node b, which ended at windowEnd and is long over.
var (
	stoppedAt = now.Add(-20 * time.Minute)
	windowEnd = now.Add(-18 * time.Minute)
)

// goneForGood is a group whose primary is terminated, and whose standby's
// window is over.
func goneForGood() (State, Gathered) {
	s, g := steadyState(), vanished()
	s.Fenced = map[string]Fence{"a": {Epoch: 7, Method: "stop", At: stoppedAt.Add(-time.Minute), Confirmed: true, ConfirmedAt: stoppedAt}}
	a, b := g.Nodes["a"], g.Nodes["b"]
	a.Instance, a.Answer, a.ClockOffsetAt = InstanceTerminated, Undeliverable, stoppedAt.Add(-2*time.Minute)
	b.State, b.PartnerStatus, b.PromoteUntil = "REMOTE_CATCHUP_PENDING", "DISCONNECTED", time.Time{}
	b.Fitness, b.FitnessWhy, b.FitnessNext = Unfit, "the peer window is over", "hadr takeover-after-window"
	b.ProvenUntil, b.HeardLast = windowEnd, stoppedAt.Add(-time.Minute)
	b.Position, a.Position = 1000, 1000
	g.Nodes["a"], g.Nodes["b"] = a, b
	return s, g
}

func askedFor(f Force) Asked {
	return Asked{At: now, Node: "a", OperationID: "op1", Actor: "dba", Reason: "node a is gone", Force: f}
}

// TestForcedDecision: what a person may do beyond the window (R19).
func TestForcedDecision(t *testing.T) {
	suspect := func(change func(*Observation)) func(*State, *Gathered) {
		return func(_ *State, g *Gathered) { o := g.Nodes["a"]; change(&o); g.Nodes["a"] = o }
	}
	standby := func(change func(*Observation)) func(*State, *Gathered) {
		return func(_ *State, g *Gathered) { o := g.Nodes["b"]; change(&o); g.Nodes["b"] = o }
	}
	fence := func(change func(*Fence)) func(*State, *Gathered) {
		return func(s *State, _ *Gathered) { f := s.Fenced["a"]; change(&f); s.Fenced["a"] = f }
	}
	tests := []struct {
		name   string
		force  Force
		change func(*State, *Gathered)
		want   Verdict
		says   string
	}{
		{"within the window is over", WithinWindow, nil, Refuse, "may not be promoted without loss"},
		{"stopped in time: nothing is lost", AfterWindow, nil, Act, "nothing is lost"},
		{"stopped, not terminated", AfterWindow, suspect(func(o *Observation) { o.Instance = InstanceStopped }), Act, "nothing is lost"},
		{"its machine runs", AfterWindow, suspect(func(o *Observation) { o.Instance = InstanceRunning }), Refuse, `reads "running", not stopped`},
		{"its machine can't be read", AfterWindow, suspect(func(o *Observation) { o.Instance = InstanceUnknown }), Refuse, "not stopped"},
		{"nobody knows when it stopped", AfterWindow, func(s *State, _ *Gathered) { s.Fenced = nil }, Refuse, "does not say when node a was stopped"},
		{"its stop was never read", AfterWindow, fence(func(f *Fence) { f.Confirmed, f.ConfirmedAt = false, time.Time{} }), Refuse, "does not say when node a was stopped"},
		{"stopped after the end of the window", AfterWindow, fence(func(f *Fence) { f.ConfirmedAt = windowEnd.Add(time.Second) }), Refuse, "only until"},
		{"stopped within the clocks' difference of the end", AfterWindow, fence(func(f *Fence) { f.ConfirmedAt = windowEnd.Add(-time.Second) }), Refuse, "clocks may differ by 2s"},
		{"stopped just before it", AfterWindow, fence(func(f *Fence) { f.ConfirmedAt = windowEnd.Add(-2 * time.Second) }), Act, "nothing is lost"},
		{"connected again after the stop", AfterWindow, standby(func(o *Observation) { o.HeardLast = stoppedAt.Add(time.Minute) }), Refuse, "connected again"},
		{"the standby shows no window", AfterWindow, standby(func(o *Observation) { o.ProvenUntil = time.Time{} }), Refuse, "does not say until when it had every commit"},
		{"the old primary's clock was never measured", AfterWindow, suspect(func(o *Observation) { o.ClockOffsetAt = time.Time{} }), Refuse, "clock of node a was not measured"},
		{"the old primary's clock was wrong", AfterWindow, suspect(func(o *Observation) { o.ClockOffset = 3 * time.Second }), Refuse, "clock of node a was off by 3s"},
		{"the standby's clock is wrong", AfterWindow, standby(func(o *Observation) { o.ClockOffset = -3 * time.Second }), Refuse, "clock of node b was off by -3s"},
		{"the standby can't be read", AfterWindow, standby(func(o *Observation) { o.Answer = Silent }), Hold, "gives no answer"},
		{"the standby is no standby", AfterWindow, standby(func(o *Observation) { o.Role = RoleStandalone }), Refuse, "not a running standby"},
		{"maintenance holds for people, too", AfterWindow, func(s *State, _ *Gathered) { s.Maintenance.On = true }, Refuse, "maintenance"},

		{"data loss is accepted", DataLoss, nil, Act, "commits of node a may be lost"},
		{"how much is lost is told, where it is known", DataLoss, suspect(func(o *Observation) { o.Position = 1512 }), Act, "at least 512 bytes of log are missing"},
		{"data loss, and nobody knows when it stopped", DataLoss, func(s *State, _ *Gathered) { s.Fenced = nil }, Act, "may be lost"},
		{"data loss needs a standby that can be read", DataLoss, standby(func(o *Observation) { o.Answer = Silent }), Hold, "gives no answer"},
		{"somebody was faster", DataLoss, standby(func(o *Observation) { o.Role = RolePrimary }), Follow, "took over by hand"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := goneForGood()
			if tt.change != nil {
				tt.change(&s, &g)
			}
			s.Attempt = &Attempt{Suspect: "a", Human: "dba", Trigger: "dba asks", Since: now, Force: tt.force}
			d := Decide(s, g)
			if d.Verdict != tt.want || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("%s (%s): %s; want %s that says %q", d.Verdict, d.Guard, d.Reason, tt.want, tt.says)
			}
			if d.Verdict == Refuse && d.Next == "" {
				t.Error("no next command")
			}
		})
	}
}

// TestNextCommandsAreWhole: a person copies them at three in the morning.
func TestNextCommandsAreWhole(t *testing.T) {
	s, g := goneForGood()
	b := g.Nodes["b"]
	b.FitnessNext = "hadr takeover-after-window GROUP --from NODE --reason WHY"
	g.Nodes["b"] = b
	s.Attempt = &Attempt{Suspect: "a", Human: "dba", Since: now}
	if d := Decide(s, g); d.Guard != GuardFitness || d.Next != "hadr takeover-after-window orders --from a --reason WHY" {
		t.Errorf("%s: next %q", d.Guard, d.Next)
	}
}

// TestClocksAreToldInOrder: the same facts have the same words.
func TestClocksAreToldInOrder(t *testing.T) {
	s, g := goneForGood()
	for id, o := range g.Nodes {
		o.ClockOffset = time.Minute
		g.Nodes[id] = o
	}
	s.Attempt = &Attempt{Suspect: "a", Human: "dba", Since: now, Force: AfterWindow}
	for range 50 {
		if d := Decide(s, g); !strings.Contains(d.Reason, "clock of node a") {
			t.Fatal(d.Reason)
		}
	}
}

// TestForcedStories runs takeovers by force to their ends.
func TestForcedStories(t *testing.T) {
	tests := []struct {
		name    string
		force   Force
		world   func(*fakeWorld)
		log     []string
		phase   Phase
		primary string
		says    string // in some entry
	}{
		{
			name: "after the window", force: AfterWindow,
			log: []string{"seal", "claim epoch 8", "promote b by force epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", says: "so nothing is lost",
		},
		{
			name: "after the window, the old primary connects again just before", force: AfterWindow,
			world: func(w *fakeWorld) {
				w.onRead = func(w *fakeWorld, e ReadNode) Observation {
					return Observation{Node: e.Node, Answer: Answered, Role: RoleStandby, Database: DatabaseActive, State: "REMOTE_CATCHUP", Fitness: Unfit}
				}
			},
			log: []string{"seal", "claim epoch 8"}, phase: Steady, primary: "a", says: "connected to its primary again",
		},
		{
			name: "data loss, and the old primary lives: it is stopped first", force: DataLoss,
			world: func(w *fakeWorld) { w.machine["a"] = InstanceRunning },
			log: []string{"seal", "claim epoch 8", "stop a", "promote b by force epoch 8 attempt 1",
				"move rtb-1 to b", "move rtb-2 to b", "check rtb-1"},
			phase: Steady, primary: "b", says: "a person accepts that commits may be lost",
		},
		{
			name: "data loss, and the stop is rejected: two could write", force: DataLoss,
			world: func(w *fakeWorld) {
				w.machine["a"] = InstanceRunning
				w.onStop = func(w *fakeWorld, e Stop) StopRequested {
					return StopRequested{At: w.at, Node: e.Node, Outcome: Failed, Error: "stop protection"}
				}
			},
			log: []string{"seal", "claim epoch 8", "stop a"}, phase: Blocked, primary: "a", says: "two nodes could write",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := goneForGood()
			w := newWorld()
			w.machine["a"] = InstanceTerminated
			w.onGather = func(*fakeWorld) Gathered { return g }
			w.onRead = func(w *fakeWorld, e ReadNode) Observation {
				o := g.Nodes[e.Node]
				o.Role = w.role[e.Node]
				return o
			}
			if tt.world != nil {
				tt.world(w)
			}
			s = w.run(s, askedFor(tt.force), 500)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if diff := cmp.Diff(tt.log, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if s.Phase != tt.phase || s.Primary != tt.primary {
				t.Errorf("phase %s, primary %s, want %s, %s", s.Phase, s.Primary, tt.phase, tt.primary)
			}
			told := ""
			for _, e := range w.entries {
				told += e.Reason + "\n"
			}
			if !strings.Contains(told, tt.says) {
				t.Errorf("the history does not say %q:\n%s", tt.says, told)
			}
			if s.Primary == "a" && tt.force == AfterWindow && s.Fenced["a"].ConfirmedAt != stoppedAt {
				t.Errorf("the proof is gone: %+v", s.Fenced["a"])
			}
		})
	}
}

// TestForcedOnlyByPeople: no function goes on with a takeover by force (R19).
func TestForcedOnlyByPeople(t *testing.T) {
	running := func() State {
		s, _ := goneForGood()
		s.Phase = TakingOver
		s.Operation = &Operation{ID: "op1", Kind: Takeover, From: "a", To: "b", Step: StepPromote, Force: DataLoss, Config: s.Config,
			Started: now, StepSince: now, Deadline: now.Add(time.Minute), Promotions: 1}
		return s
	}
	for name, e := range map[string]Event{
		"watch":            Watched{At: now.Add(time.Minute)},
		"another runner":   Resumed{At: now.Add(time.Minute)},
		"an alarm":         Alarmed{At: now.Add(time.Minute), Node: "a", Alarm: alarmARN, Changed: now, OperationID: "op2"},
		"its own overtime": Elapsed{At: now.Add(time.Minute)},
	} {
		_, effects := Step(running(), e)
		promotes := false
		for _, effect := range effects {
			_, ok := effect.(Promote)
			promotes = promotes || ok
		}
		if promotes != (name == "its own overtime") { // that is the person's own runner
			t.Errorf("%s: promotes %v", name, promotes)
		}
	}
	s, effects := Step(running(), Watched{At: now.Add(forcedPatience)})
	if s.Phase != Blocked || !strings.Contains(s.Operation.Next, "hadr resume orders") || len(effects) == 0 {
		t.Errorf("a dead command: phase %s, next %q", s.Phase, s.Operation.Next)
	}
	_, effects = Step(s, Retried{At: now.Add(time.Hour), Actor: "dba"})
	if p, ok := effects[len(effects)-1].(Promote); !ok || !p.Force {
		t.Errorf("hadr resume does not go on: %+v", effects)
	}
}

// TestWhenAFencedMachineStopped: the record keeps the moment at which it was
// read as down first, until it is seen to run again.
func TestWhenAFencedMachineStopped(t *testing.T) {
	look := func(s State, at time.Time, machine InstanceState) State {
		s, _ = Step(s, Watched{At: at, Nodes: map[string]Observation{"b": {Node: "b", Instance: machine}}})
		return s
	}
	s := steadyState()
	s.Fenced = map[string]Fence{"b": {Epoch: 7}}
	for i, tt := range []struct {
		machine InstanceState
		want    time.Time
	}{
		{InstanceStopping, time.Time{}},
		{InstanceStopped, now.Add(time.Minute)},
		{InstanceStopped, now.Add(time.Minute)},
		{InstanceUnknown, now.Add(time.Minute)},
		{InstancePending, time.Time{}},
		{InstanceRunning, time.Time{}},
		{InstanceStopped, now.Add(6 * time.Minute)},
	} {
		s = look(s, now.Add(time.Duration(i)*time.Minute), tt.machine)
		if f := s.Fenced["b"]; !f.ConfirmedAt.Equal(tt.want) || f.Confirmed == tt.want.IsZero() {
			t.Errorf("look %d, %s: %+v, want %v", i, tt.machine, f, tt.want)
		}
	}
}

// TestRelease: a fence ends by a person's word only where the other machine is
// down for certain.
func TestRelease(t *testing.T) {
	ask := func(machine InstanceState) ReleaseAsked {
		return ReleaseAsked{At: now, Node: "b", Actor: "dba", Reason: "a is gone", Machines: map[string]InstanceState{"a": machine, "b": InstanceStopped}}
	}
	tests := []struct {
		name    string
		change  func(*State)
		machine InstanceState
		says    string
		freed   bool
	}{
		{"the partner is terminated", nil, InstanceTerminated, "the fence of node b ends", true},
		{"the partner is stopped", nil, InstanceStopped, "the fence of node b ends", true},
		{"the partner runs", nil, InstanceRunning, "second writer", false},
		{"the partner is stopping", nil, InstanceStopping, "second writer", false},
		{"the partner can't be read", nil, InstanceUnknown, "second writer", false},
		{"not fenced", func(s *State) { s.Fenced = nil }, InstanceTerminated, "not fenced", false},
		{"an operation runs", func(s *State) { s.Operation = &Operation{ID: "op1", Step: StepFence} }, InstanceTerminated, "op1 is at step fence", false},
		{"an operation is blocked", func(s *State) {
			s.Phase, s.Operation = Blocked, &Operation{ID: "op1", Blocked: "no node serves", Next: "hadr cancel orders"}
		}, InstanceTerminated, "no node serves", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := steadyState()
			s.Fenced = map[string]Fence{"b": {Epoch: 7, Confirmed: true}}
			if tt.change != nil {
				tt.change(&s)
			}
			s, effects := Step(s, ask(tt.machine))
			entry := effects[0].(Record).Entry
			if !strings.Contains(entry.Reason, tt.says) || entry.Next == "" {
				t.Errorf("told %q, next %q", entry.Reason, entry.Next)
			}
			if _, fenced := s.Fenced["b"]; tt.freed == fenced && tt.name != "not fenced" {
				t.Errorf("fenced: %v", s.Fenced)
			}
		})
	}
}

// TestNewPrimaryAlone: after a takeover the new primary reboots, and its old
// partner is fenced and down. It must come up without it (R29).
func TestNewPrimaryAlone(t *testing.T) {
	tests := []struct {
		name  string
		fence *Fence
		other InstanceState
		want  []string
	}{
		{"fenced and stopped", &Fence{Epoch: 7, Confirmed: true, ConfirmedAt: stoppedAt}, InstanceStopped, []string{"claim epoch 8", "start database a alone"}},
		{"fenced and terminated", &Fence{Epoch: 7, Confirmed: true, ConfirmedAt: stoppedAt}, InstanceTerminated, []string{"claim epoch 8", "start database a alone"}},
		{"fenced, and somebody started it", &Fence{Epoch: 7, Confirmed: true, ConfirmedAt: stoppedAt}, InstanceRunning, []string{"claim epoch 8", "start database a"}},
		{"not fenced", nil, InstanceStopped, []string{"claim epoch 8", "start database a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := steadyState(), newWorld()
			crashed(InstanceRunning, DatabaseDown)(w)
			w.machine["b"] = tt.other
			if tt.fence != nil {
				s.Fenced = map[string]Fence{"b": *tt.fence}
			}
			s = w.run(s, alarmed(), 500)
			for _, bad := range w.bad {
				t.Error(bad)
			}
			if diff := cmp.Diff(tt.want, w.log[1:]); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if s.Phase != Steady || s.Primary != "a" {
				t.Errorf("phase %s, primary %s: %+v", s.Phase, s.Primary, s.Operation)
			}
		})
	}
}
