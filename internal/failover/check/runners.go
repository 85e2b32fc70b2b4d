package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// run emits what runner i may do next. It mirrors internal/control: what the
// core says is saved before its effects are run.
func (x *explorer) run(w *world, i uint8) {
	r := w.runners[i]
	if r.mode == idle {
		return
	}
	x.death(w, i, RunnerDies, action{verb: dies, runner: i, fault: RunnerDies})
	switch t := r.work[0]; {
	case r.mode == yielding:
		x.wake(w, i)
	case t.what() == doClaim:
		x.claim(w, i)
	case r.dirty && !r.offline:
		x.save(w, i)
	case x.off(failover.R24) && w.pause.active() && x.about(w.record).running():
		next := *w
		next.runners[i] = runner{}
		x.put(next, action{verb: dies, runner: i})
	case t.mutates() && !r.checked && !x.off(failover.R22):
		x.check(w, i)
	default:
		x.perform(w, i)
	}
}

// death ends a run by a fault.
func (x *explorer) death(w *world, i uint8, f Fault, a action) {
	next := *w
	if x.spend(&next, f) {
		x.redeliver(&next, i)
		next.runners[i] = runner{}
		x.put(next, a)
	}
}

// redeliver is Lambda, which runs an asynchronous invocation again that has
// failed (R2).
func (x *explorer) redeliver(w *world, i uint8) {
	s := w.runners[i].source
	if s > alarmB || x.off(failover.R2) || w.nodes[s-alarmA].event != none {
		return
	}
	w.nodes[s-alarmA].event = fresh
}

// save writes what a runner believes to the record (R11).
func (x *explorer) save(w *world, i uint8) {
	a := action{verb: saves, runner: i}
	if w.runners[i].behind && !x.setup.Broken.has(A3) {
		x.yield(w, i)
		return
	}
	next := *w
	x.record(&next, i)
	x.finish(&next, i)
	x.put(next, a)

	a.fault = AnswerLost // and it can't be read back either
	if next = *w; x.spend(&next, AnswerLost) {
		x.record(&next, i)
		next.runners[i] = runner{}
		x.put(next, a)
	}
	a.fault = RecordDown
	if next = *w; x.spend(&next, RecordDown) {
		x.unreachable(&next, i)
		x.put(next, a)
	}
}

// record puts what a runner believes on the record.
func (x *explorer) record(w *world, i uint8) {
	r := &w.runners[i]
	f, was := x.about(r.core), x.about(w.record)
	w.record = x.change(r.core, recorded)
	if x.off(failover.R11) {
		w.pause = f.pause
	}
	o := &w.runners[1-i]
	if o.mode != idle {
		o.behind, o.older = true, o.older || f.ahead
	}
	if is := x.about(w.record); is.primary != was.primary {
		for n := range w.nodes {
			if w.nodes[n].event == fresh {
				w.nodes[n].event = stale
			}
		}
	}
	x.judgeRecord(w, was)
	if is := x.about(w.record); is.pending != "" && (was.pending == "" || is.expires > was.expires) {
		w.outdated = false
	}
	if f.ahead && w.seal == shut {
		w.seal, w.sealed = outlived, 0
		x.forgetSeal(w)
	}
	if is := x.about(w.record); is.id != was.id && w.cmd.state != unsent {
		if w.cmd.state == flying {
			w.old = w.cmd
		}
		w.cmd = command{}
	}
	r.core, r.dirty, r.checked, r.behind, r.older = x.change(r.core, saved), false, true, false, false
}

// finish makes a runner idle that has nothing left to do.
func (x *explorer) finish(w *world, i uint8) {
	if r := &w.runners[i]; r.mode == busy && !r.dirty && r.work[0] == nothing {
		*r = runner{}
	}
}

// unreachable is the record that gives no answer. A redirect may be finished
// without it (R27); everything else ends here.
func (x *explorer) unreachable(w *world, i uint8) {
	r := &w.runners[i]
	f := x.about(r.core)
	may := f.running() && f.left > 0 && (f.step == failover.StepConfirm || f.step == failover.StepRedirect && f.primary == f.to)
	if may && !x.off(failover.R27) && r.work[0] != nothing {
		r.offline = true
		return
	}
	if may && f.step == failover.StepRedirect && r.work[0] != nothing {
		w.wrong = notRedirected
	}
	*r = runner{}
}

// yield follows whoever wrote to the record.
func (x *explorer) yield(w *world, i uint8) {
	next := *w
	x.reload(&next, i)
	x.put(next, action{verb: conflicts, runner: i})
}

func (x *explorer) reload(w *world, i uint8) {
	s := w.runners[i].source
	w.runners[i] = runner{core: x.read(w), mode: yielding, source: s, checked: true}
	if !x.about(w.record).running() {
		w.runners[i] = runner{}
	}
}

// wake lets a runner look again at whom it has watched.
func (x *explorer) wake(w *world, i uint8) {
	r := w.runners[i]
	if !r.slept {
		return
	}
	next := *w
	a := action{verb: wakes, runner: i}
	if r.behind {
		x.reload(&next, i)
	} else {
		next.runners[i].mode, next.runners[i].checked = busy, true
		a.said = x.feed(&next, i, hint{kind: resumed}).said
	}
	x.put(next, a)
}

// check looks at the record before a mutation, if the last look is not of a
// moment ago (R22).
func (x *explorer) check(w *world, i uint8) {
	if w.runners[i].behind {
		x.yield(w, i)
		return
	}
	next := *w
	next.runners[i].checked = true
	x.perform(&next, i)
	x.death(w, i, RecordDown, action{verb: performs, runner: i, task: w.runners[i].work[0], fault: RecordDown})
}

// claim puts an operation on the record, if nobody else did (R2, R11).
func (x *explorer) claim(w *world, i uint8) {
	r := w.runners[i]
	a := action{verb: claims, runner: i}
	if r.behind && !x.setup.Broken.has(A3) || w.pause.active() {
		x.lost(w, i, a)
		return
	}
	next := *w
	x.judgeClaim(&next, next.runners[i])
	x.record(&next, i)
	granted := next
	next.runners[i].done()
	a.said = x.feed(&next, i, hint{kind: claimed}).said
	x.finish(&next, i)
	x.put(next, a)

	a.fault, a.said = AnswerLost, 0
	if next = granted; x.spend(&next, AnswerLost) {
		if x.off(failover.R2) { // it takes its own claim for somebody else's
			x.lost(&next, i, a)
		}
		next.runners[i] = runner{}
		x.put(next, a)
	}
	x.death(w, i, RecordDown, action{verb: claims, runner: i, fault: RecordDown})
}

// lost is a claim that met another record, or maintenance.
func (x *explorer) lost(w *world, i uint8, a action) {
	next := *w
	r := &next.runners[i]
	r.done()
	on := x.about(w.record)
	h := hint{kind: claimed}
	mine := on.id != "" && on.id == x.about(r.core).id && r.source != look
	older := r.older
	r.behind, r.older, r.checked = false, false, true
	if mine && !x.off(failover.R2) {
		r.core = x.read(w)
	} else {
		h.answer, h.core, h.stale = failed, x.read(w), older
	}
	r.dirty = false
	a.answer = h.answer
	a.said = x.feed(&next, i, h).said
	x.finish(&next, i)
	x.put(next, a)
}
