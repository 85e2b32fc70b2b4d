package detection

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Lease is the liveness of a primary: its agent renews it while the database
// commits, and the standby's agent takes it for lost when it has seen no renewal
// for Duration on its own monotonic clock (R6).
type Lease struct {
	Duration  time.Duration
	Heartbeat time.Duration // between renewals
	Poll      time.Duration // between the watcher's reads

	// Health is how old the last round trip may be that a renewal rests on: for so
	// long a hung database is still renewed. A round trip begins with each renewal,
	// which rests on the one before. Zero = each renewal makes its own.
	Health time.Duration

	Watchers int  // default 1
	InStep   bool // all watchers read at the same moments, as after a deployment
	// Absolute keeps the expiry as a wall-clock time in the item, which any reader
	// compares with its own clock, instead of watching a counter.
	Absolute bool
}

// Check refuses settings that cannot work.
func (l Lease) Check() error {
	switch {
	case l.Duration <= 0 || l.Heartbeat <= 0 || l.Poll <= 0:
		return fmt.Errorf("%s: duration, heartbeat and poll must be above 0", l.Name())
	case l.Heartbeat >= l.Duration:
		return fmt.Errorf("%s: the heartbeat must be below the duration, or the lease is lost between two renewals", l.Name())
	case l.Health < 0 || l.Watchers < 0:
		return fmt.Errorf("%s: health and watchers must not be negative", l.Name())
	case l.Duration > time.Hour || l.Poll > time.Hour || l.Health > time.Hour:
		return fmt.Errorf("%s: nothing of it may be longer than an hour", l.Name())
	case l.Heartbeat < 100*time.Millisecond || l.Poll < 100*time.Millisecond:
		return fmt.Errorf("%s: heartbeat and poll must be at least 100 ms", l.Name())
	}
	return nil
}

// Name implements Detector.
func (l Lease) Name() string {
	name := fmt.Sprintf("lease %s/%s", short(l.Duration), short(l.Heartbeat))
	if l.Absolute {
		name += " absolute"
	}
	return name
}

func short(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// Key implements Detector.
func (l Lease) Key() string { return fmt.Sprintf("lease %+v", l) }

// Worst implements Detector.
func (l Lease) Worst(f Failure) time.Duration {
	late := time.Duration(0)
	switch {
	case l.Health == 0:
	case f == Hang:
		late = l.Health - l.Health%l.Heartbeat
	case f == Crash: // seen by the next round trip
		late = l.Heartbeat
	}
	if l.Absolute {
		return late + l.Duration + l.Poll
	}
	return late + l.Poll + ceilPolls(l.Duration, l.Poll)
}

// Notes implements Detector.
func (l Lease) Notes() []string {
	if l.Health == 0 {
		return nil
	}
	return []string{fmt.Sprintf("A database that hangs is renewed until its round trip is older than %s", short(l.Health))}
}

func (l Lease) signals() []*Signal                            { return nil }
func (l Lease) horizon(Failure) (before, after time.Duration) { return 0, 0 }

func (l Lease) watcher(r *rand.Rand) watcher { return &leaseWatcher{Lease: l, r: r} }

type leaseWatcher struct {
	Lease
	r *rand.Rand
}

// sees counts from the failure: the last renewal was sent before it.
func (w *leaseWatcher) sees(t *trial) time.Duration {
	c := t.conditions
	last := -uniform(w.r, w.Heartbeat)
	for c.lost(w.r) {
		last -= w.Heartbeat
	}
	last += w.goesOn(t.failure)
	arrived := last + c.Call.draw(w.r)
	first := Never
	common := uniform(w.r, w.Poll)
	for range max(1, w.Watchers) {
		phase := common
		if !w.InStep {
			phase = uniform(w.r, w.Poll)
		}
		first = min(first, w.expires(last, arrived, phase, c))
	}
	return max(first, 0) // it may have been suspected before it failed
}

// goesOn returns how long after a failure the last renewal comes that a lively
// agent still sends, rather than before it.
func (w *leaseWatcher) goesOn(f Failure) time.Duration {
	switch {
	case w.Health == 0:
	case f == Hang: // a round trip is a whole number of heartbeats old, less what it took
		return w.Health - w.Health%w.Heartbeat
	case f == Crash:
		return uniform(w.r, w.Heartbeat)
	}
	return 0
}

// patience is how long a watcher is followed whose reads fail again and again.
const patience = 6 * time.Hour

// expires returns when one watcher, which reads at phase and then once a poll,
// takes the lease for lost.
func (w *leaseWatcher) expires(sent, arrived, phase time.Duration, c *Conditions) time.Duration {
	from := arrived
	if w.Absolute {
		from = max(0, sent+w.Duration)
	}
	at := phase + ceilPolls(from-phase, w.Poll)
	for c.lost(w.r) { // the read fails
		at += w.Poll
	}
	if w.Absolute {
		return at + c.Call.draw(w.r)
	}
	for start := at; at-start < w.Duration; {
		if at-from > patience {
			return Never
		}
		at += w.Poll
		if c.lost(w.r) { // a gap in reading starts the wait anew (R6)
			at += w.Poll
			start = at
		}
	}
	return at + c.Call.draw(w.r)
}

// ceilPolls rounds towards the future to whole polls, as only a read can end a
// wait; d may be negative.
func ceilPolls(d, poll time.Duration) time.Duration {
	over := d % poll
	if over > 0 {
		over -= poll
	}
	return d - over
}

// suspects looks at the gaps between renewals that are long enough: those with
// lost renewals, and those across a cut.
func (w *leaseWatcher) suspects(d *stretch) []span {
	var out []span
	phase := uniform(w.r, w.Poll)
	for _, g := range w.gaps(d) {
		if g.to-g.from < w.Duration {
			continue
		}
		seen := w.expires(g.from, g.from, phase+d.from, d.conditions)
		if seen < g.to {
			out = append(out, span{seen, g.to})
		}
	}
	return out
}

// gaps are the times between two renewals that arrive, where something between
// them does not. Renewals are lost so rarely that whole runs of good ones are
// skipped at once.
func (w *leaseWatcher) gaps(d *stretch) []span {
	var out []span
	add := func(from, to time.Duration) {
		if n := len(out); n > 0 && from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, to)
			return
		}
		out = append(out, span{from, to})
	}
	first := d.from + uniform(w.r, w.Heartbeat)
	for _, lost := range lostTicks(w.r, d, first, w.Heartbeat) {
		add(lost-w.Heartbeat, lost+w.Heartbeat)
	}
	return out
}
