package check

import (
	"hash/maphash"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// schedule is what passes once nothing goes wrong any more, whenever nobody has
// anything to do: spans of time (by their number), and the minutely look.
var schedule = []int{lookNow, 0, 0, lookNow, 0, 0, lookNow, 1, lookNow, 2, lookNow, 0, lookNow, 1, lookNow, 2, lookNow}

const (
	lookNow = -1
	// lastLook is the last one. In it people must be told of what is wrong: it
	// repeats what was said a quarter of an hour ago.
	lastLook = 16
	// calmLimit is how many steps the group may need to come to rest.
	calmLimit = 2000
)

// calmer lets faults stop, and sees whether the group comes to rest. What it
// does is determined by the world alone, so that a world from which the rest is
// known need not be followed again.
type calmer struct {
	explorer explorer
	best     candidate
	trace    []step
	from     world
}

type candidate struct {
	rank  int
	world world
	act   action
}

// course is a world on its way to rest.
type course struct {
	world world
	at    int  // in the schedule
	waits int  // ticks since, in which a runner waits
	told  bool // people were told since the last long span
}

func newCalmer(m *mind, s *Setup) *calmer {
	c := &calmer{}
	c.explorer = explorer{mind: m, setup: s, emit: c.consider}
	return c
}

// rank orders what may happen: the first is what happens when all is well.
func rank(a action) int {
	switch a.verb {
	case heals, reaches, revives:
		return 1
	case performs, saves, claims, conflicts, wakes, dies:
		return 2
	case stops, connects, catchesUp, greens, reddens, renews:
		return 3
	case arrives:
		return 4
	case delivers:
		return 5
	}
	return 0
}

func (c *calmer) consider(w world, a action) {
	r := rank(a)
	if r == 0 || a.fault != NoFault || c.best.rank != 0 && r >= c.best.rank || w == c.from && a.said == 0 {
		return
	}
	c.best = candidate{r, w, a}
}

// advance does the next thing, and reports false at the end of the schedule.
func (c *calmer) advance(at *course) bool {
	c.best, c.from = candidate{}, at.world
	w := at.world
	c.explorer.next(&w)
	switch {
	case c.best.rank != 0:
	case w.waiting():
		c.wait(at)
	case at.at == len(schedule):
		return false
	case schedule[at.at] == lookNow:
		c.look(at)
	default:
		c.pass(at, schedule[at.at])
		at.at, at.waits = at.at+1, 0
	}
	c.trace = append(c.trace, step{at.world, c.best.world, c.best.act})
	at.world = c.best.world
	at.told = at.told || at.at >= lastLook && c.best.act.said&(saidRefused|saidBlocked|saidEnded|saidOnly) != 0
	return true
}

// waiting reports whether a runner waits for time to pass.
func (w *world) waiting() bool { return w.runners[0].mode != idle }

// wait lets time pass for a runner: some ticks, and then a while, because no
// number of ticks is one.
func (c *calmer) wait(at *course) {
	at.waits++
	span := 0
	if at.waits%4 == 0 && at.world.nodes[0].window+at.world.nodes[1].window == 0 {
		span = 1
	}
	c.pass(at, span)
}

func (c *calmer) pass(at *course, span int) {
	w := at.world
	c.explorer.pass(&w, span)
	c.explorer.settle(&w)
	c.best = candidate{1, w, action{verb: passes, span: uint8(span)}}
}

// look is the minutely look, if there is one.
func (c *calmer) look(at *course) {
	at.at, at.waits = at.at+1, 0
	c.best.world = at.world
	c.best.act.verb = passes
	if c.explorer.off(failover.R32) {
		return
	}
	emit := c.explorer.emit
	c.explorer.emit = func(w world, a action) { c.best = candidate{1, w, a} }
	c.explorer.invoke(at.world, 0, look, c.explorer.sight(&at.world), action{verb: looks})
	c.explorer.emit = emit
}

// rest follows a world until it is calm, and reports what is wrong then.
func (e *expander) rest(w *world) {
	c := e.calmer
	c.trace = c.trace[:0]
	at := course{world: *w}
	at.world.faults, at.world.people = 0, 0
	var keys []uint64
	var left uint64 // steps from where the rest is known
	wrong := restless
	for range calmLimit {
		k := maphash.Comparable(e.seed, at)
		if n, known := e.calmed.get(k); known {
			wrong, left = fine, n
			break
		}
		keys = append(keys, k)
		if !c.advance(&at) {
			wrong = e.explorer.ends(&at)
			break
		}
		if at.world.wrong != fine {
			wrong = at.world.wrong
			break
		}
	}
	if wrong != fine && len(c.trace) > 0 && e.loud(&c.trace[len(c.trace)-1].before) {
		return
	}
	if wrong != fine {
		e.report(find{parent: *w, child: *w, calm: append([]step(nil), c.trace...), wrong: wrong})
		return
	}
	for i := range keys {
		e.calmed.add(keys[i], left+uint64(len(keys)-i))
	}
	e.calms++
	e.longest = max(e.longest, int64(left)+int64(len(keys)))
}

// ends judges a group that has come to rest.
func (x *explorer) ends(at *course) violation {
	w := &at.world
	f := x.about(w.record)
	for _, r := range w.runners {
		if r.mode != idle {
			return restless
		}
	}
	p := int(f.primary)
	switch {
	case f.running():
		return restless
	case x.setup.Forgives:
		return x.admits(at, f)
	case !w.pause.active() && x.setup.Policy != failover.Observe && x.leftRunning(w, f):
		return secondPrimary
	case x.served(w, p), w.pause.active():
		return fine
	case w.hole && p == 1 && !f.blocked:
		return blackhole
	case x.byItself(f) && x.couldServe(w, f):
		return unserved
	case !at.told && !f.blocked:
		return untold
	}
	return fine
}

// admits judges a group whose assumptions were broken: it serves from one node,
// or people know that it does not.
func (x *explorer) admits(at *course, f *facts) violation {
	w := &at.world
	a, _ := w.acknowledges(0)
	b, _ := w.acknowledges(1)
	switch {
	case f.blocked:
		return fine
	case a && b && w.nodes[0].clients && w.nodes[1].clients:
		return secondPrimary
	case !x.served(w, int(f.primary)) && !w.pause.active() && !at.told:
		return untold
	}
	return fine
}

// byItself reports whether the group may help itself: by its policy, and because
// no person goes on with what is on the record.
func (x *explorer) byItself(f *facts) bool {
	automatic := x.setup.Policy == "" || x.setup.Policy == failover.Automatic
	return automatic && f.force == failover.WithinWindow
}

// served reports whether clients reach a primary that commits.
func (x *explorer) served(w *world, p int) bool {
	if acks, _ := w.acknowledges(p); !acks {
		return false
	}
	for t := range x.setup.Tables {
		if !w.leads(t, p) && !(w.denied && t == 0) {
			return false
		}
	}
	return true
}

// leftRunning reports whether an old primary, or a node that is fenced, runs:
// its database ruins its log, or writes.
func (x *explorer) leftRunning(w *world, f *facts) bool {
	o := w.nodes[1-f.primary]
	return f.id == "" && o.machine == running &&
		(f.fenced[1-f.primary] || o.role == primary && w.nodes[f.primary].role == primary)
}

// couldServe reports whether somebody could serve without a person.
func (x *explorer) couldServe(w *world, f *facts) bool {
	p := int(f.primary)
	n, o := w.nodes[p], w.nodes[1-p]
	down := n.role == primary && n.whole && !n.serves() && n.database != hung && n.machine != frozen
	alone := f.fenced[1-p] && o.machine == stopped // it can't serve beside it
	switch {
	case o.role == primary && o.serves() && o.whole && n.role == standby: // an operator has moved it
		return !f.blocked
	case !f.blocked:
		return down && (o.role == standby || alone)
	case f.step == failover.StepVerify && n.serves() && (!w.denied && int(w.routes[0]) != p || x.setup.Tables > 1 && int(w.routes[1]) != p):
		return true // one route is denied, and the other one is not
	case f.step == failover.StepVerify:
		return down && alone // the new primary has failed, too
	case f.step == failover.StepRestart:
		// A runner that was held up may have run out of time, and says so.
		inactive := x.setup.Swift && n.database == inactive && n.machine == running && n.whole
		return o.role == primary && o.serves() && o.whole || inactive && alone
	case f.step == failover.StepFence, f.step == failover.StepFenced, f.step == failover.StepWithdraw:
		return false // it waits for a stop
	}
	return f.kind == failover.Takeover && down && o.role == standby
}
