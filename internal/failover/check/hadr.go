package check

// This file is what Db2 does, whoever acts on it. Sources:
// https://www.ibm.com/docs/en/db2/11.5?topic=commands-takeover-hadr
// https://ibm.github.io/db2-hadr-wiki/peerWindow.html
// https://ibm.github.io/db2-hadr-wiki/hadrTakeover.html

// pair returns primary and standby where the two could be connected.
func (w *world) pair() (p, s *node, ok bool) {
	i, one := w.primaryNode()
	if !one {
		return nil, nil, false
	}
	p, s = &w.nodes[i], &w.nodes[1-i]
	return p, s, w.link && p.runs() && s.runs() && p.database <= hung && s.database == active
}

// settle lets the nodes notice what has just changed, and clients write: they
// do at every moment.
func (w *world) settle() {
	if _, _, ok := w.pair(); w.conn != gone && !ok {
		w.disconnect()
	}
	w.commit()
}

// disconnect breaks the connection. From peer state a primary does not commit
// until its window is over, and its standby may be forced until then.
func (w *world) disconnect() {
	for i := range w.nodes {
		n := &w.nodes[i]
		n.window, n.settled = 0, false
		if w.conn != peer || n.database > hung {
			continue
		}
		n.window = peerWindow
		switch {
		case n.role == primary && w.silent:
			n.window += hadrTimeout
		case n.role == primary && w.ahead:
			n.window -= drift
		case n.role == standby && w.skew:
			n.window += skewed
		}
	}
	w.conn, w.silent = gone, false
}

// connect lets a standby that is back catch up.
func (w *world) connect() bool {
	p, s, ok := w.pair()
	if w.conn != gone || !ok || s.diverged || p.isolated || s.isolated {
		return false
	}
	w.nodes[0].window, w.nodes[1].window = 0, 0
	w.conn, w.deaf = catchup, false
	return true
}

// caughtUp ends the catch-up in peer state.
func (w *world) caughtUp() bool {
	p, s, ok := w.pair()
	if w.conn != catchup || !ok || p.database != active {
		return false
	}
	w.conn = peer
	s.whole = s.whole || p.whole
	return true
}

// acknowledges reports whether a commit on node i ends now, and whether its
// standby has it then.
func (w *world) acknowledges(i int) (acks, replicated bool) {
	n := w.nodes[i]
	if !n.serves() || n.role != primary {
		return false, false
	}
	if w.conn == peer {
		return true, true
	}
	return n.window == 0, false
}

// commit lets clients of every node that is primary write. They reach it by a
// route, and stay connected when the route has moved.
func (w *world) commit() {
	for i := range w.nodes {
		n := &w.nodes[i]
		serves := n.serves() && n.role == primary
		n.clients = serves && (n.clients || !n.isolated && (int(w.routes[0]) == i || int(w.routes[1]) == i))
		acks, replicated := w.acknowledges(i)
		if !acks || !n.clients {
			continue
		}
		if !n.whole && w.wrong == fine {
			w.wrong = lostCommit
			if o, _ := w.acknowledges(1 - i); o && w.nodes[1-i].clients {
				w.wrong = twoWriters
			}
		}
		w.nodes[1-i].whole = replicated
		n.diverged = n.diverged || !replicated && w.nodes[1-i].role == primary
	}
}

// promote is TAKEOVER HADR BY FORCE, PEER WINDOW ONLY unless forced. It reports
// whether node i is primary then.
func (w *world) promote(i int, forced bool) bool {
	n := &w.nodes[i]
	if !n.serves() {
		return false
	}
	if n.role == primary {
		return true
	}
	if !forced && (w.conn == catchup || w.conn == gone && n.window == 0) {
		return false
	}
	if w.conn != gone {
		w.disconnect()
	}
	n.role, n.window, n.settled = primary, 0, false
	o := &w.nodes[1-i]
	o.diverged = o.diverged || !n.whole // its log goes on where this one's branches off
	return true
}

// swap is a graceful TAKEOVER of an operator.
func (w *world) swap() bool {
	p, s, ok := w.pair()
	if !ok || w.conn != peer || p.database != active {
		return false
	}
	p.role, s.role = standby, primary
	return true
}

// boot starts a machine. Some time later its database comes up, in the role
// that it has on disk.
func (w *world) boot(i int) {
	n := &w.nodes[i]
	n.machine, n.impaired, n.mute, n.boots = booting, false, false, bootTime
}

// start starts a machine that is stopped.
func (w *world) start(i int) {
	if w.nodes[i].machine == stopped {
		w.boot(i)
	}
}

func (w *world) booted(i int) {
	w.nodes[i].machine = running
	w.activate(i, false)
}

// activate starts a database. A primary does not start without its standby, but
// by force (SQL1768N reason 7).
func (w *world) activate(i int, alone bool) {
	n, o := &w.nodes[i], &w.nodes[1-i]
	if n.machine != running {
		return
	}
	n.window = 0
	switch {
	case n.role == standby, alone:
		n.database = active
	case o.role == standby && o.serves() && w.link && !n.isolated && !o.isolated:
		n.database = active
	default:
		n.database = inactive
	}
	n.diverged = n.diverged || alone && o.role == primary
	if n.database == active && n.role == primary && !alone {
		w.conn = gone
		w.connect()
	}
}

// rejoin is START HADR AS STANDBY on an old primary. One whose log has parted
// starts, and never gets further.
func (w *world) rejoin(i int) bool {
	n, o := &w.nodes[i], &w.nodes[1-i]
	if n.machine != running || o.role != primary || !o.serves() || !w.link || n.isolated || o.isolated {
		return false
	}
	n.role, n.database, n.window, n.settled = standby, active, 0, false
	w.conn = gone
	w.connect()
	return true
}

// stop ends what runs on a machine.
func (w *world) halt(i int, m machine) {
	n := &w.nodes[i]
	n.machine, n.database, n.window, n.settled, n.boots = m, down, 0, false, 0
	n.mute = n.mute && n.runs()
	if n.role == standby && w.conn == gone {
		return
	}
	w.settle()
}

// pass lets a tick pass on the nodes, or a longer time. The lease belongs to
// holder.
func (w *world) pass(s *Setup, holder, ticks int) {
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.boots > 0 {
			if n.boots = fewer(n.boots, ticks); n.boots == 0 && n.machine == booting {
				w.booted(i)
			}
		}
		n.lateStop, n.lateBoot = fewer(n.lateStop, ticks), fewer(n.lateBoot, ticks)
		if s.zealous && s.deadMan(w, i, i == holder) {
			w.kill(i)
		}
		if w.conn == peer {
			n.settled = n.settled || ticks > 1 && n.role == standby && n.serves()
			continue
		}
		if n.window > 0 {
			left := fewer(n.window, ticks)
			if s.Broken.has(A2) && n.role == primary {
				left = fewer(left, 1) // its clock runs twice as fast
			}
			last := s.lastLook()
			if n.window > last && left <= last && w.conn == gone && s.deadMan(w, i, i == holder) {
				w.kill(i)
				continue
			}
			n.window = left
		}
	}
	w.deaf = false
	w.settle()
}

// kill ends a database as its own agent does. One that works is not to be ended
// because nobody can be reached.
func (w *world) kill(i int) {
	if acks, _ := w.acknowledges(i); acks && w.wrong == fine {
		w.wrong = endedAlone
	}
	w.nodes[i].database, w.nodes[i].window = down, 0
}

// lastLook is how many ticks before the end of its window a primary looks at its
// lease for the last time.
func (s *Setup) lastLook() uint8 {
	if s.Drifts {
		return 1 + drift
	}
	return 1
}

// deadMan reports whether the agent of a primary stops its database before the
// window ends, where it has lost its standby: it sees no lease either (R16).
func (s *Setup) deadMan(w *world, i int, holds bool) bool {
	n := w.nodes[i]
	return s.Agents && !s.Broken.has(A1) && n.role == primary && n.runs() && n.database <= hung &&
		(!holds || w.seal != open || n.cut)
}

// fewer counts ticks down.
func fewer(v uint8, by int) uint8 {
	if int(v) <= by {
		return 0
	}
	return v - uint8(by)
}
