package db2

import (
	"context"
	"strconv"
	"time"
)

// commit logs a transaction and returns when Db2 would return from COMMIT:
// once it is as safe as the synchronization mode asks for. While the primary
// is in disconnected peer state, log writes wait.
func (d *database) commit(ctx context.Context, kind recordKind, fields ...string) (int64, error) {
	w := &waiter{since: d.in.clock.Now(), done: make(chan error, 1)}
	pos, durable, err := d.logRecord(ctx, w, kind, fields)
	if err != nil || durable {
		return pos, err
	}
	select {
	case err := <-w.done:
		return pos, err
	case <-ctx.Done():
		return pos, context.Cause(ctx)
	}
}

func (d *database) logRecord(ctx context.Context, w *waiter, kind recordKind, fields []string) (pos int64, durable bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		r := d.run
		switch {
		case r == nil || r.waiting:
			return 0, false, errInactive
		case r.role == Standby:
			return 0, false, errOnStandby
		case r.surrendering || r.disabled:
			return 0, false, errTerminated
		case r.state != DisconnectedPeer:
			pos, err = d.append(r, record{at: d.in.clock.Now().Unix(), kind: kind, fields: fields})
			if err != nil || d.durable(r, pos) {
				return pos, true, err
			}
			w.pos = pos
			r.waiters = append(r.waiters, w)
			r.waits[w] = struct{}{}
			r.waitCount++
			return pos, false, nil
		}
		r.waits[w] = struct{}{}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		d.mu.Lock()
		delete(r.waits, w)
		if ctx.Err() != nil {
			return 0, false, context.Cause(ctx)
		}
	}
}

// append logs a record and sends it to a standby in peer state. d.mu is held.
func (d *database) append(r *run, rec record) (int64, error) {
	b := rec.encode()
	start := d.end()
	d.apply(rec)
	if r.link != nil && r.state == Peer {
		r.link.sendLog(start, b)
		if d.cfg.SyncMode == NearSync {
			r.unwritten = append(r.unwritten, b...)
			return start + int64(len(b)), nil
		}
	}
	if err := d.writeOut(r); err != nil {
		return 0, err
	}
	if err := d.log.append(b); err != nil {
		return 0, err
	}
	select {
	case r.grew <- struct{}{}:
	default:
	}
	return start + int64(len(b)), nil
}

// durable reports whether everything up to pos is as safe as the
// synchronization mode asks for. d.mu is held.
func (d *database) durable(r *run, pos int64) bool {
	if d.log.end() < pos {
		return false
	}
	switch {
	case r.state == DisconnectedPeer:
		return false
	case r.state != Peer || r.role != Primary:
		return true
	case d.cfg.SyncMode.confirms():
		return r.ackTo >= pos
	case d.cfg.SyncMode == Async:
		return r.link != nil && r.link.sent() >= pos
	}
	return true
}

// acknowledged takes the standby's word that it has everything up to end.
// d.mu is held.
func (d *database) acknowledged(r *run, end int64) {
	if r.disabled || end <= r.ackTo {
		return
	}
	r.ackTo = end
	if own := d.log.end(); end > own && len(r.unwritten) > 0 {
		n := min(end-own, int64(len(r.unwritten)))
		if err := d.log.append(r.unwritten[:n]); err != nil {
			d.in.diag("log write failed: %v", err)
			return
		}
		r.unwritten = r.unwritten[n:]
	}
	d.wake(r)
	if r.surrendering {
		d.touch()
	}
}

// wake lets those commits return that are durable. d.mu is held.
func (d *database) wake(r *run) {
	now := d.in.clock.Now()
	n := 0
	for _, w := range r.waiters {
		if !d.durable(r, w.pos) {
			break
		}
		delete(r.waits, w)
		r.waitTotal += now.Sub(w.since)
		w.done <- nil
		n++
	}
	r.waiters = r.waiters[n:]
}

// logWait is LOG_HADR_WAIT_CUR: how long the log has been waiting for HADR.
// d.mu is held.
func (r *run) logWait(now time.Time) time.Duration {
	var longest time.Duration
	for w := range r.waits {
		longest = max(longest, now.Sub(w.since))
	}
	return longest
}

// commitClient is a transaction of the load generator.
func (d *database) commitClient(ctx context.Context, client string, seq int64) (int64, error) {
	return d.commit(ctx, commitRecord, client, strconv.FormatInt(seq, 10))
}
