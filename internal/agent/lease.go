package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// holding is this node's lease. Its durations are readings of the agent's
// stopwatch.
type holding struct {
	mu       sync.Mutex
	known    bool // what the record holds is known
	last     failover.Lease
	lost     uint64        // epoch in which it was found sealed, or another's
	renewed  time.Duration // when the last good renewal was sent
	seen     time.Duration // when a read or write was sent that found it this node's and not sealed
	holds    bool
	renewals uint64
	failures uint64
}

func (h *holding) status(now, duration time.Duration) LeaseStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := LeaseStatus{Holding: h.holds, Renewals: h.renewals, Failures: h.failures}
	if h.holds {
		s.Margin = max(0, h.renewed+duration-now)
	}
	return s
}

// sight returns when the lease was last seen as this node's own, on the
// agent's stopwatch, and whether it ever was.
func (h *holding) sight() (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen, h.renewals > 0 || h.seen > 0
}

// callLimit bounds one call that keeps or reads a lease: a lost one must not
// cost the next.
func (d declaration) callLimit() time.Duration { return min(d.probe.LeaseInterval, 2*time.Second) }

// keepLease renews the lease if the database lives, and otherwise just looks
// whether it is still there. An agent that is well renews nothing for a
// database that is not.
func (a *Agent) keepLease(ctx context.Context) {
	d := a.declaration()
	if !d.mayHold(a.Node) {
		a.drop()
		a.lookUp(ctx)
		return
	}
	fresh := 3*d.probe.LeaseInterval + time.Second
	v := a.health.judge(a.mono(), d.probe.Threshold, fresh, d.probe.LeaseInterval, a.troubles.measuring())
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, d.callLimit())
	defer cancel()
	now, err := a.ownLease(ctx, d)
	if err != nil {
		a.missed(err)
		return
	}
	if now == nil { // lost
		a.drop()
		return
	}
	next := failover.Lease{Holder: a.Node, Epoch: d.state.Epoch, Counter: now.Counter + 1, WaitingForStandby: v.waiting, Slow: v.slow, Suspended: v.suspend}
	switch {
	case v.renew:
	case v.suspend != "" && now.Counter > 0 && now.Suspended == "": // told once
	default:
		a.drop()
		a.glance(ctx, d)
		return
	}
	a.renew(ctx, next)
}

func (a *Agent) renew(ctx context.Context, next failover.Lease) {
	sent := a.mono()
	err := a.Record.RenewLease(ctx, a.Group, next)
	if errors.Is(err, statetable.ErrLeaseLost) {
		a.lose(ctx, next.Epoch, err)
		return
	}
	if err != nil {
		a.missed(err)
		return
	}
	a.clear("lease")
	a.holding.mu.Lock()
	defer a.holding.mu.Unlock()
	a.holding.last, a.holding.seen, a.holding.holds = next, sent, next.Suspended == ""
	if a.holding.holds {
		a.holding.renewed = sent
		a.holding.renewals++
	}
}

// stoppedText is what an agent that was stopped says of itself.
const stoppedText = "hadr-agent was stopped"

// leaveLease suspends a lease that this node holds: nobody measures its database
// any more, nor would end it, so that its silence must prove nothing (R6).
func (a *Agent) leaveLease(ctx context.Context, d declaration) {
	a.holding.mu.Lock()
	last, holds := a.holding.last, a.holding.holds
	a.holding.mu.Unlock()
	if !holds || !d.mayHold(a.Node) {
		return
	}
	last.Counter++
	last.Suspended = stoppedText
	a.renew(ctx, last)
	if _, _, suspended := a.holding.renewal(); suspended {
		a.liftVow()
	}
}

// ownLease returns the lease as the record holds it for this node and epoch,
// with counter 0 if it is to be created, nil if it is lost. One that is lost is
// read again each time: a seal that led to nothing is taken off.
func (a *Agent) ownLease(ctx context.Context, d declaration) (*failover.Lease, error) {
	a.holding.mu.Lock()
	known, last := a.holding.known, a.holding.last
	a.holding.mu.Unlock()
	if known && last.Epoch == d.state.Epoch {
		return &last, nil
	}
	l, err := a.Record.ReadLease(ctx, a.Group)
	switch {
	case errors.Is(err, control.ErrNotFound):
		l = failover.Lease{}
	case err != nil:
		return nil, err
	}
	if l.Epoch == d.state.Epoch && (l.Sealed || l.Holder != a.Node) || l.Epoch > d.state.Epoch {
		a.lose(ctx, d.state.Epoch, statetable.ErrLeaseLost)
		return nil, nil
	}
	if l.Epoch < d.state.Epoch {
		l = failover.Lease{Holder: a.Node, Epoch: d.state.Epoch}
	}
	a.holding.mu.Lock()
	defer a.holding.mu.Unlock()
	a.holding.known, a.holding.last, a.holding.lost = true, l, 0
	return &l, nil
}

// lose notes that the lease is lost in this epoch: a takeover sealed it, or
// the record is newer than what the agent holds.
func (a *Agent) lose(ctx context.Context, epoch uint64, why error) {
	a.holding.mu.Lock()
	told := a.holding.lost == epoch
	a.holding.lost, a.holding.known, a.holding.holds = epoch, false, false
	a.holding.mu.Unlock()
	if !told {
		a.Log.Warn("the lease is lost in this epoch", "group", a.Group, "node", a.Node, "epoch", epoch, "error", why)
	}
	a.lookUp(ctx)
}

// lookUp reads the declaration again, where the one that is held misleads.
func (a *Agent) lookUp(ctx context.Context) {
	a.settle("declaration", a.refresh(ctx))
}

// glance looks whether the lease is still this node's: the dead-man wants to
// know (R16), although there is nothing to renew.
func (a *Agent) glance(ctx context.Context, d declaration) {
	sent := a.mono()
	l, err := a.Record.ReadLease(ctx, a.Group)
	switch {
	case errors.Is(err, control.ErrNotFound):
		return
	case err != nil:
		a.missed(err)
		return
	}
	a.clear("lease")
	if l.Holder != a.Node || l.Epoch != d.state.Epoch || l.Sealed {
		a.lose(ctx, d.state.Epoch, statetable.ErrLeaseLost)
		return
	}
	a.holding.mu.Lock()
	defer a.holding.mu.Unlock()
	a.holding.seen = sent
}

// drop says that nothing is held now.
func (a *Agent) drop() {
	a.holding.mu.Lock()
	defer a.holding.mu.Unlock()
	a.holding.holds = false
}

// missed notes a renewal whose fate is unknown: the record is asked before the
// next one.
func (a *Agent) missed(err error) {
	a.raise("lease", err)
	a.holding.mu.Lock()
	defer a.holding.mu.Unlock()
	a.holding.known = false
	a.holding.failures++
}
