package db2

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// redial is how often a standby calls its primary.
const redial = 2 * time.Second

// errIncompatible: this log holds something that the primary's does not.
var errIncompatible = errors.New("the log stream of the standby database is incompatible with that of the primary")

// startStandby makes this database replay its primary's log. The
// administrative lock is held.
func (d *database) startStandby(replayOwnLog bool) error {
	l, err := d.in.net.Listen(d.cfg.LocalPort, false)
	if err != nil {
		return fmt.Errorf("open the HADR port: %w", err)
	}
	r := d.newRun(Standby)
	d.mu.Lock()
	d.run = r
	r.replay = mark{d.log.end(), d.logTime}
	if replayOwnLog {
		d.enter(r, LocalCatchup)
	} else {
		d.enter(r, RemoteCatchupPending)
	}
	d.mu.Unlock()
	r.wg.Go(func() { d.accept(r, l) })
	r.wg.Go(func() { d.watch(r, func(now time.Time) { d.tendStandby(r, now) }) })
	r.wg.Go(func() { d.follow(r) })
	if replayOwnLog {
		r.wg.Go(func() {
			if d.in.clock.Sleep(r.ctx, d.in.cfg.LocalCatchup.Duration()) == nil {
				d.ready(r)
			}
		})
	}
	return nil
}

// ready ends local catch-up.
func (d *database) ready(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enter(r, RemoteCatchupPending)
	if r.link != nil {
		d.getSet(r)
	}
}

// getSet gives up the peer window and tells the primary to go on. d.mu is
// held.
func (d *database) getSet(r *run) {
	r.windowEnd = time.Time{}
	d.enter(r, RemoteCatchup)
	r.link.send(frameReady, position{End: d.log.end()})
}

// tendStandby is the standby's look at its timers.
func (d *database) tendStandby(r *run, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Who cannot write what came reads no further: the silence is its own.
	if r.link != nil && !d.in.levers.logFull() && r.link.silence(now) >= d.cfg.timeout() {
		d.losePartner(r, "HADR timeout")
	}
	if r.state == DisconnectedPeer && !now.Before(r.windowEnd) {
		d.in.diag("Peer window ends. Peer window expired.")
		d.enter(r, RemoteCatchupPending)
	}
	d.beatIfDue(r, now)
}

// follow connects to the primary again and again.
func (d *database) follow(r *run) {
	for r.ctx.Err() == nil {
		err := d.subscribe(r)
		if errors.Is(err, errIncompatible) {
			d.in.diag("ADM12500E  The HADR standby database cannot be made consistent with the primary database. The log stream of the standby database is incompatible with that of the primary. To use this database as a standby, it must be recreated from a backup image or split mirror.")
			d.in.background(func() { d.shutDown(r) })
			return
		}
		if d.in.clock.Sleep(r.ctx, redial) != nil {
			return
		}
	}
}

// shutDown ends this activation because it can't go on.
func (d *database) shutDown(r *run) {
	if d.acquire(d.in.ctx) != nil {
		return
	}
	defer d.release()
	d.stop(r)
}

// subscribe connects to the primary and replays until the connection ends.
func (d *database) subscribe(r *run) error {
	shake, cancel := clock.WithTimeout(r.ctx, d.in.clock, 5*time.Second)
	defer cancel()
	conn, err := d.in.net.Dial(shake, d.cfg.RemoteHost, d.cfg.RemotePort)
	if err != nil {
		return err
	}
	s := newSession(conn, d.in.clock)
	r.wg.Go(s.write)
	defer s.close()
	in := bufio.NewReaderSize(conn, 1<<16)

	d.mu.Lock()
	h := hello{
		Database: d.cfg.Database, Owner: d.in.cfg.Owner, Host: d.in.cfg.Hostname,
		Timeout: d.cfg.Timeout, PeerWindow: d.cfg.PeerWindow, SyncMode: d.cfg.SyncMode,
		Delayed: d.cfg.ReplayDelay > 0, Reads: d.in.cfg.ReadsOnStandby, Local: r.state == LocalCatchup, End: d.log.end(),
	}
	d.mu.Unlock()
	s.send(frameHello, h)
	var primary accept
	if err := readAs(shake, conn, in, frameAccept, &primary); err != nil {
		return err
	}
	if joined, err := d.join(r, s, h.End, primary); !joined {
		return err
	}
	return d.replay(r, s, conn, in)
}

// compatible compares the logs. A standby that had received more than its
// primary wrote before it crashed drops the rest, which no commit relied on.
// An old primary that is being reintegrated can't: what it wrote alone was
// committed. d.mu is held.
func (d *database) compatible(end int64, primary accept) error {
	common := min(end, primary.End)
	sum, err := d.log.checksum(common)
	if err != nil {
		return err
	}
	if sum != primary.Sum {
		return errIncompatible
	}
	if end > primary.End {
		if d.cfg.WasPrimary {
			return errIncompatible
		}
		return d.log.truncate(primary.End)
	}
	return nil
}

// join notes the connection with the primary and, unless local catch-up still
// runs, begins remote catch-up.
func (d *database) join(r *run, s *session, end int64, primary accept) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != r || r.takingOver {
		return false, nil
	}
	if err := d.compatible(end, primary); err != nil {
		return false, err
	}
	now := d.in.clock.Now()
	r.link, r.linkSince, r.nextBeat = s, now, now
	r.seen = contact{}
	r.partner = partner{known: true, host: primary.Host, owner: primary.Owner, end: primary.End, logTime: d.logTime}
	r.replay = mark{min(r.replay.pos, d.log.end()), r.replay.at}
	if r.state != LocalCatchup {
		d.getSet(r)
	}
	return true, nil
}

// replay takes the primary's messages until the connection ends.
func (d *database) replay(r *run, s *session, conn net.Conn, in *bufio.Reader) error {
	stop := context.AfterFunc(r.ctx, func() { _ = conn.Close() })
	defer stop()
	for {
		t, b, err := readFrame(in)
		if err == nil && t == frameData {
			err = d.in.levers.logRoom(r.ctx)
		}
		if err == nil {
			err = d.take(r, s, t, b)
		}
		if err != nil {
			d.mu.Lock()
			if r.link == s {
				d.losePartner(r, err.Error())
			}
			d.mu.Unlock()
			return err
		}
	}
}

// errGoodbye ends a connection in order.
var errGoodbye = errors.New("the partner left in order")

func (d *database) take(r *run, s *session, t frameType, b []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.link != s || d.run != r {
		return net.ErrClosed
	}
	s.heard(d.in.clock.Now())
	switch t {
	case frameData:
		return d.receive(r, s, b)
	case framePeer, frameBeat:
		var m beat
		if err := json.Unmarshal(b, &m); err != nil {
			return err
		}
		r.partner.end, r.partner.logTime = m.End, m.LogTime
		if t == frameBeat {
			r.seen.beats++
		} else {
			d.enter(r, Peer)
			if d.cfg.WasPrimary {
				d.cfg.WasPrimary = false
				d.saveConfig()
			}
		}
		if r.state == Peer && m.WindowEnd > 0 {
			r.windowEnd = time.Unix(m.WindowEnd, 0).UTC()
		}
	case frameSurrender, frameRefuse:
		var m position
		_ = json.Unmarshal(b, &m)
		select {
		case r.surrendered <- surrender{end: m.End, refused: t == frameRefuse}:
		default:
		}
	case frameBye:
		r.link.close()
		r.link, r.linkSince = nil, d.in.clock.Now()
		r.windowEnd = time.Time{}
		if r.state != LocalCatchup {
			d.enter(r, RemoteCatchupPending)
		}
		return errGoodbye
	}
	return nil
}

// receive writes log bytes and tells the primary.
func (d *database) receive(r *run, s *session, b []byte) error {
	if len(b) < 8 {
		return fmt.Errorf("log message of %d bytes", len(b))
	}
	from, b := int64(binary.BigEndian.Uint64(b)), b[8:]
	if from != d.log.end() {
		return fmt.Errorf("log bytes from %d, want %d", from, d.log.end())
	}
	if err := d.log.append(b); err != nil {
		return err
	}
	d.received(r, from, b)
	r.partner.end, r.partner.logTime = max(r.partner.end, d.log.end()), d.logTime
	s.sendAck(d.log.end())
	return nil
}
