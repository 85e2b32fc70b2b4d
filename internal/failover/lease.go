package failover

import (
	"fmt"
	"time"
)

// Lease is the liveness of a primary, renewed by its agent. It holds no wall
// clock: whoever watches it measures on a clock of his own (R6).
type Lease struct {
	Holder            string // node
	Epoch             uint64
	Counter           uint64 // grows with every renewal
	WaitingForStandby bool   // R4: slow, but because of its standby
	// Slow: when it was renewed its holder's commits took long, so that its standby
	// may hear nothing for a while of one that lives.
	Slow bool
	// Suspended says why its silence proves nothing: its database was stopped in
	// order, or its agent can't measure or was stopped (R6). "" while it is renewed.
	Suspended string
	Sealed    bool   // R10: can't be renewed any more
	SealedBy  string // operation
	SealedAt  time.Time
	SealID    string // no two seals share one
}

// LeaseSight is what a watcher has seen of a lease that stood still.
type LeaseSight struct {
	Epoch   uint64
	Counter uint64
	At      time.Time     // when it had stood still for its whole duration
	Stood   time.Duration // for how long it had then, on the watcher's clock
}

// Holds reports whether a lease that is read now is still the one that was
// seen to stand still.
func (s LeaseSight) Holds(l Lease) bool {
	return !s.At.IsZero() && l.Epoch == s.Epoch && l.Counter == s.Counter && l.Suspended == ""
}

// LeaseTiming is how a lease is kept. All of it counts from the sending of the
// last good renewal, on clocks that are monotonic.
type LeaseTiming struct {
	Duration time.Duration // for which it must stand still to count as expired
	Interval time.Duration // between two renewals, and between two looks of its watcher
	// Demote and Watchdog are when a holder that can't renew its lease stops
	// itself, and when it is stopped if it hangs; zero where something else, such
	// as a peer window, keeps an old primary from acknowledging.
	Demote   time.Duration
	Watchdog time.Duration
	Drift    time.Duration // by which two clocks may differ over a Duration
}

// DefaultDrift is what clocks may differ over one lease: 200 parts per million
// of a minute, rounded up.
const DefaultDrift = 100 * time.Millisecond

// Check returns why a lease with this timing is unsafe or of no use, "" if it
// is neither. The rule max(Demote, Watchdog) + Drift < Duration is strict: where
// they are equal, a model checker finds two writers.
func (t LeaseTiming) Check() string {
	stop := max(t.Demote, t.Watchdog)
	switch {
	case t.Interval <= 0 || t.Duration <= 0:
		return "duration and interval must be above 0"
	case t.Drift < 0 || t.Demote < 0 || t.Watchdog < 0:
		return "no time may be negative"
	case 2*t.Interval+t.Drift >= t.Duration:
		return fmt.Sprintf("two intervals (%s) and the clocks' drift (%s) must be below the duration (%s): one lost renewal would let it expire", t.Interval, t.Drift, t.Duration)
	case stop > 0 && stop+t.Drift >= t.Duration:
		return fmt.Sprintf("a holder that can't renew stops itself after %s; with the clocks' drift (%s) that must be below the duration (%s): another node could be primary before", stop, t.Drift, t.Duration)
	}
	return ""
}
