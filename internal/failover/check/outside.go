package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Spans of time, in the order of their transforms.
var spans = [...]struct {
	what  transform
	ticks int
}{{afterTick, 1}, {afterWhile, 13}, {afterLong, 240}}

// time passes. Runners may be held up for ticks at any moment. A while passes
// in waits that have just begun, because an operation that nobody goes on with
// is found by the next look (R32), and a long time where nothing is under way.
func (x *explorer) time(w *world) {
	last := len(spans) - 1
	if x.about(w.record).running() {
		last = 0
	}
	for _, r := range w.runners {
		if r.mode == idle {
			continue
		}
		if last = 1; x.setup.Swift && w.nodes[0].window+w.nodes[1].window > 0 {
			last = 0 // it looks every few seconds
		}
		if r.mode == busy && (r.work[0].what() != doWait || r.dirty) || r.slept {
			if x.setup.Swift {
				return
			}
			last = 0
			break
		}
	}
	for s := range spans[:last+1] {
		next := *w
		x.pass(&next, s)
		x.put(next, action{verb: passes, span: uint8(s)})
	}
}

func (x *explorer) pass(w *world, span int) {
	what, ticks := spans[span].what, spans[span].ticks
	w.record = x.change(w.record, what)
	for i := range w.runners {
		r := &w.runners[i]
		if r.mode == idle {
			continue
		}
		r.core = x.change(r.core, what)
		r.checked = false
		r.slept = r.mode == yielding || r.work[0].what() == doWait && (!r.dirty || r.offline)
	}
	if w.seal == shut {
		w.sealed = uint8(min(sealAge, int(w.sealed)+ticks))
	}
	w.lateMove, w.pause = fewer(w.lateMove, ticks), w.pause.passed(ticks)
	for _, c := range []*command{&w.cmd, &w.old} {
		if c.state != flying || x.off(failover.R21) {
			continue
		}
		if c.left = fewer(c.left, ticks); c.left == 0 { // the document refuses after its deadline
			*c = command{}
		}
	}
	f := x.about(w.record)
	w.pass(x.setup, int(f.primary), ticks)
	if acks, _ := w.acknowledges(int(f.primary)); span > 0 && acks && f.pending != "" {
		w.outdated = true // it works for minutes: what was to be approved is over
	}
}

// nature is what happens without anybody's doing, and is no fault.
func (x *explorer) nature(w *world) {
	for i := range w.nodes {
		if w.nodes[i].machine == stopping {
			next := *w
			next.halt(i, stopped)
			x.put(next, action{verb: stops, node: uint8(i)})
		}
	}
	if next := *w; next.connect() {
		x.put(next, action{verb: connects})
	}
	if next := *w; next.caughtUp() {
		x.put(next, action{verb: catchesUp})
	}
	if !w.link {
		next := *w
		next.link = true
		x.put(next, action{verb: heals})
	}
	for i, n := range w.nodes {
		if n.mute {
			next := *w
			next.nodes[i].mute = false
			x.put(next, action{verb: revives, node: uint8(i)})
		}
		if n.cut {
			next := *w
			next.nodes[i].cut = false
			x.put(next, action{verb: reaches, node: uint8(i)})
		}
		switch {
		case n.red && !w.ails(i):
			next := *w
			next.nodes[i].red = false
			x.put(next, action{verb: greens, node: uint8(i)})
		case !n.red && w.ails(i):
			next := *w
			x.redden(&next, i)
			x.put(next, action{verb: reddens, node: uint8(i)})
		}
	}
	if x.mayRenew(w) {
		next := *w
		next.seal = open
		x.put(next, action{verb: renews})
	}
}

// ails reports whether the alarm of node i has a reason to be red.
func (w *world) ails(i int) bool {
	n := w.nodes[i]
	if !n.serves() || !n.heard() {
		return true
	}
	acks, _ := w.acknowledges(i)
	return n.role == primary && !acks
}

// redden turns an alarm red. Its event carries a new operation's id.
func (x *explorer) redden(w *world, i int) {
	w.nodes[i].red, w.nodes[i].event = true, fresh
	what := forgetA + transform(i)
	w.record = x.change(w.record, what)
	for k := range w.runners {
		if r := &w.runners[k]; r.mode != idle {
			r.core = x.change(r.core, what)
			if r.source == alarmA+source(i) {
				r.source = look
			}
		}
	}
}

// mayRenew reports whether an agent takes a new lease: the epoch that was
// sealed is over.
func (x *explorer) mayRenew(w *world) bool {
	f := x.about(w.record)
	n := w.nodes[f.primary]
	return w.seal == outlived && x.setup.Agents && !f.running() && n.serves() && n.role == primary && n.heard() && !f.fenced[f.primary]
}

// messages arrive: events of alarms, the minutely look, and what is late.
func (x *explorer) messages(w *world) {
	i, ok := x.free(w)
	for n := range w.nodes {
		e := w.nodes[n].event
		if e == none {
			continue
		}
		if next := *w; x.spend(&next, EventLost) {
			next.nodes[n].event = none
			x.put(next, action{verb: breaks, fault: EventLost, node: uint8(n)})
		}
		if !ok {
			continue
		}
		h := hint{kind: alarmed, node: uint8(n), code: uint8(alarmA) + uint8(n), stale: e == stale}
		a := action{verb: delivers, node: uint8(n)}
		next := *w
		if x.spend(&next, EventRepeated) {
			again := a
			again.fault = EventRepeated
			x.invoke(next, i, alarmA+source(n), h, again)
		}
		next = *w
		next.nodes[n].event = none
		x.invoke(next, i, alarmA+source(n), h, a)
	}
	if ok && !x.off(failover.R32) && w.runners[0].source != look && w.runners[1].source != look {
		x.invoke(*w, i, look, x.sight(w), action{verb: looks})
	}
	if ok && x.off(failover.R1) {
		n := x.about(w.record).primary
		h := hint{kind: alarmed, node: n, code: uint8(alarmA) + n}
		x.invoke(*w, i, alarmA+source(n), h, action{verb: misleads, node: n})
	}
	if ok && x.off(failover.R12) {
		x.intrude(w)
	}
	x.late(w)
}

// intrude lets another stack look, whose table was restored from a backup: it
// knows nothing of what happened since (R12).
func (x *explorer) intrude(w *world) {
	old := x.intern(Healthy.record(x.config))
	for _, t := range x.ask(old, x.sight(w)).work {
		next := *w
		switch t.what() {
		case doRepair:
			x.lead(&next, t.table(), t.node())
		case doStop:
			x.accept(&next, int(t.node()))
		default:
			continue
		}
		x.put(next, action{verb: intrudes, task: t})
	}
}

// sight is what the minutely look sees.
func (x *explorer) sight(w *world) hint {
	h := hint{kind: watched}
	if x.setup.Agents && w.seal == shut {
		h.lease, h.stale, h.node = true, w.sealed == sealAge, x.about(w.record).primary
	}
	for i := range w.nodes {
		h.views[i] = w.view(x.setup, i, false)
		if w.nodes[i].red {
			h.alarms |= 1 << i
		}
	}
	for t := range x.setup.Tables {
		h.code |= w.routes[t] << (2 * t)
	}
	return h
}

// late lets arrive what was sent before and not lost.
func (x *explorer) late(w *world) {
	for i := range w.nodes {
		if w.nodes[i].lateStop > 0 {
			next := *w
			next.nodes[i].lateStop = 0
			x.accept(&next, i)
			x.put(next, action{verb: arrives, task: doStop | task(i)})
		}
	}
	for i := range w.nodes {
		if w.nodes[i].lateBoot > 0 {
			next := *w
			next.nodes[i].lateBoot = 0
			next.start(i)
			x.put(next, action{verb: arrives, task: doStart | task(i)})
		}
	}
	if w.lateMove > 0 {
		next := *w
		next.lateMove = 0
		x.lead(&next, 0, w.moveTo)
		next.moveTo = 0
		x.put(next, action{verb: arrives, task: doMove | task(w.moveTo)})
	}
	for k, c := range []command{w.cmd, w.old} {
		if c.state != flying || !w.nodes[c.node].reached() || w.nodes[c.node].machine != running {
			continue
		}
		next := *w
		at := []*command{&next.cmd, &next.old}[k]
		at.state = refused
		if x.takeover(&next, int(c.node), c.how) {
			at.state = succeeded
		}
		if k == 1 {
			*at = command{}
		}
		x.put(next, action{verb: arrives, task: doPromote | task(c.node)})
	}
}

// trouble is what breaks in the world.
func (x *explorer) trouble(w *world) {
	if w.faults == 0 {
		return
	}
	x.broken(w, LinkBreaks, 0, func(w *world) { w.link = false })
	if w.conn == peer {
		x.broken(w, LinkSilent, 0, func(w *world) { w.link, w.silent = false, true })
		x.broken(w, LinkDeaf, 0, func(w *world) { w.link, w.deaf = false, true })
		x.broken(w, ClockWrong, 0, func(w *world) { w.skew = true })
	}
	if w.routes == ([2]uint8{}) && int(w.faults) == x.setup.Faults {
		// It happens alone: another failure takes its place on the record.
		x.broken(w, PathBlocked, 1, func(w *world) { w.hole, w.faults = true, 0 })
	}
	for i := range w.nodes {
		x.troubleOf(w, i)
	}
}

func (x *explorer) troubleOf(w *world, i int) {
	n := &w.nodes[i]
	if x.setup.Agents && !n.mute && n.machine == running {
		x.broken(w, AgentDies, i, func(w *world) { w.nodes[i].mute = true })
	}
	x.broken(w, NodeCut, i, func(w *world) { w.nodes[i].cut = true })
	if !n.red && !w.ails(i) {
		x.broken(w, AlarmLies, i, func(w *world) { x.redden(w, i) })
	}
	switch n.machine {
	case running:
		x.broken(w, PowerLost, i, func(w *world) { w.halt(i, stopped) })
		x.broken(w, HostFrozen, i, func(w *world) { w.halt(i, frozen) })
		x.broken(w, CheckLies, i, func(w *world) { w.nodes[i].impaired = true })
	case stopped:
		x.broken(w, MachineStarted, i, func(w *world) { w.boot(i) })
	}
	if n.runs() && n.database <= hung {
		x.broken(w, DatabaseDies, i, func(w *world) { w.halt(i, w.nodes[i].machine) })
	}
	if n.serves() && n.role == primary {
		x.broken(w, DatabaseHangs, i, func(w *world) { w.nodes[i].database = hung })
	}
}
