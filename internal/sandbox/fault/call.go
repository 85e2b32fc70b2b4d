package fault

import (
	"cmp"
	"context"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// patience is how long a caller's kernel tries to reach an endpoint that does
// not answer: six retries of the first packet.
// https://www.man7.org/linux/man-pages/man7/tcp.7.html (tcp_syn_retries)
const patience = 127 * time.Second

// Intercept is a wire.Interceptor: it lets calls meet their faults.
func (b *Book) Intercept(r *wire.Request, next func() (any, error)) (any, error) {
	if b.set.Load() == 0 {
		return next()
	}
	from, to := b.caller(r.Caller), Place{Region: r.Region}
	if err := b.pass(r.Context, from, to); err != nil {
		return nil, err
	}
	p := b.planOf(r)
	if err := b.clock.Sleep(r.Context, p.delay); err != nil {
		return nil, err
	}
	if p.before != nil {
		return nil, p.before
	}
	out, err := next()
	if passErr := b.pass(r.Context, to, from); passErr != nil {
		return nil, passErr
	}
	if err == nil && p.after != nil {
		return nil, p.after
	}
	return out, err
}

func (b *Book) caller(c wire.Caller) Place {
	if b.scene.Caller == nil {
		return Place{}
	}
	return b.scene.Caller(c)
}

// plan is what happens to one call.
type plan struct {
	delay         time.Duration
	before, after error
}

func (b *Book) planOf(r *wire.Request) plan {
	var resources []string
	acts := func() []string {
		if resources == nil {
			resources = identifiers(r.Input)
			if b.scene.Resources != nil {
				resources = append(resources, b.scene.Resources(r)...)
			}
		}
		return resources
	}
	b.mu.Lock()
	candidates := append([]*entry(nil), b.inForce...)
	b.mu.Unlock()
	picked := map[*entry]bool{} // resources come from a service: not under the lock
	for _, e := range candidates {
		switch e.Kind {
		case Throttle, Denied, Failure, Lost, Latency:
			picked[e] = e.call(r, acts)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var p plan
	b.meet(func(e *entry) bool {
		if !picked[e] || p.before != nil || e.Kind != Latency && p.after != nil {
			return false // refused already: it meets no further fault
		}
		return true
	}, func(e *entry) { p.add(e, r) })
	return p
}

// add lets a call meet a fault.
func (p *plan) add(e *entry, r *wire.Request) {
	var err error
	switch e.Kind {
	case Latency:
		p.delay += time.Duration(e.Delay)
		return
	case Throttle:
		err = e.reword(wire.Throttled(r.Service, r.Operation))
	case Failure:
		err = e.reword(wire.Failed(r.Service))
	case Lost:
		err = wire.ErrLost
	case Denied:
		err = wire.Denied(r.Service, "User: "+r.Caller.ARN+" is not authorized to perform: "+r.Service+":"+r.Operation+" with an explicit deny in a fault of the sandbox")
	}
	if e.When == After {
		p.after = err
	} else {
		p.before = err
	}
}

// reword gives an error the words that the fault asks for.
func (f Fault) reword(e *wire.Error) *wire.Error {
	e.Code, e.Message, e.Status = cmp.Or(f.Code, e.Code), cmp.Or(f.Message, e.Message), cmp.Or(f.Status, e.Status)
	return e
}

// pass waits until what is sent arrives. A sender who gives up, and one whom no
// answer reaches for long, sees a connection that breaks.
func (b *Book) pass(ctx context.Context, from, to Place) error {
	bounded, cancel := ctx, context.CancelFunc(func() {})
	defer func() { cancel() }()
	for first := true; ; first = false {
		b.mu.Lock()
		lost, changed := b.loses(from, to), b.changed
		b.mu.Unlock()
		if !lost {
			return nil
		}
		if first {
			bounded, cancel = clock.WithTimeout(ctx, b.clock, patience)
		}
		select {
		case <-changed:
		case <-bounded.Done():
			return wire.ErrLost
		case <-b.ctx.Done():
			return wire.ErrLost
		}
	}
}

// loses reports whether a cut is between two places. The lock is held.
func (b *Book) loses(from, to Place) bool {
	now := b.clock.Now()
	for _, e := range b.inForce {
		if e.Kind == Cut && (e.Until.IsZero() || now.Before(e.Until)) && e.gap().loses(from, to) {
			return true
		}
	}
	return false
}
