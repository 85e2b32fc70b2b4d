package agent

import (
	"context"
	"fmt"
	"sync"
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

const (
	// inheritedPause lies between two tries to read the declaration at start while
	// a vow runs out, and inheritedLimit bounds each.
	inheritedPause = 250 * time.Millisecond
	inheritedLimit = 2 * time.Second
	// inheritedLeast is what an agent has at least to read the declaration: an agent
	// that was away for longer than the lease, as during an update of its package,
	// ends no database whose record it can read.
	inheritedLeast = time.Second
)

// start reads the declaration, however long that takes, and reports whether it
// was read before ctx ended. Meanwhile the vow of an agent before this one holds:
// it says when the lease of that one ends, and until then nothing is lost by
// waiting. Once the record can be read, that tells who may write.
func (a *Agent) start(ctx context.Context) (ok bool) {
	defer a.done("start")
	promise := a.inherit()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	unread, read := context.WithCancel(ctx)
	defer read()
	if promise != nil {
		waiting.Go(func() { a.fulfil(unread, *promise) })
	}
	for {
		a.beat("start", startPause+2*writeLimit)
		limit, pause := a.startPace()
		bounded, cancel := clock.WithTimeout(ctx, a.Clock, limit)
		err := a.refresh(bounded)
		cancel()
		if err == nil {
			return true
		}
		a.raise("declaration", err)
		if a.Clock.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// startPace is how long a try to read the declaration may take, and the pause
// after it.
func (a *Agent) startPace() (limit, pause time.Duration) {
	a.selfFence.mu.Lock()
	defer a.selfFence.mu.Unlock()
	if a.selfFence.inherited {
		return inheritedLimit, inheritedPause
	}
	return writeLimit, startPause
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
