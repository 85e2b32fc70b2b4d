package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// watching is what a standby's agent knows of its primary's lease, and what it
// has told of it.
type watching struct {
	mu       sync.Mutex
	watcher  watcher
	still    failover.LeaseSight // set once it has stood still for its duration
	standing time.Duration
	reported report // of a suspicion
	told     string // operation that ran when one was reported
	pushed   report // of an operation that is overdue
}

// report is the last one that was sent.
type report struct {
	about string        // what was suspected
	at    time.Duration // on the agent's stopwatch
}

func (w *watching) sight() failover.LeaseSight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.still
}

func (w *watching) stood() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.standing
}

// reset forgets everything: this node is no watcher.
func (w *watching) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watcher.forget()
	w.still, w.standing, w.reported = failover.LeaseSight{}, 0, report{}
}

// note takes what was read of the lease, dates the moment at which it had stood
// still for its duration, and returns how much is left of that, 0 for nothing.
func (w *watching) note(l failover.Lease, sent, answered, duration, gap time.Duration, now time.Time) (left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watcher.gap = gap
	w.standing = w.watcher.read(unsealed(l), sent, answered)
	switch {
	case l.Suspended != "":
		w.still = failover.LeaseSight{}
	case w.still.Epoch == l.Epoch && w.still.Counter == l.Counter && !w.still.At.IsZero():
		// It expired before, and can't come back to life unseen.
	case w.standing >= duration:
		w.still = failover.LeaseSight{Epoch: l.Epoch, Counter: l.Counter, At: now, Stood: w.standing}
	default:
		w.still = failover.LeaseSight{}
		return duration - w.standing
	}
	return 0
}

// unsealed is what counts of a lease: a seal is no renewal.
func unsealed(l failover.Lease) failover.Lease {
	l.Sealed, l.SealedBy, l.SealedAt, l.SealID = false, "", time.Time{}, ""
	return l
}

// looksPerRenewal is how often a lease is looked at for each time that it is
// renewed, and longestLook is what lies between two looks at most; detection.Model
// says the same.
const (
	looksPerRenewal = 2
	longestLook     = time.Second
)

// watch looks at the primary's lease until the next tick, and reports what is
// suspicious: more often than it is renewed, as what a renewal is seen late is
// added to the duration, and once more when it expires.
func (a *Agent) watch(ctx context.Context) {
	a.drop()
	d := a.declaration()
	next := a.mono() + d.probe.LeaseInterval
	for {
		left := a.readOther(ctx, d)
		a.suspect(ctx, d)
		pause := min(d.probe.LeaseInterval/looksPerRenewal, longestLook)
		if left > 0 {
			pause = min(pause, left)
		}
		if a.mono()+pause+pause/10 >= next || !a.rest(ctx, pause) {
			return
		}
	}
}

// rest waits, but no longer than until a view says that the partner is lost, and
// reports whether the agent goes on.
func (a *Agent) rest(ctx context.Context, pause time.Duration) bool {
	bounded, cancel := clock.WithTimeout(ctx, a.Clock, pause)
	defer cancel()
	select {
	case <-bounded.Done():
	case <-a.lost:
	}
	return ctx.Err() == nil
}

// readOther reads the primary's lease, and returns how much is left until it has
// stood still for its duration, 0 for nothing.
func (a *Agent) readOther(ctx context.Context, d declaration) (left time.Duration) {
	bounded, cancel := clock.WithTimeout(ctx, a.Clock, d.callLimit())
	sent := a.mono()
	l, err := a.Record.ReadLease(bounded, a.Group)
	answered := a.mono()
	cancel()
	switch {
	case errors.Is(err, control.ErrNotFound), err == nil && l.Counter == 0: // never renewed yet: its absence proves nothing
		a.watching.reset()
	case err != nil:
		a.raise("watch", err) // the watcher sees the gap
	case l.Holder == a.Node || l.Epoch != d.state.Epoch || l.Holder != d.state.Primary:
		a.watching.reset()
		a.lookUp(ctx) // the record changed, or the lease will
	default:
		a.clear("watch")
		return a.watching.note(l, sent, answered, d.probe.LeaseDuration, 2*d.probe.LeaseInterval+time.Second, a.Clock.Now())
	}
	return 0
}

// suspicion says what speaks against the primary, "" if nothing does.
func (a *Agent) suspicion(o failover.Observation) string {
	if s := a.watching.sight(); !s.At.IsZero() {
		return fmt.Sprintf("lease %d of epoch %d", s.Counter, s.Epoch)
	}
	if o.Answer == failover.Answered && o.Role == failover.RoleStandby && o.PartnerLost {
		return "partner lost"
	}
	return ""
}
