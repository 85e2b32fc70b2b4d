package failover

import (
	"slices"
	"testing"
	"time"
)

// TestWithdrawalEndsByItself: the standby whose role can't be read does not
// stop in time, so the operation is blocked. Once it is down, nobody serves but
// the old primary, and the look goes on.
func TestWithdrawalEndsByItself(t *testing.T) {
	s, w := steadyState(), newWorld()
	w.onRead = func(w *fakeWorld, e ReadNode) Observation {
		o := Observation{Node: e.Node, Answer: Answered, Role: w.role[e.Node], Database: DatabaseActive, Fitness: Fit}
		if e.Node == "b" && s.Operation != nil || w.machine[e.Node] != InstanceRunning {
			o.Answer = Silent
		}
		return o
	}
	w.role["b"] = RoleUnknown // whatever the command did, nobody can read it
	w.onPromote = func(w *fakeWorld, e Promote) Promoted { return Promoted{At: w.at, Node: "b", Outcome: Unknown} }
	s.Phase, s.Epoch = Blocked, 8
	s.Fenced = map[string]Fence{"a": {Epoch: 8, Method: "stop", Confirmed: true}, "b": {Epoch: 8, Method: "stop"}}
	s.Operation = &Operation{
		ID: "op1", Kind: Takeover, From: "a", To: "b", Step: StepWithdraw, Promotions: 1, Config: s.Config, Routes: map[string]Redirect{},
		Blocked: "its machine does not stop", Next: "n", Deadline: now.Add(-time.Minute),
	}
	w.machine["a"], w.machine["b"] = InstanceStopped, InstanceStopped
	e := quietNight()
	for node, o := range e.Nodes {
		o.Answer, o.Instance = Silent, InstanceStopped
		e.Nodes[node] = o
	}
	s = w.run(s, e, 500)
	if s.Phase != Steady || s.Primary != "a" || !slices.Contains(w.log, "start a") {
		t.Errorf("phase %s, primary %s, effects %q", s.Phase, s.Primary, w.log)
	}
}

// TestNewPrimaryDiesBeforeTheVerification: every route leads to it, and no
// connection works because its database is down. Trying the connections again
// and again would ignore the second failure (R30).
func TestNewPrimaryDiesBeforeTheVerification(t *testing.T) {
	s, w := steadyState(), newWorld()
	w.onCheck = func(w *fakeWorld, e CheckPath) PathChecked {
		return PathChecked{At: w.at, Table: e.Table, Error: "connection refused"}
	}
	if s = w.run(s, alarmed(), 500); !s.RouteOnly() {
		t.Fatalf("phase %s", s.Phase)
	}
	look := func() Watched {
		e := quietNight()
		e.At, e.OperationID = w.at.Add(3*time.Minute), "op7"
		for table := range e.Owners {
			e.Owners[table] = s.Config.Nodes[1].ENI
		}
		e.Nodes["a"] = Observation{Node: "a", Answer: Silent, Instance: InstanceStopped}
		e.Nodes["b"] = Observation{Node: "b", Answer: Answered, Database: DatabaseDown, Instance: InstanceRunning}
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: "b", Since: w.at}}
		return e
	}
	w.database["b"] = DatabaseDown
	w.onGather = func(w *fakeWorld) Gathered {
		g := turned(w)
		b := g.Nodes["b"]
		b.Answer, b.Database, b.Instance = Answered, DatabaseDown, InstanceRunning
		g.Nodes["b"] = b
		a := g.Nodes["a"]
		a.Answer, a.Instance = Silent, InstanceStopped
		g.Nodes["a"] = a
		g.Evidence = append(g.Evidence, Evidence{Node: "b", Signal: SignalDatabaseDown, Conclusive: true, At: w.at})
		return g
	}
	w.log = nil
	if s = w.run(s, look(), 3000); s.Phase != Steady || s.Primary != "b" || !slices.Contains(w.log, "start database b alone") {
		t.Errorf("phase %s, primary %s, effects %q", s.Phase, s.Primary, w.log)
	}
}

// TestLonePrimaryStartsOnceItsPartnerIsDown: the partner is fenced and its
// machine was seen to run, so the database was started with it in vain. Once it
// is down, the database starts alone (R29).
func TestLonePrimaryStartsOnceItsPartnerIsDown(t *testing.T) {
	s, w := steadyState(), newWorld()
	s.Primary, s.Phase, s.Epoch = "b", Blocked, 9
	s.Fenced = map[string]Fence{"a": {Epoch: 8, Method: "stop"}}
	s.Operation = &Operation{
		ID: "op1", Kind: Restart, From: "b", To: "a", Step: StepRestart, Attempt: 2, Config: s.Config, Routes: map[string]Redirect{},
		Blocked: "its database does not start", Next: "n", StepSince: now.Add(-time.Hour), Deadline: now.Add(-time.Minute),
	}
	w.machine["a"], w.role["b"], w.database["b"] = InstanceStopped, RolePrimary, DatabaseInactive
	e := quietNight()
	e.Nodes["a"] = Observation{Node: "a", Answer: Silent, Instance: InstanceStopped}
	e.Nodes["b"] = Observation{Node: "b", Answer: Answered, Role: RolePrimary, Database: DatabaseInactive, Instance: InstanceRunning}
	s = w.run(s, e, 500)
	if s.Phase != Steady || !slices.Contains(w.log, "start database b alone") {
		t.Errorf("phase %s, effects %q", s.Phase, w.log)
	}
	t.Run("but not every minute", func(t *testing.T) {
		s.Phase, s.Operation = Blocked, &Operation{ID: "op1", Kind: Restart, From: "b", To: "a", Step: StepRestart, Config: s.Config, Blocked: "no", Next: "n"}
		w.log, e.At = nil, e.At.Add(time.Hour)
		if w.run(s, e, 500); len(w.log) > 0 {
			t.Errorf("effects %q", w.log)
		}
	})
}

// TestNobodyServesAfterAnOperatorsSwitch: an operator moved the primary, and
// the new one died before anybody saw it. People are told, and not every minute.
func TestNobodyServesAfterAnOperatorsSwitch(t *testing.T) {
	s, w := steadyState(), newWorld()
	e := quietNight()
	e.Nodes["a"] = Observation{Node: "a", Answer: Answered, Role: RoleStandby, Database: DatabaseActive, Instance: InstanceRunning}
	e.Nodes["b"] = Observation{Node: "b", Answer: Silent, Instance: InstanceStopped}
	for range 3 {
		s = w.run(s, e, 50)
		e.At = e.At.Add(time.Minute)
	}
	if len(w.entries) != 1 || w.entries[0].Event != "refused" || w.entries[0].Next == "" {
		t.Errorf("entries %+v", w.entries)
	}
}
