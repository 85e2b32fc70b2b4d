package db2

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// startPrimary makes this database serve as primary. Unless forced, it waits
// up to HADR_TIMEOUT for its standby, which is Db2's own guard against a split
// brain, and is refused if the partner has become primary by a takeover.
// The administrative lock is held.
func (d *database) startPrimary(ctx context.Context, forced bool) reply {
	if !forced {
		if d.supplanted(ctx) {
			d.configure(func(c *Config) { c.OldPrimary = true })
			return msgOldPrimary
		}
	}
	r, err := d.openPrimary(!forced)
	if err != nil {
		return failure("SQL1768N  Unable to start HADR. Reason code = \"5\". %v", err)
	}
	if forced {
		return reply{}
	}
	wait, cancel := clock.WithTimeout(ctx, d.in.clock, d.cfg.timeout())
	defer cancel()
	for {
		d.mu.Lock()
		changed, connected := d.changed, r.link != nil
		if connected {
			r.waiting = false
			_, err = d.append(r, record{at: d.in.clock.Now().Unix(), kind: activateRecord})
			d.touch()
		}
		d.mu.Unlock()
		if connected {
			if err != nil {
				d.in.diag("activation: %v", err)
			}
			return reply{}
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			d.stop(r)
			return msgStartCancelled
		case <-wait.Done():
			d.stop(r)
			d.in.diag("The HADR primary database failed to establish connection with standby database within the HADR timeout")
			return msgNoStandby
		}
	}
}

// openPrimary starts the goroutines of a primary.
func (d *database) openPrimary(waiting bool) (*run, error) {
	l, err := d.in.net.Listen(d.cfg.LocalPort, false)
	if err != nil {
		return nil, fmt.Errorf("open the HADR port: %w", err)
	}
	r := d.newRun(Primary)
	r.waiting = waiting
	d.mu.Lock()
	d.run = r
	d.enter(r, Disconnected)
	d.mu.Unlock()
	r.wg.Go(func() { d.accept(r, l) })
	r.wg.Go(func() { d.watch(r, func(now time.Time) { d.tendPrimary(r, now) }) })
	return r, nil
}

// tendPrimary is the primary's look at its timers.
func (d *database) tendPrimary(r *run, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.link != nil && r.link.silence(now) >= d.cfg.timeout() {
		d.losePartner(r, "HADR timeout")
	}
	if limit := d.in.cfg.PeerWaitLimit.Duration(); limit > 0 && r.state == Peer && r.logWait(now) >= limit {
		d.losePartner(r, "the log has waited for the standby as long as DB2_HADR_PEER_WAIT_LIMIT allows")
	}
	if r.state == DisconnectedPeer && !now.Before(r.windowEnd) {
		d.in.diag("Peer window ends. Peer window expired.")
		d.goAlone(r)
	}
	d.beatIfDue(r, now)
}

// goAlone lets a primary write without its standby. d.mu is held.
func (d *database) goAlone(r *run) {
	d.enter(r, Disconnected)
	if err := d.writeOut(r); err != nil {
		d.in.diag("log write failed: %v", err)
		return
	}
	d.wake(r)
}

// losePartner handles the loss of the connection without a goodbye. d.mu is
// held.
func (d *database) losePartner(r *run, why string) {
	if r.link == nil {
		return
	}
	now := d.in.clock.Now()
	d.in.diag("HADR connection lost: %s", why)
	r.seen.silence = now.Sub(r.link.lastHeard())
	r.link.close()
	r.link, r.linkSince = nil, now
	switch {
	case r.role == Primary && r.state == Peer && now.Before(r.windowEnd):
		d.enter(r, DisconnectedPeer) // commits wait until the window ends
	case r.role == Primary:
		d.goAlone(r)
	case r.state == Peer && now.Before(r.windowEnd):
		d.enter(r, DisconnectedPeer)
	case r.state != LocalCatchup:
		d.enter(r, RemoteCatchupPending)
	}
	d.touch()
}

// accept takes connections on the HADR port: of the standby, and short
// administrative ones.
func (d *database) accept(r *run, l net.Listener) {
	stop := context.AfterFunc(r.ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() {
			stop := context.AfterFunc(r.ctx, func() { _ = conn.Close() })
			defer stop()
			d.greet(r, conn)
		})
	}
}

func (d *database) greet(r *run, conn net.Conn) {
	in := bufio.NewReaderSize(conn, 1<<16)
	t, b, err := readFrame(in)
	if err != nil {
		_ = conn.Close()
		return
	}
	var h hello
	switch {
	case t == frameWho:
		d.mu.Lock()
		me := identity{Role: d.cfg.Role, Active: d.active(), Takeovers: d.takeovers}
		d.mu.Unlock()
		s := newSession(conn, d.in.clock)
		s.send(frameIAm, me)
		s.drain()
		s.write()
	case t == frameHello && r.role == Primary && json.Unmarshal(b, &h) == nil:
		d.admit(r, conn, in, h)
	default:
		_ = conn.Close()
	}
}

// admit checks a standby and serves it until the connection ends.
func (d *database) admit(r *run, conn net.Conn, in *bufio.Reader, h hello) {
	s := newSession(conn, d.in.clock)
	if why := d.mismatch(h); why != "" {
		d.in.diag("HADR standby %s rejected: %s", h.Host, why)
		s.enqueue(frameReject, []byte(why))
		s.drain()
		s.write()
		return
	}
	// A standby that calls again has given up the old connection.
	d.mu.Lock()
	d.losePartner(r, "the standby connects again")
	common := min(h.End, d.log.end())
	sum, err := d.log.checksum(common)
	me := accept{Owner: d.in.cfg.Owner, Host: d.in.cfg.Hostname, End: d.log.end(), Sum: sum}
	d.mu.Unlock()
	if err != nil {
		d.in.diag("read the log: %v", err)
		_ = conn.Close()
		return
	}
	r.wg.Go(s.write)
	defer s.close()
	s.send(frameAccept, me)
	if h.Local && d.meet(r, s, h) {
		d.hear(r, s, h, in)
		return
	}
	shake, cancel := clock.WithTimeout(r.ctx, d.in.clock, d.cfg.timeout())
	defer cancel()
	var at position
	if err := readAs(shake, conn, in, frameReady, &at); err != nil {
		return
	}
	if d.attach(r, s, h, at.End) {
		d.hear(r, s, h, in)
	}
}

// meet connects a standby that is still in local catch-up. Until it is ready
// the primary shows REMOTE_CATCHUP_PENDING. A primary whose log writes wait
// for the end of its peer window goes on waiting, unconnected, until it hears
// that the standby has no window.
// https://www.ibm.com/docs/en/db2/11.5.x?topic=support-hadr-standby-database-states
func (d *database) meet(r *run, s *session, h hello) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != r || r.link != nil || r.disabled || r.state != Disconnected {
		return false
	}
	d.link(r, s, h, h.End)
	d.enter(r, RemoteCatchupPending)
	d.touch()
	return true
}

// link notes the connection with a standby. d.mu is held.
func (d *database) link(r *run, s *session, h hello, end int64) {
	now := d.in.clock.Now()
	if r.link != s {
		r.link, r.linkSince, r.nextBeat = s, now, now
		r.seen = contact{}
	}
	r.partner = partner{
		known: true, host: h.Host, owner: h.Owner, end: end, logTime: d.logTime,
		replay: mark{end, d.logTime}, delayed: h.Delayed, reads: h.Reads,
	}
	r.ackTo = end
}

// attach begins remote catch-up. The standby has given up its peer window
// before, so that log writes may go on.
func (d *database) attach(r *run, s *session, h hello, end int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != r || r.link != nil && r.link != s || end > d.log.end() || r.disabled {
		return false
	}
	d.link(r, s, h, end)
	r.windowEnd = time.Time{}
	s.onSentDo(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if r.link == s {
			d.wake(r)
		}
	})
	d.enter(r, RemoteCatchup)
	if err := d.writeOut(r); err != nil {
		d.in.diag("log write failed: %v", err)
	}
	d.wake(r)
	d.touch()
	r.wg.Go(func() { d.catchUp(r, s, end, h.Delayed) })
	return true
}

// mismatch names the settings that keep a pair apart.
func (d *database) mismatch(h hello) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case h.Database != d.cfg.Database:
		return "database " + h.Database
	case h.Timeout != d.cfg.Timeout:
		return "HADR_TIMEOUT differs"
	case h.PeerWindow != d.cfg.PeerWindow:
		return "HADR_PEER_WINDOW differs"
	case h.SyncMode != d.cfg.SyncMode:
		return "HADR_SYNCMODE differs"
	}
	return ""
}

// catchUp ships the log from the file until the standby has it all, and then
// enters peer state, where every commit ships its own record.
func (d *database) catchUp(r *run, s *session, at int64, delayed bool) {
	for s.room() {
		d.mu.Lock()
		if r.link != s {
			d.mu.Unlock()
			return
		}
		if at == d.end() && d.cfg.SyncMode != SuperAsync && !delayed {
			now := d.in.clock.Now()
			end := d.renewWindow(r, now)
			s.send(framePeer, beat{End: at, LogTime: d.logTime, WindowEnd: end})
			s.shippedTo(at)
			d.enter(r, Peer)
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		b, err := d.log.read(at, 64<<10)
		if err != nil {
			d.in.diag("read the log: %v", err)
			s.close()
			return
		}
		if len(b) > 0 {
			s.sendLog(at, b)
			at += int64(len(b))
			continue
		}
		select {
		case <-r.grew:
		case <-s.finished:
			return
		case <-r.ctx.Done():
			return
		}
	}
}

// hear takes the standby's messages until the connection ends.
func (d *database) hear(r *run, s *session, h hello, in *bufio.Reader) {
	for {
		t, b, err := readFrame(in)
		if t == frameReady && err == nil {
			var at position
			if json.Unmarshal(b, &at) != nil || !d.attach(r, s, h, at.End) {
				err = errRejected
			}
		}
		d.mu.Lock()
		if r.link != s {
			d.mu.Unlock()
			return
		}
		if err != nil {
			d.losePartner(r, err.Error())
			d.mu.Unlock()
			return
		}
		s.heard(d.in.clock.Now())
		d.listen(r, s, t, b)
		d.mu.Unlock()
	}
}

// listen takes one message of the standby. d.mu is held.
func (d *database) listen(r *run, s *session, t frameType, b []byte) {
	switch t {
	case frameAck:
		if len(b) == 8 {
			end := int64(binary.BigEndian.Uint64(b))
			r.partner.end, r.partner.logTime = end, d.logTime
			if !r.partner.delayed {
				r.partner.replay = mark{end, d.logTime}
			}
			d.acknowledged(r, end)
		}
	case frameBeat:
		r.seen.beats++
		var m beat
		if json.Unmarshal(b, &m) == nil {
			r.partner.replay, r.partner.full = mark{m.Replay, m.ReplayTime}, m.Full
		}
	case frameTakeover:
		d.in.diag("Primary has started non-forced takeover request.")
		d.in.background(func() { d.handOver(r, s) })
	case frameDisable:
		d.in.diag("Primary has started a forced takeover request.")
		r.disabled = true
		d.in.background(func() { d.disable(r) })
	case frameBye:
		r.link.close()
		r.link, r.linkSince = nil, d.in.clock.Now()
		d.goAlone(r)
		d.touch()
	}
}

// supplanted asks the partner whether it became primary by a takeover that
// this database does not know.
func (d *database) supplanted(ctx context.Context) bool {
	ctx, cancel := clock.WithTimeout(ctx, d.in.clock, 2*time.Second)
	defer cancel()
	conn, err := d.in.net.Dial(ctx, d.cfg.RemoteHost, d.cfg.RemotePort)
	if err != nil {
		return false
	}
	defer conn.Close()
	s := newSession(conn, d.in.clock)
	s.send(frameWho, nil)
	go s.write()
	defer s.close()
	var other identity
	if err := readAs(ctx, conn, bufio.NewReader(conn), frameIAm, &other); err != nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return other.Active && other.Role == Primary && other.Takeovers > d.takeovers
}
