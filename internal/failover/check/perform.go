package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// performance is a task of a runner that is being done.
type performance struct {
	*explorer
	w *world
	i uint8
	t task
}

// ends emits how a task may end: after a fault or without one, with what it
// changed and the event that it led to.
func (p performance) ends(f Fault, h hint, change func(*world)) {
	next := *p.w
	if !p.spend(&next, f) {
		return
	}
	if change != nil {
		change(&next)
	}
	next.runners[p.i].done()
	h.node, h.table = p.t.node(), p.t.table()
	a := action{verb: performs, runner: p.i, task: p.t, answer: h.answer, fault: f}
	before := p.about(next.runners[p.i].core)
	if p.t.commands() {
		next.runners[1-p.i].checked = false
		next.lateMove, next.moveTo = 0, 0 // what was on its way since the last operation has arrived, or is lost
	}
	if p.t.mutates() {
		p.judgeMutation(&next, next.runners[p.i], p.t)
	}
	reply := p.feed(&next, p.i, h)
	a.said = reply.said
	if h.kind == nodeRead {
		p.judgeReturn(&next, before, p.about(reply.core), h.views[h.node])
	}
	x := p.explorer
	if h.kind == gathered {
		a.node = h.code // that was silent
		x.judgeDecision(&next, p.i, h)
	}
	x.finish(&next, p.i)
	x.put(next, a)
}

// perform does the first task of a runner.
func (x *explorer) perform(w *world, i uint8) {
	p := performance{x, w, i, w.runners[i].work[0]}
	switch n := p.t.node(); p.t.what() {
	case doWait:
		if w.runners[i].slept {
			p.ends(NoFault, hint{kind: elapsed}, nil)
		}
	case doGather:
		p.gather()
	case doSeal:
		p.seal()
	case doStop:
		p.stop()
	case doReadInstance:
		p.ends(NoFault, hint{kind: instanceRead, code: uint8(w.nodes[n].machine)}, nil)
		p.ends(InstanceUnread, hint{kind: instanceRead, answer: failed}, nil)
	case doReadNode:
		p.readNode(NoFault, false)
		if w.nodes[n].reached() && w.nodes[n].machine == running {
			p.readNode(NodeSilent, true)
		}
	case doPromote:
		p.promote()
	case doMove, doRepair:
		p.move()
	case doReadRoute:
		p.ends(NoFault, hint{kind: routeRead, code: w.routes[p.t.table()]}, nil)
		p.ends(MoveFailed, hint{kind: routeRead, answer: failed}, nil)
	case doEndMaintenance:
		p.ends(NoFault, hint{}, func(w *world) {
			if w.pause == expired { // else a person has set it anew
				w.pause = unpaused
			}
		})
	case doUnseal, doUnsealOld:
		p.unseal()
	case doReadGroups, doCut, doReconnect:
		p.groups()
	case doCheckPath:
		h := hint{kind: pathChecked, answer: failed}
		if w.leads(int(p.t.table()), int(n)) {
			h.answer = good
		}
		p.ends(NoFault, h, nil)
	default:
		p.onNode()
	}
}

// leads reports whether a connection through a route table reaches a database
// that accepts writes on node i.
func (w *world) leads(table, i int) bool {
	n := w.nodes[i]
	return int(w.routes[table]) == i && n.serves() && n.role == primary && !n.isolated && !(w.hole && i == 1)
}

func (p performance) gather() {
	w, f := p.w, p.about(p.w.runners[p.i].core)
	h := hint{kind: gathered}
	if n := w.nodes[f.suspect]; f.alarm && (n.red || p.off(failover.R1)) {
		h.alarms = 1
	}
	h.lease = p.setup.Agents && !w.nodes[f.suspect].heard()
	views := func(silent int) [2]view {
		return [2]view{w.view(p.setup, 0, silent == 0), w.view(p.setup, 1, silent == 1)}
	}
	h.views = views(-1)
	p.ends(NoFault, h, nil)
	for n := range w.nodes {
		if h.views[n].answers {
			s := h
			s.views, s.code = views(n), uint8(n)
			p.ends(NodeSilent, s, nil)
		}
	}
	if !p.setup.Agents {
		return
	}
	// The record gives no answer for a while: what agents wrote is not read.
	blind := h
	for n := range blind.views {
		blind.views[n].probe, blind.views[n].deadMan, blind.views[n].flows = noProbe, false, false
	}
	blind.lease = p.off(failover.R6)
	p.ends(RecordDown, blind, nil)
}

func (p performance) seal() {
	w := p.w
	holder := w.nodes[p.about(w.runners[p.i].core).suspect]
	p.ends(NoFault, hint{kind: sealed}, func(w *world) {
		if !p.off(failover.R10) {
			p.forgetSeal(w)
			w.seal, w.sealed = shut, 0
		}
	})
	if p.setup.Agents && w.seal == open && holder.heard() {
		p.ends(NoFault, hint{kind: sealed, answer: failed}, nil) // it renewed meanwhile
	}
	p.ends(RecordDown, hint{kind: sealed, answer: failed}, nil)
}

// unseal takes the seal off the lease, if it is still the one that was seen.
func (p performance) unseal() {
	p.ends(NoFault, hint{}, func(w *world) {
		if w.seal == shut && p.t.what() == doUnseal {
			w.seal, w.sealed = open, 0
			p.forgetSeal(w)
		}
	})
	p.ends(RecordDown, hint{}, nil)
}

// forgetSeal makes whatever is known of the seal on the lease old.
func (x *explorer) forgetSeal(w *world) {
	w.record = x.change(w.record, forgetSeal)
	for i := range w.runners {
		r := &w.runners[i]
		if r.mode == idle {
			continue
		}
		r.core = x.change(r.core, forgetSeal)
		for k, t := range r.work {
			if t == doUnseal {
				r.work[k] = doUnsealOld
			}
		}
	}
}

func (p performance) stop() {
	n := int(p.t.node())
	accept := func(w *world) {
		if f := p.about(w.record); w.nodes[n].serves() && !f.fenced[n] && (f.id == "" || f.kind == failover.Rejoin) {
			w.wrong = shotByAGhost
		}
		p.accept(w, n)
	}
	p.ends(NoFault, hint{kind: stopRequested}, accept)
	p.ends(StopRejected, hint{kind: stopRequested, answer: failed}, nil)
	p.ends(StopUnknown, hint{kind: stopRequested, answer: unknown}, nil)
	p.ends(StopLost, hint{kind: stopRequested, answer: unknown}, accept)
	p.ends(StopLate, hint{kind: stopRequested, answer: unknown}, func(w *world) { w.nodes[n].lateStop = 2 })
}

// accept is EC2 that accepts a stop: the machine may run on for a while.
func (x *explorer) accept(w *world, i int) {
	n := &w.nodes[i]
	f := x.about(w.record)
	if n.serves() && n.role == primary && int(f.primary) == i && !f.fenced[i] &&
		!(f.id != "" && int(f.from) == i && f.kind != failover.Rejoin) {
		w.wrong = shotByAGhost
	}
	switch {
	case n.machine == running && !x.setup.Prompt:
		n.machine = stopping
	case n.machine == running:
		w.halt(i, stopped)
	case n.machine == frozen, n.machine == booting:
		w.halt(i, stopping)
	}
}

func (p performance) readNode(f Fault, silent bool) {
	h := hint{kind: nodeRead}
	h.views[p.t.node()] = p.w.view(p.setup, int(p.t.node()), silent)
	p.ends(f, h, nil)
}

func (p performance) move() {
	x, n, table, kind := p.explorer, p.t.node(), p.t.table(), routeMoved
	if p.t.what() == doRepair {
		kind = repaired
	}
	if p.w.denied && table == 0 {
		p.ends(NoFault, hint{kind: kind, answer: failed}, nil)
		return
	}
	p.ends(NoFault, hint{kind: kind}, func(w *world) { x.lead(w, table, n) })
	p.ends(MoveFailed, hint{kind: kind, answer: failed}, func(w *world) { w.failed = true })
	if table == 0 {
		p.ends(MoveDenied, hint{kind: kind, answer: failed}, func(w *world) { w.denied = true })
		p.ends(MoveLate, hint{kind: kind, answer: failed}, func(w *world) { w.lateMove, w.moveTo, w.failed = 2, n, true })
	}
}

// lead moves a route. Where there is one table, both lead the same way.
func (x *explorer) lead(w *world, table, node uint8) {
	w.routes[table], w.failed = node, false
	if x.setup.Tables == 1 {
		w.routes[1] = node
	}
}
