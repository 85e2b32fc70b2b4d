package agent

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// watcher counts for how long a lease stands still (R6). It knows no wall
// clock: its times are readings of a stopwatch. A lease that is read again
// unchanged has certainly stood still since the answer that showed it first
// until this question was sent, provided that it was read all the time between:
// after a gap the wait begins again.
type watcher struct {
	gap   time.Duration // without an answer for longer than that, nothing is known
	seen  failover.Lease
	first time.Duration // answer that showed it first
	last  time.Duration // newest answer
	known bool
}

// read takes the answer to a strongly consistent read, and returns for how
// long the lease has certainly stood still.
func (w *watcher) read(l failover.Lease, sent, answered time.Duration) (stood time.Duration) {
	same := w.known && l == w.seen && answered-w.last <= w.gap
	w.last, w.known = answered, true
	if !same {
		w.seen, w.first = l, answered
		return 0
	}
	return max(0, sent-w.first)
}

// forget begins again.
func (w *watcher) forget() { w.known = false }
