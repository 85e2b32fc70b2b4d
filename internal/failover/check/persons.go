package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// persons do what people do.
func (x *explorer) persons(w *world) {
	if w.people == 0 {
		return
	}
	x.commands(w)
	x.byHand(w)
}

// commands are what people ask the product for.
func (x *explorer) commands(w *world) {
	i, ok := x.free(w)
	if !ok {
		return
	}
	f := x.about(w.record)
	command := func(d Deed, h hint) {
		if x.setup.may(d) {
			next := *w
			next.people--
			x.invoke(next, i, human, h, action{verb: acts, deed: d, node: h.node})
		}
	}
	if f.id == "" {
		command(Asks, hint{kind: asked, node: f.primary})
		command(AsksLate, hint{kind: asked, node: f.primary, code: 1})
		command(AcceptsLoss, hint{kind: asked, node: f.primary, code: 2})
		command(Switches, hint{kind: switchAsked, node: 1 - f.primary})
		command(Rejoins, hint{kind: rejoinAsked, node: 1 - f.primary})
	}
	if f.blocked {
		command(Resumes, hint{kind: retried})
		command(Cancels, hint{kind: cancelled})
	}
	if f.cooling {
		command(Acknowledges, hint{kind: acknowledged})
	}
	if f.pending != "" {
		command(Approves, hint{kind: approved, code: f.pendingCode()})
	}
	for n := range w.nodes {
		if f.fenced[n] {
			h := hint{kind: releaseAsked, node: uint8(n)}
			for k := range w.nodes {
				h.views[k].machine = w.nodes[k].machine
			}
			command(Releases, h)
		}
	}
}

// pendingCode tells the operation that waits for a person.
func (f *facts) pendingCode() uint8 {
	for i, id := range ids {
		if id == f.pending {
			return uint8(i)
		}
	}
	return uint8(len(ids))
}

// byHand is what people do without asking.
func (x *explorer) byHand(w *world) {
	do := func(d Deed, node uint8, change func(*world) bool) {
		next := *w
		next.people--
		if x.setup.may(d) && change(&next) {
			x.put(next, action{verb: acts, deed: d, node: node})
		}
	}
	set := func(p pause) func(*world) bool {
		return func(w *world) bool {
			was := w.pause
			w.pause, w.pausedBy = p, p == paused
			return was != p
		}
	}
	do(Swaps, 0, func(w *world) bool { return w.swap() })
	do(Pauses, 0, set(paused))
	do(PausesFor, 0, set(expired+pauseTicks))
	do(Unpauses, 0, set(unpaused))
	do(Applies, 0, x.apply)
	for i := range w.nodes {
		do(Seizes, uint8(i), func(w *world) bool {
			return w.nodes[i].role == standby && !w.nodes[1-i].serves() && w.promote(i, false)
		})
		do(TurnsOn, uint8(i), func(w *world) bool {
			if w.nodes[i].machine != stopped {
				return false
			}
			if !x.about(w.record).fenced[i] { // as the word of its release says
				w.nodes[i].isolated = false
			}
			w.boot(i)
			return true
		})
	}
}

// apply is Terraform, which knows the node that is preferred as primary and
// writes what is declared. Who is primary is not its business (R11).
func (x *explorer) apply(w *world) bool {
	was := x.about(w.record)
	if x.off(failover.R11) {
		w.record = x.intern(Healthy.record(x.config))
	}
	if is := x.about(w.record); is.primary != was.primary && w.wrong == fine {
		w.wrong = undone
	}
	return true
}
