package db2

import (
	"context"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Variant of TAKEOVER HADR.
type Variant string

// Variants.
const (
	Plain          Variant = ""
	ByForce        Variant = "BY FORCE"
	PeerWindowOnly Variant = "BY FORCE PEER WINDOW ONLY"
)

// margin is what PEER WINDOW ONLY asks to be left of the peer window.
const margin = 5 * time.Second

// standing is what decides whether a takeover may begin.
type standing struct {
	role      Role
	active    bool
	state     State
	connected bool
	mode      SyncMode
	window    time.Duration
	windowEnd time.Time
	now       time.Time // on the standby's own clock
}

// judge returns nil if a takeover may begin, or Db2's refusal.
func (s standing) judge(v Variant) *reply {
	if s.role != Standby || !s.active {
		return &msgTakeoverRefused
	}
	ok := false
	switch v {
	case Plain:
		ok = s.connected && (s.state == Peer || s.state == RemoteCatchup && s.mode == SuperAsync)
	case ByForce:
		ok = s.state == Peer || s.state == DisconnectedPeer || s.state == RemoteCatchupPending
	case PeerWindowOnly:
		switch {
		case !s.mode.confirms(), s.state == LocalCatchup, s.state == RemoteCatchup:
		case s.state != Peer && s.state != DisconnectedPeer, s.window == 0, s.windowEnd.IsZero(), s.now.Add(margin).After(s.windowEnd):
			refusal := takeoverRefused(9)
			return &refusal
		default:
			ok = true
		}
	}
	if !ok {
		return &msgTakeoverRefused
	}
	return nil
}

// takeover runs TAKEOVER HADR.
func (d *database) takeover(ctx context.Context, v Variant) reply {
	if err := d.acquire(ctx); err != nil {
		return msgGone
	}
	defer d.release()
	d.in.diag("Received TAKEOVER HADR command.")
	d.mu.Lock()
	r := d.run
	s := standing{role: d.cfg.Role, active: d.active(), mode: d.cfg.SyncMode, window: d.cfg.window(), now: d.in.clock.Now()}
	if r != nil {
		s.state, s.connected, s.windowEnd = r.state, r.link != nil, r.windowEnd
	}
	refusal := s.judge(v)
	if refusal == nil {
		r.handing, r.takingOver = v == Plain, v != Plain // from here on, it follows nobody
	}
	d.mu.Unlock()
	if refusal != nil {
		return *refusal
	}
	if v == Plain {
		d.in.diag("Standby has initiated a takeover.")
		if refusal := d.askForHandOver(ctx, r); refusal != nil {
			d.mu.Lock()
			r.handing = false
			d.mu.Unlock()
			return *refusal
		}
	} else {
		d.in.diag("Standby has initiated a takeover %s.", v)
		d.silencePrimary(r)
	}
	if err := d.in.clock.Sleep(ctx, d.in.cfg.TakeoverTime.Duration()); err != nil {
		d.in.diag("takeover interrupted: %v", err)
	}
	if err := d.becomePrimary(r); err != nil {
		d.in.diag("takeover failed: %v", err)
		return msgTakeoverRefused
	}
	return succeeded("TAKEOVER HADR ON DATABASE")
}

// askForHandOver asks the primary to ship its log and to become standby. A
// dead primary is waited for until HADR_TIMEOUT ends the connection.
func (d *database) askForHandOver(ctx context.Context, r *run) *reply {
	failed := takeoverRefused(7)
	d.mu.Lock()
	link := r.link
	d.mu.Unlock()
	if link == nil {
		return &failed
	}
	select {
	case <-r.surrendered: // of an earlier try
	default:
	}
	link.send(frameTakeover, nil)
	for {
		d.mu.Lock()
		changed, lost := d.changed, r.link != link
		d.mu.Unlock()
		select {
		case s := <-r.surrendered:
			if s.refused || !d.handedOver(r, s.end) {
				return &msgTakeoverRefused
			}
			return nil
		default:
		}
		if lost {
			return &failed
		}
		select {
		case s := <-r.surrendered:
			r.surrendered <- s
		case <-changed:
		case <-ctx.Done():
			return &msgGone
		}
	}
}

func (d *database) handedOver(r *run, end int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.takingOver = end == d.log.end()
	return r.takingOver
}

// silencePrimary tells a primary that is still connected to stop writing: best
// effort. Nothing that it sends from now on counts.
func (d *database) silencePrimary(r *run) {
	d.mu.Lock()
	link := r.link
	r.link = nil
	d.mu.Unlock()
	if link == nil {
		return
	}
	link.send(frameDisable, nil)
	d.drained(link)
	link.close()
}

// becomePrimary ends the standby and opens the database as primary.
func (d *database) becomePrimary(old *run) error {
	d.stop(old)
	d.configure(func(c *Config) {
		c.Role, c.OldPrimary, c.WasPrimary = Primary, false, false
		c.LastTakeover = d.in.clock.Now()
	})
	r, err := d.openPrimary(false)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.started = old.started
	r.partner = partner{known: true, host: old.partner.host, owner: old.partner.owner}
	_, err = d.append(r, record{at: d.in.clock.Now().Unix(), kind: takeoverRecord})
	return err
}

// handOver answers a plain takeover on the primary: applications are forced
// off, all log is shipped, and this database becomes the standby.
func (d *database) handOver(r *run, s *session) {
	ctx, cancel := clock.WithTimeout(r.ctx, d.in.clock, d.cfg.timeout())
	defer cancel()
	if d.acquire(ctx) != nil {
		s.send(frameRefuse, nil)
		return
	}
	defer d.release()
	if !d.shipAll(ctx, r, s) {
		s.send(frameRefuse, nil)
		return
	}
	d.configure(func(c *Config) { c.Role = Standby })
	d.mu.Lock()
	s.send(frameSurrender, position{End: d.end()})
	d.mu.Unlock()
	d.drained(s)
	d.stop(r)
	if err := d.startStandby(false); err != nil {
		d.in.diag("start as standby: %v", err)
	}
}

// shipAll stops new transactions and waits until the standby has everything.
func (d *database) shipAll(ctx context.Context, r *run, s *session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.surrendering = true
	for {
		if d.run != r || r.link != s {
			r.surrendering = false
			return false
		}
		if r.ackTo >= d.end() {
			return true
		}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		d.mu.Lock()
		if ctx.Err() != nil {
			r.surrendering = false
			return false
		}
	}
}

// disable is the end of a primary that was taken over by force. Its role stays
// PRIMARY.
func (d *database) disable(r *run) {
	if d.acquire(d.in.ctx) != nil {
		return
	}
	defer d.release()
	d.configure(func(c *Config) { c.OldPrimary = true })
	d.stop(r)
}

// configure changes the configuration on disk and in memory.
func (d *database) configure(change func(*Config)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.cfg)
	d.saveConfig()
}

// saveConfig writes the configuration. d.mu is held.
func (d *database) saveConfig() {
	if err := d.in.layout.save(d.cfg); err != nil {
		d.in.diag("write the database configuration: %v", err)
	}
}
