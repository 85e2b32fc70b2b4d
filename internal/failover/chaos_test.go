package failover

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chaos is a world with commits: whoever the routes lead to accepts them, and a
// connected standby has each of them. Everything in it happens at random.
type chaos struct {
	*fakeWorld
	t    *rapid.T
	s    State
	kind map[string]bool // of answers that go wrong now and then; emptied when the night is over

	acked     int            // commits that clients were told of
	data      map[string]int // commits that a node has
	vip       map[string]bool
	down      map[string]bool // the machine may run, but the database is not active
	connected bool            // the standby hears its primary
	alone     bool            // the peer window is over: a primary commits without its standby
	events    int
	version   int // of the record
	based     int // version that the present look rests on
}

func newChaos(t *rapid.T) *chaos {
	c := &chaos{fakeWorld: newWorld(), t: t, s: steadyState(), data: map[string]int{"a": 0, "b": 0}, vip: map[string]bool{"a": true}, down: map[string]bool{}, connected: true}
	c.s.Config.Fencing = rapid.SampledFrom([]Fencing{Strict, PeerWindow}).Draw(t, "fencing")
	c.kind, c.stops = map[string]bool{}, true
	for _, k := range []string{"stop", "start", "promote", "read", "fit", "move", "check", "gather", "route", "rejoin"} {
		c.kind[k] = rapid.Bool().Draw(t, k+" goes wrong")
	}
	c.onGather = func(*fakeWorld) Gathered { return c.gather() }
	c.onRead = func(_ *fakeWorld, e ReadNode) Observation { return c.view(e.Node) }
	c.onStop = func(_ *fakeWorld, e Stop) StopRequested {
		return StopRequested{At: c.at, Node: e.Node, Outcome: c.outcome("stop", func() {
			if !c.machine[e.Node].Leaving() {
				c.machine[e.Node] = InstanceStopping
			}
		})}
	}
	c.onStart = func(_ *fakeWorld, e Start) Started {
		return Started{At: c.at, Node: e.Node, Outcome: c.outcome("start", func() { c.boot(e.Node) })}
	}
	c.onPromote = func(_ *fakeWorld, e Promote) Promoted {
		refused := false
		o := c.outcome("promote", func() { refused = !c.promoteStandby(e.Node) })
		if refused {
			o = Failed
		}
		return Promoted{At: c.at, Node: e.Node, Outcome: o}
	}
	c.onStartDB = func(*fakeWorld) {
		if c.s.Operation != nil {
			c.activate(c.s.Operation.From)
		}
	}
	c.onRejoin = func(_ *fakeWorld, e Reintegrate) Reintegrated {
		return Reintegrated{At: c.at, Node: e.Node, Outcome: c.outcome("rejoin", func() {
			if c.machine[e.Node] == InstanceRunning {
				c.role[e.Node], c.vip[e.Node], c.down[e.Node] = RoleStandby, false, false
				c.connected = true
			}
		})}
	}
	c.onMove = func(_ *fakeWorld, e MoveRoute) RouteMoved {
		ok := c.luck("move")
		if ok {
			c.moved[e.Table] = e.Node
		}
		return RouteMoved{At: c.at, Table: e.Table, OK: ok, Error: "throttled"}
	}
	c.onRepair = func(_ *fakeWorld, e Repair) bool {
		ok := c.luck("move")
		if ok {
			c.moved[e.Table] = e.Node
		}
		return ok
	}
	c.onCheck = func(_ *fakeWorld, e CheckPath) PathChecked {
		return PathChecked{At: c.at, Table: e.Table, OK: c.luck("check")}
	}
	c.onRouteRead = func(_ *fakeWorld, e RouteRead) RouteRead {
		if !c.luck("route") {
			return RouteRead{At: e.At, Table: e.Table, Error: "throttled"}
		}
		return e
	}
	return c
}

// luck is false now and then, for what goes wrong in this night.
func (c *chaos) luck(kind string) bool {
	return !c.kind[kind] || rapid.IntRange(0, 3).Draw(c.t, kind) > 0
}

func (c *chaos) outcome(kind string, effect func()) Outcome {
	if !c.kind[kind] {
		effect()
		return OK
	}
	o := rapid.SampledFrom([]Outcome{OK, OK, Failed, Unknown}).Draw(c.t, kind)
	if o == OK || o == Unknown && rapid.Bool().Draw(c.t, kind+" happened") {
		effect()
	}
	return o
}

func (c *chaos) runs(node string, role Role) bool {
	return c.machine[node] == InstanceRunning && c.role[node] == role && !c.down[node]
}

// boot starts a machine, whose database comes up in the role that it had.
func (c *chaos) boot(node string) {
	if c.machine[node].Down() {
		c.machine[node], c.vip[node], c.down[node] = InstanceRunning, false, false
		c.activate(node)
	}
}

// activate is Db2's own guard: a primary does not start without its standby.
func (c *chaos) activate(node string) {
	other := c.s.Config.Other(node)
	c.down[node] = c.role[node] == RolePrimary && !c.runs(other, RoleStandby)
	if c.role[node] == RolePrimary && !c.down[node] && c.data[other] == c.data[node] {
		c.connected, c.alone = true, false
	}
}

// promoteStandby is what Db2 promises: within the peer window nothing is lost.
func (c *chaos) promoteStandby(node string) bool {
	if !c.runs(node, RoleStandby) || c.data[node] != c.acked {
		return c.role[node] == RolePrimary
	}
	c.role[node], c.connected, c.alone, c.vip[node] = RolePrimary, false, true, true
	return true
}

// commit lets clients write through every route.
func (c *chaos) commit() {
	if c.runs(c.s.Primary, RolePrimary) {
		c.vip[c.s.Primary] = true // its agent sees to that
	}
	writers := map[string]bool{}
	for _, node := range c.moved {
		if !c.runs(node, RolePrimary) || !c.vip[node] {
			continue
		}
		writers[node] = true
		other := c.s.Config.Other(node)
		replicated := c.connected && c.runs(other, RoleStandby)
		if c.data[node] != c.acked {
			c.bad = append(c.bad, fmt.Sprintf("commits lost: node %s accepts writes with %d of %d commits", node, c.data[node], c.acked))
			c.data[node] = c.acked // said once
		}
		if !replicated && !c.alone {
			continue // it waits for its standby
		}
		c.acked++
		c.data[node] = c.acked
		if replicated {
			c.data[other] = c.acked
		}
	}
	if len(writers) > 1 {
		c.bad = append(c.bad, "two nodes accept writes through routes")
	}
}

func (c *chaos) view(node string) Observation {
	o := Observation{Node: node, ReadAt: c.at, HostTime: c.at, Instance: c.machine[node], ClockOffsetAt: c.at}
	if c.machine[node] != InstanceRunning || !c.luck("read") {
		o.Answer, o.AnswerError = Silent, "no answer"
		return o
	}
	o.Answer, o.Role, o.Database, o.Fitness = Answered, c.role[node], DatabaseActive, Unfit
	if c.down[node] {
		o.Database = DatabaseInactive
	}
	other := c.s.Config.Other(node)
	o.PartnerLost = !c.connected || c.machine[other] != InstanceRunning || c.role[other] == c.role[node]
	if o.Role == RoleStandby {
		o.PromoteUntil = c.at.Add(200 * time.Second)
		if c.data[node] == c.acked && c.luck("fit") {
			o.Fitness = Fit
		}
	}
	return o
}

// gather finds evidence against whoever is asked about: alarms may lie.
func (c *chaos) gather() Gathered {
	g := Gathered{At: c.at, Nodes: map[string]Observation{"a": c.view("a"), "b": c.view("b")}}
	g.Evidence = []Evidence{{Node: c.s.Attempt.Suspect, Signal: SignalAlarm, Detail: "in ALARM", At: c.at, Source: alarmARN}}
	if c.luck("gather") {
		g.Evidence = append(g.Evidence, Evidence{Node: c.s.Attempt.Suspect, Signal: SignalStandbyView, Detail: "silent", At: c.at})
	}
	for id, o := range g.Nodes {
		o.DeadManUntil = c.at.Add(time.Hour)
		g.Nodes[id] = o
	}
	return g
}

func (c *chaos) look() Watched {
	e := Watched{At: c.at, OperationID: c.id(), Nodes: map[string]Observation{"a": c.view("a"), "b": c.view("b")}, Owners: map[string]string{}}
	for table, node := range c.moved {
		n, _ := c.s.Config.Node(node)
		e.Owners[table] = n.ENI
	}
	return e
}

func (c *chaos) id() string {
	c.events++
	return fmt.Sprintf("op%d", c.events)
}

// happens returns what comes from outside: events, people, machines.
func (c *chaos) happens() Event {
	node := rapid.SampledFrom([]string{"a", "b"}).Draw(c.t, "node")
	op := c.s.Operation
	switch rapid.SampledFrom([]string{"alarm", "watch", "red", "retry", "cancel", "rejoin", "ask", "boot", "crash", "cut", "heal", "window", "switch", "resume"}).Draw(c.t, "happens") {
	case "alarm":
		return Alarmed{At: c.at, Node: node, Alarm: alarmARN, Changed: c.at, OperationID: c.id()}
	case "watch":
		return c.look()
	case "red":
		e := c.look()
		e.Alarms = []RedAlarm{{ARN: alarmARN, Node: node, Since: c.at}}
		return e
	case "retry":
		return Retried{At: c.at, Actor: "ann"}
	case "cancel":
		return Cancelled{At: c.at, Actor: "ann"}
	case "rejoin":
		return RejoinAsked{At: c.at, Node: node, OperationID: c.id(), Actor: "ann"}
	case "ask":
		return Asked{At: c.at, Node: node, OperationID: c.id(), Actor: "ann"}
	case "resume":
		return Resumed{At: c.at}
	case "boot": // a machine boots in minutes, not between a fence and a promotion
		if op == nil || op.Blocked != "" || op.Step == StepRedirect || op.Step == StepVerify {
			c.boot(node)
		}
	case "crash":
		if c.machine[node] == InstanceRunning {
			c.machine[node], c.connected = InstanceStopped, false
		}
	case "cut":
		c.connected = false
	case "window":
		c.alone = !c.connected
	case "heal":
		if c.runs("a", RolePrimary) != c.runs("b", RolePrimary) && (c.runs("a", RoleStandby) || c.runs("b", RoleStandby)) {
			c.connected, c.alone = true, false
			c.data["a"], c.data["b"] = c.acked, c.acked // it catches up
		}
	case "switch": // an operator's own, graceful takeover
		from := c.s.Config.Other(node)
		if c.connected && c.runs(from, RolePrimary) && c.runs(node, RoleStandby) && (op == nil || op.Step == StepRecheck) {
			c.role[from], c.role[node] = RoleStandby, RolePrimary
		}
	}
	return nil
}

// step runs one event. Runners that are interrupted here lose what they had in
// mind and on its way.
func (c *chaos) step(queue []Event) []Event {
	before := c.s
	if a := c.s.Attempt; a != nil && c.based != c.version {
		switch queue[0].(type) {
		case Gathered, Sealed: // the claim would meet another version
			c.s.Attempt = nil
			return queue[1:]
		}
	}
	next, effects := Step(c.s, queue[0])
	queue = queue[1:]
	c.watch(before, next)
	c.s = next
	was, is := before, next
	was.Attempt, is.Attempt = nil, nil
	if !reflect.DeepEqual(was, is) {
		c.version++
	}
	if next.Attempt != nil && (before.Attempt == nil || before.Attempt.OperationID != next.Attempt.OperationID) {
		c.based = c.version
	}
	for _, e := range effects {
		if answer := c.answer(c.s, e); answer != nil {
			queue = append(queue, answer)
		}
		c.commit()
	}
	c.commit()
	return queue
}

// TestNothingTerribleHappens lets everything go wrong at once: lost answers,
// crashes, restarts, lying alarms, people, interrupted runners. No commit may be
// lost, no route lead to two writers, and every operation must end.
func TestNothingTerribleHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t)
		queue := []Event{alarmed()}
		for range rapid.IntRange(1, 150).Draw(t, "length") {
			if len(queue) == 0 || rapid.IntRange(0, 9).Draw(t, "outside") == 0 {
				if rapid.IntRange(0, 3).Draw(t, "runner dies") == 0 {
					queue, c.s.Attempt = nil, nil
				}
				if e := c.happens(); e != nil {
					queue = append(queue, e)
				}
			}
			if len(queue) > 0 {
				queue = c.step(queue)
			}
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "pause")) * time.Second)
			if len(c.bad) > 0 {
				t.Fatalf("%s\neffects: %q\n%s", c.bad, c.log, c.story())
			}
		}
		// The night is over: nothing goes wrong any more, and watch looks.
		clear(c.kind)
		for range 40 {
			queue = append(queue, c.look())
			for steps := 0; len(queue) > 0; steps++ {
				if steps > 3000 {
					t.Fatalf("no end: phase %s, operation %+v", c.s.Phase, c.s.Operation)
				}
				queue = c.step(queue)
			}
			c.at = c.at.Add(time.Minute)
		}
		if len(c.bad) > 0 {
			t.Fatalf("%s\neffects: %q\n%s", c.bad, c.log, c.story())
		}
		c.rest()
	})
}

// rest checks what holds when all is quiet.
func (c *chaos) rest() {
	switch {
	case c.s.Phase == Blocked && c.s.Operation.Next != "":
		return
	case c.s.Phase != Steady || c.s.Operation != nil:
		c.t.Fatalf("phase %s, operation %+v", c.s.Phase, c.s.Operation)
	case !c.runs(c.s.Primary, RolePrimary):
		return // nobody serves, and nobody told the group
	}
	for table, node := range c.moved {
		if node != c.s.Primary {
			c.t.Fatalf("steady, but %s leads to %s and the primary is %s; effects: %q", table, node, c.s.Primary, c.log)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(c.s.Fenced)) {
		if node != c.s.Primary && c.machine[node] == InstanceRunning {
			c.t.Fatalf("steady, but the fenced node %s runs", node)
		}
	}
}

// story is the history, for a failure's report.
func (c *chaos) story() string {
	var b strings.Builder
	for _, e := range c.entries {
		fmt.Fprintf(&b, "%s %s %s: %s\n", stamp(e.At), e.OperationID, e.Event, e.Reason)
	}
	return b.String()
}

// TestStepDoesNotChangeItsInput: the caller keeps the state for its
// compare-and-swap.
func TestStepDoesNotChangeItsInput(t *testing.T) {
	w, s := newWorld(), steadyState()
	queue := []Event{alarmed()}
	for len(queue) > 0 {
		before := s.clone()
		next, effects := Step(s, queue[0])
		if diff := cmp.Diff(before, s); diff != "" {
			t.Fatalf("%T changed its input:\n%s", queue[0], diff)
		}
		queue = queue[1:]
		s = next
		for _, e := range effects {
			if answer := w.answer(s, e); answer != nil {
				queue = append(queue, answer)
			}
		}
	}
}
