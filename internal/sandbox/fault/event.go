package fault

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

var _ world.Faults = (*Book)(nil)

// heldFor is how long an event waits for the one that is to overtake it, and
// behind is how far behind that it then is.
const (
	heldFor = 30 * time.Second
	behind  = 100 * time.Millisecond
)

// Carry implements world.Faults.
func (b *Book) Carry(e world.Event, deliver func()) {
	if b.set.Load() == 0 {
		deliver()
		return
	}
	late, copies := time.Duration(0), []time.Duration(nil)
	var waits func()
	b.mu.Lock()
	overtaken := b.overtakes(e)
	b.meet(func(x *entry) bool {
		return (x.Kind == Late || x.Kind == Duplicate || x.Kind == Reorder && waits == nil && overtaken == nil) && x.event(e)
	}, func(x *entry) {
		switch x.Kind {
		case Late:
			late += time.Duration(x.Delay)
		case Duplicate:
			for range max(x.Copies, 2) - 1 {
				copies = append(copies, time.Duration(x.Delay))
			}
		case Reorder:
			waits = b.hold(x, deliver)
		}
	})
	b.mu.Unlock()
	if waits == nil {
		b.after(late, deliver)
	}
	for _, more := range copies {
		b.after(late+more, deliver)
	}
	if overtaken != nil {
		b.after(behind, overtaken)
	}
}

// overtakes returns what delivers the event that has waited for this one, nil
// for none. The lock is held.
func (b *Book) overtakes(e world.Event) func() {
	for _, x := range b.inForce {
		if x.held != nil && x.event(e) {
			held := x.held
			x.held = nil
			b.prune()
			return held
		}
	}
	return nil
}

// hold keeps an event until the next one, or until it has waited too long. The
// lock is held.
func (b *Book) hold(x *entry, deliver func()) func() {
	limit := heldFor
	if x.Delay > 0 {
		limit = time.Duration(x.Delay)
	}
	done := false
	x.held = func() {
		b.mu.Lock()
		first := !done
		done = true
		b.mu.Unlock()
		if first {
			deliver()
		}
	}
	held := x.held
	b.later(limit, func() {
		b.mu.Lock()
		if !done {
			x.held = nil
		}
		b.mu.Unlock()
		held()
	})
	return held
}

// release delivers what a fault that ends still holds.
func (b *Book) release(e *entry) {
	b.mu.Lock()
	held := e.held
	e.held = nil
	b.mu.Unlock()
	if held != nil {
		held()
	}
}

// after delivers at once or later.
func (b *Book) after(d time.Duration, deliver func()) {
	if d <= 0 {
		deliver()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.later(d, deliver)
}

// later delivers in the background, unless the sandbox ends before. The lock is
// held.
func (b *Book) later(d time.Duration, deliver func()) {
	if b.stopped {
		return
	}
	b.inFlight.Go(func() {
		if b.clock.Sleep(b.ctx, d) == nil {
			deliver()
		}
	})
}

// CommandDelay implements world.Faults.
func (b *Book) CommandDelay(d world.Delivery) (total time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meet(func(e *entry) bool { return e.Kind == CommandDelay && e.delivery(d) }, func(e *entry) { total += time.Duration(e.Delay) })
	return total
}

// RouteLag implements world.Faults.
func (b *Book) RouteLag(region, account, table string) (described, routed time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meet(func(e *entry) bool {
		return e.Kind == StaleRoutes && like(e.Region, region) && like(e.Account, account) && (e.Resource == "" || named(e.Resource, table))
	}, func(e *entry) {
		if e.SeenBy != Packets {
			described += time.Duration(e.Delay)
		}
		if e.SeenBy != Describe {
			routed += time.Duration(e.Delay)
		}
	})
	return described, routed
}

// CutOff implements world.Faults: an agent needs both directions.
func (b *Book) CutOff(instanceID string) bool {
	if b.set.Load() == 0 {
		return false
	}
	here := b.place(instanceID)
	endpoint := Place{Region: here.Region}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loses(here, endpoint) || b.loses(endpoint, here)
}

// AgentOffline implements world.Faults.
func (b *Book) AgentOffline(instanceID string) bool {
	if b.set.Load() == 0 {
		return false
	}
	now := b.clock.Now()
	b.mu.Lock()
	for _, e := range b.inForce {
		if e.Kind == AgentOffline && e.Instance == instanceID && (e.Until.IsZero() || now.Before(e.Until)) {
			b.mu.Unlock()
			return true
		}
	}
	b.mu.Unlock()
	return b.CutOff(instanceID)
}

// place returns where an instance is.
func (b *Book) place(instanceID string) Place {
	region, zone, ok := "", "", false
	if b.levers.Instances != nil {
		region, zone, ok = b.levers.Instances.Placement(instanceID)
	}
	if !ok {
		return Place{}
	}
	return Place{Region: region, Zone: zone, Instance: instanceID}
}
