package failover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gatherOf replaces the views of both nodes in what is gathered.
func gatherOf(a, b func(*Observation)) func(*fakeWorld) Gathered {
	return func(*fakeWorld) Gathered {
		g := vanished()
		for id, change := range map[string]func(*Observation){"a": a, "b": b} {
			o := g.Nodes[id]
			if change != nil {
				change(&o)
			}
			g.Nodes[id] = o
		}
		return g
	}
}

func reads(role Role, database DatabaseState) func(*Observation) {
	return func(o *Observation) { o.Answer, o.Role, o.Database = Answered, role, database }
}

// fencedA is a group whose old primary a is fenced since the last takeover.
func fencedA() State {
	s := steadyState()
	s.Primary, s.Epoch = "b", 8
	s.Fenced = map[string]Fence{"a": {Epoch: 8, Method: "stop", Confirmed: true}}
	return s
}

// TestOnlyAnOperatorsPrimaryIsAdopted: a node that says PRIMARY is followed
// only if it serves and is not the fenced old primary (R7, R18).
func TestOnlyAnOperatorsPrimaryIsAdopted(t *testing.T) {
	tests := []struct {
		name  string
		old   func(*Observation)
		state func() State
	}{
		{"a fenced old primary that was started again", reads(RolePrimary, DatabaseActive), fencedA},
		{"a fenced old primary whose database is not active", reads(RolePrimary, DatabaseInactive), fencedA},
		{"a node whose configuration alone says primary", reads(RolePrimary, DatabaseInactive), func() State {
			s := fencedA()
			s.Fenced = nil
			return s
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, s := newWorld(), tt.state()
			w.role = map[string]Role{"a": RolePrimary, "b": RolePrimary}
			w.moved = map[string]string{"rtb-1": "b", "rtb-2": "b"}
			w.onGather = gatherOf(tt.old, reads(RolePrimary, DatabaseActive))
			s = w.run(s, Alarmed{At: now, Node: "b", Alarm: alarmARN, Changed: now, OperationID: "op9"}, 500)
			if s.Primary != "b" || s.Epoch != 8 || len(w.log) > 0 {
				t.Errorf("primary %s, epoch %d, effects %q; every commit since the takeover is on node b", s.Primary, s.Epoch, w.log)
			}
		})
	}
}

// TestAdoptionFencesAnOldPrimary: whoever is followed, the other one must not
// come back as a second primary, unless it is seen to be the new standby.
func TestAdoptionFencesAnOldPrimary(t *testing.T) {
	silent := func(o *Observation) { o.Answer, o.Role = Silent, RoleUnknown }
	primary := func(lost bool) func(*Observation) {
		return func(o *Observation) {
			o.Role, o.PartnerLost, o.PromoteUntil = RolePrimary, lost, time.Time{}
		}
	}
	tests := []struct {
		name   string
		a, b   func(*Observation)
		fenced bool
	}{
		{"it reads PRIMARY, too", reads(RolePrimary, DatabaseActive), primary(true), true},
		{"it is silent and the new primary does not hear it", silent, primary(true), true},
		{"it is silent, but connected to the new primary as standby", silent, primary(false), false},
		{"it reads STANDBY", reads(RoleStandby, DatabaseActive), primary(true), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, s := newWorld(), steadyState()
			w.role["b"], w.onGather = RolePrimary, gatherOf(tt.a, tt.b)
			s = w.run(s, alarmed(), 500)
			_, fenced := s.Fenced["a"]
			if s.Primary != "b" || s.Phase != Steady || fenced != tt.fenced || slices.Contains(w.log, "stop a") != tt.fenced {
				t.Errorf("primary %s, phase %s, fenced %v, effects %q", s.Primary, s.Phase, s.Fenced, w.log)
			}
		})
	}
}

// TestAnOperatorIsFasterThanTheFence: the standby reads PRIMARY at the last
// look. The old primary is fenced unless it reads STANDBY (R7, R20).
func TestAnOperatorIsFasterThanTheFence(t *testing.T) {
	for _, tt := range []struct {
		old  Role
		stop bool
	}{{RolePrimary, true}, {RoleStandby, false}} {
		w, s := newWorld(), steadyState()
		w.role["a"], w.role["b"] = tt.old, RolePrimary // since the gathering
		s = w.run(s, alarmed(), 500)
		_, fenced := s.Fenced["a"]
		if s.Primary != "b" || s.Phase != Steady || fenced != tt.stop || slices.Contains(w.log, "stop a") != tt.stop {
			t.Errorf("old primary reads %s: primary %s, phase %s, fenced %v, effects %q", tt.old, s.Primary, s.Phase, s.Fenced, w.log)
		}
		if slices.ContainsFunc(w.log, func(l string) bool { return strings.HasPrefix(l, "promote") }) {
			t.Errorf("promoted: %q", w.log)
		}
	}
}

// TestStandbyGoneAtTheLastLook: whatever is not a fit standby is not promoted,
// so the old primary is not fenced for it (R20).
func TestStandbyGoneAtTheLastLook(t *testing.T) {
	for _, o := range []Observation{
		{Node: "b", Answer: Answered, Database: DatabaseDown, Fitness: Unfit},
		{Node: "b", Answer: Answered, Database: DatabaseActive, Role: RoleStandalone, Fitness: Unfit},
		{Node: "b", Answer: Answered, Database: DatabaseInactive, Role: RolePrimary, Fitness: Unfit},
	} {
		w, s := newWorld(), steadyState()
		w.onRead = func(*fakeWorld, ReadNode) Observation { return o }
		s = w.run(s, alarmed(), 500)
		if slices.Contains(w.log, "stop a") || s.Phase != Steady || s.Primary != "a" {
			t.Errorf("%s %s: effects %q, phase %s", o.Database, o.Role, w.log, s.Phase)
		}
	}
}

// TestRoleUnknownAfterPromotion: a standby whose database went down may have
// become primary before. It is stopped before the old primary starts (R20, R23).
func TestRoleUnknownAfterPromotion(t *testing.T) {
	w, s := newWorld(), steadyState()
	w.onRead = func(w *fakeWorld, e ReadNode) Observation {
		o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
		switch {
		case w.machine[e.Node] != InstanceRunning:
			o.Answer = Silent
		case e.Node == "b" && w.role["b"] == RolePrimary:
			o.Role, o.Database, o.Fitness = RoleUnknown, DatabaseDown, Unfit
		}
		return o
	}
	s = w.run(s, alarmed(), 500)
	stop, start := slices.Index(w.log, "stop b"), slices.Index(w.log, "start a")
	if start < 0 || stop < 0 || stop > start {
		t.Errorf("effects %q", w.log)
	}
	if _, fenced := s.Fenced["b"]; !fenced {
		t.Error("node b is not fenced, and its disk may say PRIMARY")
	}
}

// TestNoWithdrawalWhereARouteLeads: the redirect may have been finished without
// the record (R27); then clients have written to the new primary (R20).
func TestNoWithdrawalWhereARouteLeads(t *testing.T) {
	for name, read := range map[string]func(RouteRead) RouteRead{
		"a route leads to it":    func(e RouteRead) RouteRead { return e },
		"a route can't be read":  func(e RouteRead) RouteRead { e.Owner, e.Error = "", "throttled"; return e },
		"another one leads to a": func(e RouteRead) RouteRead { return e },
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(), steadyState()
			w.onPromote = func(w *fakeWorld, e Promote) Promoted {
				w.role["b"], w.moved["rtb-2"] = RolePrimary, "b" // by a runner that had no record
				return Promoted{At: w.at, Node: "b", Outcome: Unknown}
			}
			w.onRouteRead = func(_ *fakeWorld, e RouteRead) RouteRead { return read(e) }
			w.onRead = func(w *fakeWorld, e ReadNode) Observation {
				o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
				if w.role["b"] == RolePrimary {
					o.Answer = Silent
				}
				return o
			}
			s = w.run(s, alarmed(), 1000)
			if slices.Contains(w.log, "stop b") || slices.Contains(w.log, "start a") || s.Phase != Blocked {
				t.Fatalf("phase %s, effects %q", s.Phase, w.log)
			}
			if _, fenced := s.Fenced["b"]; fenced {
				t.Error("node b serves and is marked as fenced")
			}
			w.onRead = nil
			if s = w.run(s, Retried{At: w.at, Actor: "ann"}, 500); s.Primary != "b" || s.Phase != Steady {
				t.Errorf("no way out: primary %s, phase %s", s.Primary, s.Phase)
			}
		})
	}
}

// TestRejoinNeedsAPrimary: a node is only made the standby of a node that
// serves as primary now; an operator may have moved the primary (R7, R28).
func TestRejoinNeedsAPrimary(t *testing.T) {
	s, w := steadyState(), newWorld()
	w.role["a"], w.role["b"] = RoleStandby, RolePrimary // an operator's takeover that nobody has seen yet
	s = w.run(s, RejoinAsked{At: w.at, Node: "b", OperationID: "op2", Actor: "ann"}, 500)
	if slices.Contains(w.log, "reintegrate b") || s.Phase != Steady || s.Operation != nil {
		t.Errorf("effects %q, phase %s: the only primary is killed", w.log, s.Phase)
	}
	if last := w.entries[len(w.entries)-1]; last.Event != "ended" || last.Next == "" {
		t.Errorf("last entry %+v", last)
	}
}

// TestClaimMeetsAnotherVersion: a version that grew for another reason, such as
// a refusal that watch noted, loses no takeover (R2).
func TestClaimMeetsAnotherVersion(t *testing.T) {
	w, s := newWorld(), steadyState()
	claims := 0
	w.onClaim = func(w *fakeWorld, _ State) Claimed {
		if claims++; claims > 1 {
			return Claimed{At: w.at, OK: true}
		}
		now := steadyState()
		now.Version++
		return Claimed{At: w.at, Why: "the record was changed by somebody else", State: &now}
	}
	if s = w.run(s, alarmed(), 500); s.Primary != "b" || s.Phase != Steady {
		t.Errorf("primary %s, phase %s, effects %q", s.Primary, s.Phase, w.log)
	}
	t.Run("but not for ever", func(t *testing.T) {
		w, s := newWorld(), steadyState()
		w.onClaim = func(w *fakeWorld, _ State) Claimed {
			now := steadyState()
			return Claimed{At: w.at, Why: "changed", State: &now}
		}
		if s = w.run(s, alarmed(), 500); s.Phase != Steady || s.Operation != nil || len(w.bad) > 0 {
			t.Errorf("phase %s, bad %q", s.Phase, w.bad)
		}
	})
}

// TestEveryStartHasItsNumber: a command is looked up by operation, step and
// attempt, so that a number used twice would answer with the old result (R21).
func TestEveryStartHasItsNumber(t *testing.T) {
	w, s := newWorld(), steadyState()
	crashed(InstanceRunning, DatabaseDown)(w)
	w.onStartDB = func(*fakeWorld) {}
	s = w.run(s, alarmed(), 3000)
	if s.Phase != Blocked {
		t.Fatalf("phase %s", s.Phase)
	}
	w.run(s, Retried{At: w.at, Actor: "ann"}, 3000)
	seen := map[int]bool{}
	for _, n := range w.starts {
		if seen[n] {
			t.Errorf("number %d twice: %v", n, w.starts)
		}
		seen[n] = true
	}
	if len(w.starts) < 6 {
		t.Errorf("only %d starts", len(w.starts))
	}
}

// TestRedeliveryAfterTheEnd: an event whose operation is over starts nothing
// (R2); the same id would find the old commands.
func TestRedeliveryAfterTheEnd(t *testing.T) {
	w, s := newWorld(), steadyState()
	fit := true
	w.onRead = func(w *fakeWorld, e ReadNode) Observation {
		o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
		if !fit {
			o.Fitness = Unfit
		}
		return o
	}
	fit = false
	s = w.run(s, alarmed(), 500) // given up before the fence
	fit, w.log = true, nil
	if s = w.run(s, alarmed(), 500); len(w.log) > 0 || s.Primary != "a" {
		t.Errorf("effects %q, primary %s", w.log, s.Primary)
	}
}

// TestPromotionMayStartLate: the deadline is read on the node's clock, which may
// be behind (R8, R22).
func TestPromotionMayStartLate(t *testing.T) {
	w, s := newWorld(), steadyState()
	s.Config.MaxClockOffset = 20 * time.Second
	var started, deadline time.Time
	w.onPromote = func(w *fakeWorld, e Promote) Promoted {
		deadline = e.Deadline
		return Promoted{At: w.at, Node: e.Node, Outcome: Unknown}
	}
	w.onRead = func(w *fakeWorld, e ReadNode) Observation {
		o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
		if !deadline.IsZero() {
			o.Fitness = Unfit
		}
		return o
	}
	w.onStart = func(w *fakeWorld, e Start) Started {
		started, w.machine["a"] = w.at, InstanceRunning
		return Started{At: w.at, Node: e.Node, Outcome: OK}
	}
	w.run(s, alarmed(), 1000)
	if latest := deadline.Add(s.Config.MaxClockOffset); started.Before(latest) {
		t.Errorf("the old primary is started at %s; a promotion may start until %s", stamp(started), stamp(latest))
	}
}

// routeBlocked is a group whose new primary b serves, blocked on a route only.
func routeBlocked(t *testing.T) (State, *fakeWorld) {
	t.Helper()
	w := newWorld()
	w.onMove = func(w *fakeWorld, e MoveRoute) RouteMoved {
		return RouteMoved{At: w.at, Table: e.Table, Error: "UnauthorizedOperation"}
	}
	s := w.run(steadyState(), alarmed(), 500)
	if !s.RouteOnly() {
		t.Fatalf("phase %s", s.Phase)
	}
	w.log, w.entries = nil, nil
	return s, w
}

// TestWatchWhileBlocked: a blocked operation takes nothing from the fence (R18)
// and from the next failure (R30).
func TestWatchWhileBlocked(t *testing.T) {
	look := func(w *fakeWorld) Watched {
		e := quietNight()
		e.At, e.OperationID = w.at.Add(3*time.Minute), "op7"
		e.Nodes["a"] = Observation{Node: "a", Answer: Silent, Instance: w.machine["a"]}
		e.Nodes["b"] = Observation{Node: "b", Answer: Answered, Role: RolePrimary, Database: DatabaseActive, Instance: InstanceRunning}
		w.at = e.At
		return e
	}
	t.Run("R18: the fenced node was started", func(t *testing.T) {
		s, w := routeBlocked(t)
		w.machine["a"] = InstanceRunning
		w.run(s, look(w), 100)
		if !slices.Contains(w.log, "stop a") {
			t.Errorf("effects %q", w.log)
		}
	})
	t.Run("R30: the new primary fails and no event tells of it", func(t *testing.T) {
		s, w := routeBlocked(t)
		w.onMove = nil
		w.machine["a"], w.role["a"] = InstanceRunning, RoleStandby
		delete(s.Fenced, "a")
		w.onGather = turned
		e := look(w)
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "b", Since: w.at}}
		if s = w.run(s, e, 500); s.Primary != "a" || s.Phase != Steady {
			t.Errorf("primary %s, phase %s, effects %q", s.Primary, s.Phase, w.log)
		}
	})
	t.Run("R30: the new primary fails during the rejoin and no event tells of it", func(t *testing.T) {
		s, w := afterTakeover()
		s, _ = Step(s, RejoinAsked{At: w.at, Node: "a", OperationID: "op2"})
		w.machine["a"], w.role["a"] = InstanceRunning, RoleStandby
		w.onGather = turned
		e := look(w)
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "b", Since: w.at}}
		if s = w.run(s, e, 500); s.Primary != "a" || s.Phase != Steady {
			t.Errorf("primary %s, phase %s, effects %q", s.Primary, s.Phase, w.log)
		}
	})
	t.Run("a refused look goes on with the rejoin", func(t *testing.T) {
		s, w := afterTakeover()
		s, _ = Step(s, RejoinAsked{At: w.at, Node: "a", OperationID: "op2"})
		w.onGather = func(w *fakeWorld) Gathered { g := turned(w); g.Evidence = g.Evidence[:1]; return g }
		e := look(w)
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "b", Since: w.at}}
		if s = w.run(s, e, 500); s.Primary != "b" || s.Operation != nil || !slices.Contains(w.log, "reintegrate a") {
			t.Errorf("primary %s, operation %+v, effects %q", s.Primary, s.Operation, w.log)
		}
	})
}

// TestWaysOut: blocked operations that no resume can finish end by cancel, or
// by themselves (no state without exit).
func TestWaysOut(t *testing.T) {
	t.Run("the old primary's machine is gone for good", func(t *testing.T) {
		w, s := newWorld(), steadyState()
		w.onStop = func(w *fakeWorld, e Stop) StopRequested {
			w.machine[e.Node] = InstanceTerminated
			return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
		}
		w.onPromote = func(w *fakeWorld, e Promote) Promoted {
			return Promoted{At: w.at, Node: e.Node, Outcome: Failed, Code: "SQL1770N/9"}
		}
		s = w.run(s, alarmed(), 1000)
		if s.Phase != Blocked || s.Operation.Step != StepRestart {
			t.Fatalf("phase %s, operation %+v", s.Phase, s.Operation)
		}
		if !strings.Contains(s.Operation.Next, "hadr cancel orders") {
			t.Errorf("next command %q names no way out", s.Operation.Next)
		}
		if s = w.run(s, Cancelled{At: w.at, Actor: "ann"}, 10); s.Phase != Steady || s.Operation != nil {
			t.Errorf("phase %s, last entry %+v", s.Phase, w.entries[len(w.entries)-1])
		}
	})
	t.Run("an operator took over and took back", func(t *testing.T) {
		w, s := newWorld(), steadyState()
		w.onGather = gatherOf(reads(RoleStandby, DatabaseActive), func(o *Observation) { o.Role, o.PartnerLost = RolePrimary, false })
		if s = w.run(s, alarmed(), 500); s.Phase != Steady || s.Operation != nil || s.Primary != "a" {
			t.Errorf("phase %s, primary %s, operation %+v", s.Phase, s.Primary, s.Operation)
		}
	})
}

// TestNextCommandsExist: what people are told to type is a command of hadr, with
// the flags that it requires.
func TestNextCommandsExist(t *testing.T) {
	w, s := newWorld(), steadyState()
	s.Config.Policy = Observe
	w.run(s, alarmed(), 100)
	if diff := cmp.Diff("hadr takeover orders --from a --reason WHY", w.entries[len(w.entries)-1].Next); diff != "" {
		t.Error(diff)
	}
}

// TestSealOfAnotherAttempt: an answer that comes late decides nothing.
func TestSealOfAnotherAttempt(t *testing.T) {
	s, _ := Step(steadyState(), alarmed())
	if after, effects := Step(s, Sealed{At: now, OK: true}); after.Operation != nil || len(effects) > 0 {
		t.Errorf("claimed what no guard has seen: %+v", after.Operation)
	}
}

// TestOldPrimaryStartsBeforeTheConfirmation: it is fenced, although the record
// still names it as primary (R14, R18).
func TestOldPrimaryStartsBeforeTheConfirmation(t *testing.T) {
	s, w := steadyState(), newWorld()
	s.Phase, s.Epoch = Blocked, 8
	s.Fenced = map[string]Fence{"a": {Epoch: 8, Method: "stop", Confirmed: true}}
	s.Operation = &Operation{ID: "op1", Kind: Takeover, From: "a", To: "b", Step: StepConfirm, Promotions: 1, Config: s.Config, Blocked: "unread", Next: "n"}
	w.run(s, quietNight(), 50)
	if !slices.Contains(w.log, "stop a") {
		t.Errorf("effects %q: node b may be primary already", w.log)
	}
	s.Operation.Step, s.Operation.Promotions, w.log = StepFence, 0, nil
	w.run(s, quietNight(), 50)
	if len(w.log) > 0 {
		t.Errorf("effects %q: node a serves, and nothing was promoted", w.log)
	}
}
