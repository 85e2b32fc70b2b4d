package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// explorer finds what may happen next in a world.
type explorer struct {
	*mind
	setup *Setup
	emit  func(world, action)
}

// action is what leads from one world to the next.
type action struct {
	verb   verb
	runner uint8
	node   uint8
	span   uint8 // that passes
	task   task
	answer answer
	fault  Fault
	deed   Deed
	said   said
}

type verb uint8

// What happens, besides a runner's tasks.
const (
	performs verb = iota
	saves
	claims
	conflicts // it finds that somebody else wrote to the record
	wakes
	dies
	breaks // a fault of the world
	passes // time
	stops  // a stopping machine has stopped
	connects
	catchesUp
	reddens
	greens
	delivers
	looks
	arrives // a late stop, move or command
	heals
	reaches  // a node reaches AWS again
	renews   // the agent takes a new lease
	revives  // the agent is started again
	misleads // an event that belongs to another group
	intrudes // another stack acts
	acts     // a person
)

// next emits every world that may follow w.
func (x *explorer) next(w *world) {
	for i := range w.runners {
		x.run(w, uint8(i))
	}
	x.time(w)
	x.nature(w)
	x.messages(w)
	x.trouble(w)
	x.persons(w)
}

// put emits a world after its nodes have noticed what changed.
func (x *explorer) put(w world, a action) {
	x.settle(&w)
	x.emit(w, a)
}

// settle brings a world that has just changed to its canonical form, and judges
// it.
func (x *explorer) settle(w *world) {
	w.settle()
	x.tidy(w)
	x.judge(w)
	if x.setup.lets(w.wrong) {
		w.wrong = fine
	}
	w.order()
}

// spend takes a fault from what may still go wrong.
func (x *explorer) spend(w *world, f Fault) bool {
	if f == NoFault {
		return true
	}
	if w.faults == 0 || !x.setup.allows(f) {
		return false
	}
	w.faults--
	return true
}

// broken emits w after a fault of the world itself.
func (x *explorer) broken(w *world, f Fault, node int, change func(*world)) {
	next := *w
	if !x.spend(&next, f) {
		return
	}
	change(&next)
	if next.nodes != w.nodes || next.link != w.link || next.denied != w.denied || next.hole != w.hole || next.skew != w.skew || next.deaf != w.deaf {
		x.put(next, action{verb: breaks, fault: f, node: uint8(node)})
	}
}

func (x *explorer) off(r failover.Rule) bool { return x.setup.Off.Has(r) }

// free returns a runner that has nothing to do.
func (x *explorer) free(w *world) (int, bool) {
	for i := range x.setup.Runners {
		if w.runners[i].mode == idle {
			return i, true
		}
	}
	return 0, false
}

// invoke starts a runner with an event.
func (x *explorer) invoke(w world, i int, s source, h hint, a action) {
	w.runners[i] = runner{core: x.read(&w), mode: busy, source: s, checked: true}
	a.said |= x.feed(&w, uint8(i), h).said
	x.put(w, a)
}

// read returns what a runner has in mind that reads the record.
func (x *explorer) read(w *world) coreID {
	return x.change(w.record, loaded+transform(w.pause))
}

// feed gives a runner an event, and the work that follows from it.
func (x *explorer) feed(w *world, i uint8, h hint) reply {
	r := &w.runners[i]
	answer := x.ask(r.core, h)
	x.noteStop(w, x.about(r.core), x.about(answer.core))
	r.core, r.slept, r.offline = answer.core, false, false
	r.dirty = r.dirty || answer.changed
	n := 0
	for n < len(r.work) && r.work[n] != nothing {
		n++
	}
	for _, t := range answer.work {
		if t == nothing {
			break
		}
		if n == len(r.work) {
			w.wrong = tooMuch
			break
		}
		r.work[n] = t
		n++
	}
	switch {
	case answer.overflow:
		w.wrong = tooMuch
	case answer.dead:
		w.wrong = noExit
	}
	if !r.dirty && r.work[0] == nothing {
		*r = runner{}
	}
	return answer
}

// noteStop keeps whether the standby can prove later that it lacks nothing: a
// runner has just read that the old primary is stopped.
func (x *explorer) noteStop(w *world, before, after *facts) {
	for i := range w.nodes {
		if !x.setup.proves() || before.down[i] || !after.down[i] {
			continue
		}
		if w.proof = late; w.nodes[1-i].role == standby && w.nodes[1-i].window > 0 {
			w.proof = inTime
		}
	}
}

// tidy drops what is of no use any more.
func (x *explorer) tidy(w *world) {
	if w.outdated && x.about(w.record).pending == "" && !x.approved(w) {
		w.outdated = false
	}
	switch {
	case w.proof == unproven:
	case w.nodes[0].role == primary && w.nodes[1].role == primary: // nobody is asked for it
		w.proof = unproven
	case w.conn != gone:
		w.proof = reconnected
	}
}

// approved reports whether a runner acts on an approval.
func (x *explorer) approved(w *world) bool {
	for _, r := range w.runners {
		if r.mode != idle && x.about(r.core).approved {
			return true
		}
	}
	return false
}

// done takes the first task of a runner away.
func (r *runner) done() {
	copy(r.work[:], r.work[1:])
	r.work[len(r.work)-1] = nothing
}
