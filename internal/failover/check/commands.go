package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// onNode starts machines and runs commands on nodes, but for the promotion.
func (p performance) onNode() {
	n := int(p.t.node())
	node := p.w.nodes[n]
	kind := started
	var do func(*world) bool
	switch p.t.what() {
	case doStart:
		p.ends(NoFault, hint{kind: started}, func(w *world) { w.start(n) })
		p.ends(StartUnknown, hint{kind: started, answer: unknown}, nil)
		p.ends(StartLate, hint{kind: started, answer: unknown}, func(w *world) { w.nodes[n].lateBoot = 2 })
		return
	case doActivate, doActivateAlone:
		do = func(w *world) bool {
			if w.nodes[n].database >= inactive {
				w.activate(n, p.t.what() == doActivateAlone)
			}
			return w.nodes[n].serves()
		}
	case doReintegrate:
		kind = reintegrated
		do = func(w *world) bool { return w.rejoin(n) }
	default:
		next := *p.w
		next.wrong = unknownEffect
		p.put(next, action{verb: performs, task: p.t})
		return
	}
	if !node.reached() || node.machine != running {
		p.ends(NoFault, hint{kind: kind, answer: unknown}, nil)
		return
	}
	test := *p.w
	h := hint{kind: kind}
	if !do(&test) {
		h.answer = failed
	}
	p.ends(NoFault, h, func(w *world) { do(w) })
	p.ends(CommandFailed, hint{kind: kind, answer: failed}, nil)
	p.ends(AnswerLost, hint{kind: kind, answer: unknown}, func(w *world) { do(w) })
}

// promote sends the promotion, or asks for the one that was sent (R21).
func (p performance) promote() {
	f := p.about(p.w.runners[p.i].core)
	n := p.t.node()
	ticks := uint8(max(0, (f.left+tick-1)/tick))
	if c := p.w.cmd; c.attempt == f.attempts && c.node == n {
		switch c.state {
		case succeeded:
			p.ends(NoFault, hint{kind: promoted, code: 1}, nil)
			p.ends(NoFault, hint{kind: promoted}, nil)
			return
		case refused:
			p.ends(NoFault, hint{kind: promoted, answer: failed}, nil)
			return
		case flying:
			p.ends(NoFault, hint{kind: promoted, answer: unknown}, nil)
			return
		}
	}
	send := func(w *world, s progress) {
		if w.cmd.state == flying {
			w.old = w.cmd
		}
		w.cmd = command{state: s, how: f.how(), node: n, attempt: f.attempts, left: ticks}
	}
	node := p.w.nodes[n]
	switch {
	case !node.reached() || node.machine != running && node.machine != stopped:
		p.ends(NoFault, hint{kind: promoted, answer: unknown}, func(w *world) {
			if send(w, flying); ticks == 0 && !p.off(failover.R21) {
				w.cmd.state = refused
			}
		})
		return
	case node.machine == stopped:
		p.ends(NoFault, hint{kind: promoted, answer: failed}, func(w *world) { send(w, refused) })
		return
	}
	h := hint{kind: promoted}
	test := *p.w
	state := succeeded
	if ticks == 0 && !p.off(failover.R21) || !p.takeover(&test, int(n), f.how()) {
		h.answer, state = failed, refused
	}
	run := func(w *world) {
		send(w, state)
		if state == succeeded {
			p.takeover(w, int(n), f.how())
		}
	}
	if state == succeeded { // it may have read the role itself
		read := h
		read.code = 1
		p.ends(NoFault, read, run)
	}
	p.ends(NoFault, h, run)
	p.ends(PromoteLost, hint{kind: promoted, answer: unknown}, run)
	p.ends(PromoteUnknown, hint{kind: promoted, answer: unknown}, func(w *world) { send(w, unsent) })
	if ticks > 0 || p.off(failover.R21) {
		p.ends(PromoteLate, hint{kind: promoted, answer: unknown}, func(w *world) { send(w, flying) })
	}
	p.ends(CommandFailed, hint{kind: promoted, answer: failed}, func(w *world) { send(w, refused) })
}

// how a promotion of the operation goes about it.
func (f *facts) how() how {
	switch {
	case f.kind == failover.Switchover:
		return inOrder
	case f.force == failover.DataLoss:
		return anyway
	case f.force == failover.AfterWindow:
		return byForce
	}
	return inWindow
}

// takeover is the document that runs on the node.
func (x *explorer) takeover(w *world, i int, how how) bool {
	if how == inOrder {
		return w.nodes[i].role == primary && w.nodes[i].serves() || w.nodes[i].role == standby && w.swap()
	}
	if !w.promote(i, how != inWindow || x.off(failover.R19) || x.setup.Broken.has(A4)) {
		return false
	}
	w.nodes[i].whole = w.nodes[i].whole || how == anyway // a person has accepted what is lost
	return true
}
