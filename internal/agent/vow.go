package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Vow keeps what has to be fenced for this agent, on this host: who kills a hung
// agent can ask nobody, nor can an agent that is started while AWS is out of
// reach.
type Vow interface {
	// Keep says that a database has to be fenced, in place of what was said before.
	Keep(p Promise) error
	// Kept returns what was said last, also by an agent before this one since the
	// host has started, nil if nothing has to be fenced.
	Kept() (*Promise, error)
	// Lift says that nothing has to be.
	Lift() error
}

// Promise is to fence a database.
type Promise struct {
	Engine   string
	Settings map[string]string
	Left     time.Duration // until the fence begins, unless the lease is renewed
	Limit    time.Duration // for how long it may take
}

// Fulfil fences the database, whatever time is left.
func (p Promise) Fulfil(ctx context.Context, open func(engine string) (Database, error)) (how string, err error) {
	database, err := open(p.Engine)
	if err != nil {
		return "", err
	}
	fencer, ok := database.(Fencer)
	if !ok {
		return "", fmt.Errorf("the engine %s can't fence itself", p.Engine)
	}
	return fencer.Fence(ctx, p.Settings, p.Limit)
}

// vowed is what the vow says now: a fence counted from a renewal, or none.
type vowed struct {
	fence   bool
	renewed time.Duration
}

// keepVow says until when the last good renewal holds.
func (a *Agent) keepVow(d declaration, renewed time.Duration) {
	a.revow(vowed{true, renewed}, func() error {
		plan := d.probe.SelfFence()
		return a.Vow.Keep(Promise{d.state.Config.Engine, d.settings(), renewed + plan.After - a.mono(), plan.Limit})
	})
}

func (a *Agent) liftVow() { a.revow(vowed{}, func() error { return a.Vow.Lift() }) }

// revow changes what the vow says, unless it certainly says that already.
func (a *Agent) revow(next vowed, write func() error) {
	f := &a.selfFence
	f.mu.Lock()
	same := f.vow != nil && *f.vow == next
	f.mu.Unlock()
	if a.Vow == nil || same {
		return
	}
	err := write()
	a.settle("vow", err)
	if err != nil {
		return // the next tick tries again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vow, f.inherited = &next, false
}

// inherit returns the vow of an agent before this one, nil if there is none.
func (a *Agent) inherit() *Promise {
	if a.Vow == nil {
		return nil
	}
	promise, err := a.Vow.Kept()
	a.settle("vow", err)
	a.selfFence.mu.Lock()
	defer a.selfFence.mu.Unlock()
	a.selfFence.inherited = promise != nil
	return promise
}

// fulfil fences what an agent before this one has promised, when its time is
// over and unread has not ended. A fence that has begun is not broken off: half
// of one helps nobody.
func (a *Agent) fulfil(unread context.Context, p Promise) {
	if a.Clock.Sleep(unread, max(p.Left, inheritedLeast)) != nil {
		return
	}
	a.Log.Error("the declaration can't be read before the lease of an earlier agent ends: the database is ended before another node may be primary",
		"group", a.Group, "node", a.Node)
	for !a.fulfilled(context.WithoutCancel(unread), p) && a.Clock.Sleep(unread, fenceTick) == nil {
	}
}

func (a *Agent) fulfilled(ctx context.Context, p Promise) bool {
	bounded, cancel := clock.WithTimeout(ctx, a.Clock, p.Limit)
	defer cancel()
	how, err := p.Fulfil(bounded, a.database)
	if err != nil {
		a.raise("self-fence", fmt.Errorf("%w: end it by hand, or stop this host", err))
		return false
	}
	a.clear("self-fence")
	a.Log.Warn("the database is fenced", "group", a.Group, "node", a.Node, "how", how)
	a.liftVow()
	return true
}
