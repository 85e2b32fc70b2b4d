package failover

import (
	"fmt"
	"strings"
	"time"
)

// fakeWorld answers effects, so that a test can let the core run to its end.
// Each answer can be replaced; the defaults are a takeover that goes well.
type fakeWorld struct {
	at       time.Time
	machine  map[string]InstanceState
	role     map[string]Role
	database map[string]DatabaseState // active if not named
	moved    map[string]string        // table -> node
	seen     map[string]Role          // role that was read last
	stops    bool                     // stopping machines stop, whatever onStop does

	onGather  func(*fakeWorld) Gathered
	onStop    func(*fakeWorld, Stop) StopRequested
	onPromote func(*fakeWorld, Promote) Promoted
	onRead    func(*fakeWorld, ReadNode) Observation
	onMove    func(*fakeWorld, MoveRoute) RouteMoved
	onCheck   func(*fakeWorld, CheckPath) PathChecked
	onStart   func(*fakeWorld, Start) Started
	onStartDB func(*fakeWorld)
	onRejoin  func(*fakeWorld, Reintegrate) Reintegrated
	onClaim   func(*fakeWorld, State) Claimed
	onSeal    func(*fakeWorld) Sealed
	onSettle  func() // time passes

	onRepair    func(*fakeWorld, Repair) bool
	onRouteRead func(*fakeWorld, RouteRead) RouteRead

	groups   []string // security groups of node a
	onGroups func(*fakeWorld) GroupsRead

	starts []int // numbers of the starts of a database

	was     string   // what a repaired route led to
	log     []string // effects in their order, without reads and waits
	entries []Entry
	bad     []string // what must never happen
}

func newWorld() *fakeWorld {
	return &fakeWorld{
		at:       now,
		machine:  map[string]InstanceState{"a": InstanceRunning, "b": InstanceRunning},
		role:     map[string]Role{"a": RolePrimary, "b": RoleStandby},
		database: map[string]DatabaseState{},
		seen:     map[string]Role{},
		moved:    map[string]string{"rtb-1": "a", "rtb-2": "a"},
	}
}

// run feeds e and everything that follows to the core. It stops after limit
// steps, which no story needs.
func (w *fakeWorld) run(s State, e Event, limit int) State {
	queue := []Event{e}
	for range limit {
		if len(queue) == 0 {
			return s
		}
		before := s
		next, effects := Step(s, queue[0])
		queue = queue[1:]
		w.watch(before, next)
		s = next
		for _, effect := range effects {
			if answer := w.answer(s, effect); answer != nil {
				queue = append(queue, answer)
			}
		}
	}
	w.bad = append(w.bad, fmt.Sprintf("no end after %d steps; phase %s, operation %+v", limit, s.Phase, s.Operation))
	return s
}

// watch checks what holds in every step.
func (w *fakeWorld) watch(before, after State) {
	if after.Epoch < before.Epoch && w.onClaim == nil {
		w.bad = append(w.bad, "the epoch went back")
	}
	if after.Primary != before.Primary && w.seen[after.Primary] != RolePrimary {
		w.bad = append(w.bad, "R14: the recorded primary changed to a node that did not read PRIMARY")
	}
	if after.Phase == Blocked && (after.Operation == nil || after.Operation.Next == "") {
		w.bad = append(w.bad, "blocked without a way out")
	}
}

func (w *fakeWorld) answer(s State, e Effect) Event {
	w.at = w.at.Add(100 * time.Millisecond)
	switch e := e.(type) {
	case Record:
		w.entries = append(w.entries, e.Entry)
		return nil
	case Notify:
		return nil
	case Wait:
		w.at = w.at.Add(e.For)
		w.settleMachines()
		if w.onSettle != nil {
			w.onSettle()
		}
		return Elapsed{At: w.at}
	case Gather:
		g := vanished()
		if w.onGather != nil {
			g = w.onGather(w)
		}
		g.At = w.at
		return g
	case Seal:
		w.note("seal")
		if w.onSeal != nil {
			return w.onSeal(w)
		}
		return Sealed{At: w.at, OK: true}
	case Claim:
		w.note("claim epoch %d", s.Epoch)
		if w.onClaim != nil {
			return w.onClaim(w, s)
		}
		return Claimed{At: w.at, OK: true}
	case Stop:
		w.note("stop %s", e.Node)
		if w.onStop != nil {
			return w.onStop(w, e)
		}
		w.machine[e.Node] = InstanceStopping
		return StopRequested{At: w.at, Node: e.Node, Outcome: OK}
	case ReadInstance:
		return InstanceRead{At: w.at, Node: e.Node, State: w.machine[e.Node]}
	case ReadNode:
		o := w.read(e)
		if o.Answer == Answered {
			w.seen[e.Node] = o.Role
		}
		return NodeRead{At: w.at, Observation: o}
	case Promote:
		return w.promote(s, e)
	case MoveRoute:
		return w.move(s, e)
	case Reintegrate:
		w.note("reintegrate %s", e.Node)
		if w.onRejoin != nil {
			return w.onRejoin(w, e)
		}
		w.role[e.Node] = RoleStandby
		return Reintegrated{At: w.at, Node: e.Node, Outcome: OK}
	case ReadGroups:
		if w.onGroups != nil {
			return w.onGroups(w)
		}
		return GroupsRead{At: w.at, Node: e.Node, Groups: w.groups}
	case SetGroups:
		w.note("groups of %s: %s", e.Node, strings.Join(e.Groups, ","))
		w.groups = e.Groups
		return GroupsSet{At: w.at, Node: e.Node, OK: true}
	case StartDatabase:
		how := map[bool]string{true: " alone"}[e.Alone]
		w.note("start database %s%s", e.Node, how)
		if e.Alone && !w.machine[s.Config.Other(e.Node)].Down() {
			w.bad = append(w.bad, "R29: a primary was started by force although its partner may run")
		}
		w.starts = append(w.starts, e.Attempt)
		if w.onStartDB != nil {
			w.onStartDB(w)
		} else {
			w.database[e.Node] = DatabaseActive
		}
		return Started{At: w.at, Node: e.Node, Outcome: OK}
	case Repair:
		w.note("repair %s to %s", e.Table, e.Node)
		if s.Primary != e.Node {
			w.bad = append(w.bad, "R25: a route was repaired to a node that is not the recorded primary")
		}
		ok := w.onMove == nil
		if w.onRepair != nil {
			ok = w.onRepair(w, e)
		} else if ok {
			w.moved[e.Table] = e.Node
		}
		return Repaired{At: w.at, Table: e.Table, Node: e.Node, Was: w.was, OK: ok}
	case ReadRoute:
		n, _ := s.Config.Node(w.moved[e.Table])
		r := RouteRead{At: w.at, Table: e.Table, Owner: n.ENI}
		if w.onRouteRead != nil {
			r = w.onRouteRead(w, r)
		}
		return r
	case EndMaintenance:
		w.note("end maintenance")
		return nil
	case CheckPath:
		w.note("check %s", e.Table)
		if w.onCheck != nil {
			return w.onCheck(w, e)
		}
		return PathChecked{At: w.at, Table: e.Table, OK: true}
	case Start:
		w.note("start %s", e.Node)
		if w.onStart != nil {
			return w.onStart(w, e)
		}
		w.machine[e.Node] = InstanceRunning
		return Started{At: w.at, Node: e.Node, Outcome: OK}
	}
	w.bad = append(w.bad, fmt.Sprintf("unknown effect %T", e))
	return nil
}

func (w *fakeWorld) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// settleMachines lets stopping machines stop.
func (w *fakeWorld) settleMachines() {
	for n, m := range w.machine {
		if m == InstanceStopping && (w.onStop == nil || w.stops) {
			w.machine[n] = InstanceStopped
		}
	}
}

func (w *fakeWorld) read(e ReadNode) Observation {
	if w.onRead != nil {
		return w.onRead(w, e)
	}
	if w.machine[e.Node] != InstanceRunning {
		return Observation{Node: e.Node, ReadAt: w.at, Answer: Silent}
	}
	return Observation{Node: e.Node, ReadAt: w.at, HostTime: w.at, Answer: Answered, Role: w.role[e.Node], Database: w.state(e.Node), Fitness: Fit}
}

func (w *fakeWorld) state(node string) DatabaseState {
	if d := w.database[node]; d != "" {
		return d
	}
	return DatabaseActive
}

func (w *fakeWorld) promote(s State, e Promote) Event {
	how := map[bool]string{true: " by force"}[e.Force]
	if e.InOrder {
		return w.switchOver(s, e)
	}
	w.note("promote %s%s epoch %d attempt %d", e.Node, how, e.Epoch, e.Attempt)
	if e.Force != (s.Operation.Force != WithinWindow) {
		w.bad = append(w.bad, "R19: force without a person's word, or none in spite of it")
	}
	old := s.Config.Other(e.Node)
	if !w.machine[old].Leaving() {
		w.bad = append(w.bad, "R15: promoted although the stop of the old primary was not accepted")
	}
	if s.Operation.Fencing == Strict && !w.machine[old].Down() {
		w.bad = append(w.bad, "R16: strict promoted although the old primary was not down")
	}
	if f, ok := s.Fenced[old]; !ok || f.Epoch != s.Epoch {
		w.bad = append(w.bad, "R18: promoted without the old primary being marked as fenced")
	}
	if w.onPromote != nil {
		return w.onPromote(w, e)
	}
	w.role[e.Node] = RolePrimary
	return Promoted{At: w.at, Node: e.Node, CommandID: "cmd", Outcome: OK, Code: "DB20000I"}
}

func (w *fakeWorld) move(s State, e MoveRoute) Event {
	w.note("move %s to %s", e.Table, e.Node)
	if w.role[e.Node] != RolePrimary || s.Primary != e.Node {
		w.bad = append(w.bad, "R25: a route moved to a node that is not the recorded primary")
	}
	if w.onMove != nil {
		return w.onMove(w, e)
	}
	w.moved[e.Table] = e.Node
	return RouteMoved{At: w.at, Table: e.Table, OK: true}
}

func (w *fakeWorld) switchOver(s State, e Promote) Event {
	w.note("switch to %s epoch %d", e.Node, e.Epoch)
	if s.Operation.Kind != Switchover {
		w.bad = append(w.bad, "a takeover asks the primary for help")
	}
	if w.onPromote != nil {
		return w.onPromote(w, e)
	}
	w.role[e.Node], w.role[s.Config.Other(e.Node)] = RolePrimary, RoleStandby
	return Promoted{At: w.at, Node: e.Node, CommandID: "cmd", Outcome: OK, Code: "DB20000I"}
}
