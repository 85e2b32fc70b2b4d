package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Fencer is a Database that can take its writes away within a limit.
type Fencer interface {
	// Fence ends the database server, in order if that works, and reads that it is
	// gone. It asks nobody else.
	Fence(ctx context.Context, settings map[string]string, limit time.Duration) (how string, err error)
}

// selfFence ends the database of a primary that can't renew its lease, before
// anybody else may take it. It counts from the sending of the last good renewal,
// on the agent's stopwatch, whatever kept the next one from being good: the
// network, the record, a seal, or the database itself.
type selfFence struct {
	mu        sync.Mutex
	began     time.Duration // since when this agent has seen its database be the recorded primary without a lease
	waiting   bool          // began counts
	ended     time.Duration // the renewal after which it was fenced, or gave its role up in order
	done      bool          // ended counts
	vow       *vowed        // nil: not known, as at a start
	inherited bool          // an agent before this one has vowed, and that is not settled yet
}

// due reports whether the database must be fenced now. renewed is when the last
// good renewal was sent, if ever; primary and recorded say what the last view and
// the last declaration show of this node. What an agent before this one has vowed
// counts like the record: a takeover may have changed that while no agent ran.
func (f *selfFence) due(now, after, renewed time.Duration, ever, primary, recorded bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !ever { // this agent has just started, and may have held the lease before
		if !primary || !recorded && !f.inherited {
			f.waiting = false
			return false
		}
		if !f.waiting {
			f.waiting, f.began = true, now
		}
		renewed = f.began
	}
	if f.done && f.ended == renewed {
		return false
	}
	return now-renewed >= after
}

// over reports whether nothing is to be fenced since a renewal.
func (f *selfFence) over(renewed time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done && f.ended == renewed
}

// end notes that nothing is to be fenced until the lease is renewed again.
func (f *selfFence) end(renewed time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done, f.ended, f.waiting = true, renewed, false
}

// fenceTick is how often the agent looks whether it is time.
const fenceTick = 100 * time.Millisecond

// selfFencing is the loop of the self-fence. It waits for nothing but its ticker.
func (a *Agent) selfFencing(ctx context.Context) error {
	ticker := a.Clock.NewTicker(fenceTick)
	defer ticker.Stop()
	for {
		d := a.declaration()
		plan := d.probe.SelfFence()
		a.beat("self-fencing", 2*plan.Limit+10*fenceTick)
		a.fenceIfDue(ctx, d)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

func (a *Agent) fenceIfDue(ctx context.Context, d declaration) {
	renewed, ever, suspended := a.holding.renewal()
	o, fresh := a.health.sight(a.mono(), 3*d.probe.LeaseInterval+time.Second)
	switch {
	case suspended, // whoever watches does not count its silence (R6)
		fresh && o.Answer == failover.Answered && o.Role == failover.RoleStandby: // its role was moved in order
		a.selfFence.end(renewed)
		a.liftVow()
		return
	case ever && !a.selfFence.over(renewed):
		a.keepVow(d, renewed)
	}
	if d.movesInOrder() { // nobody is primary before this one has stopped
		renewed, ever = max(renewed, d.refreshed), true
	}
	plan := d.probe.SelfFence()
	if a.selfFence.due(a.mono(), plan.After, renewed, ever, o.ServesAsPrimary(), d.mayHold(a.Node)) {
		a.fence(ctx, d, renewed, plan.Limit)
	}
}

// movesInOrder reports whether the record shows a change of roles in order.
func (d declaration) movesInOrder() bool {
	op := d.state.Operation
	return op != nil && op.Kind == failover.Switchover
}

func (a *Agent) fence(ctx context.Context, d declaration, renewed, limit time.Duration) {
	fencer, ok := a.Database.(Fencer)
	if !ok {
		return // usable refused that
	}
	a.Log.Error("the lease could not be renewed in time: the database is ended before another node may be primary",
		"group", a.Group, "node", a.Node, "epoch", d.state.Epoch)
	bounded, cancel := clock.WithTimeout(ctx, a.Clock, limit)
	defer cancel()
	how, err := fencer.Fence(bounded, d.settings(), limit)
	if err != nil {
		a.raise("self-fence", fmt.Errorf("%w: end it by hand, or stop this host", err))
		return // the next tick tries again
	}
	a.clear("self-fence")
	a.Log.Warn("the database is fenced", "group", a.Group, "node", a.Node, "epoch", d.state.Epoch, "how", how)
	a.selfFence.end(renewed)
	a.liftVow()
}

// renewal returns when the last good renewal was sent, whether there ever was
// one, and whether the record holds the lease as suspended since.
func (h *holding) renewal() (sent time.Duration, ever, suspended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renewed, h.renewals > 0, h.last.Suspended != ""
}

// sight returns the last view, and whether it began within fresh.
func (h *health) sight(now, fresh time.Duration) (o failover.Observation, recent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view, h.views > 0 && now-h.viewedAt < fresh
}
