package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// ErrUnknown is the error for an ID that no fault in force has.
var ErrUnknown = errors.New("no such fault is in force")

// most bounds the faults in force at the same time.
const most = 1000

// Book holds the faults in force. It implements Injector and world.Faults, and
// its Intercept stands around the calls of the API.
type Book struct {
	clock  clock.Clock
	levers Levers
	scene  Scene

	set     atomic.Int32 // how many are in force, to be quick while there is none
	pulling sync.Mutex   // held while levers move; before mu

	mu       sync.Mutex // never held while a lever or a service is called
	inForce  []*entry
	last     int
	changed  chan struct{} // closed and replaced when a fault comes or goes
	stopped  bool
	ctx      context.Context
	stop     context.CancelFunc
	inFlight sync.WaitGroup // events that arrive late
}

// Scene is what a Book knows about callers and calls. All fields may be nil.
type Scene struct {
	// Resources returns the ARNs that a call acts on.
	Resources func(r *wire.Request) []string
	// Caller returns where a caller is.
	Caller func(c wire.Caller) Place
}

type entry struct {
	Active
	random *rand.Rand
	left   int // of Count
	timer  clock.Timer
	undo   func()
	held   func() // delivers the event that waits for the next one
}

// New returns a Book without faults.
func New(c clock.Clock, levers Levers, scene Scene) *Book {
	b := &Book{clock: c, levers: levers, scene: scene, changed: make(chan struct{})}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

var _ Injector = (*Book)(nil)

// Inject implements Injector.
func (b *Book) Inject(ctx context.Context, f Fault) (Active, error) {
	if err := f.Check(); err != nil {
		return Active{}, fmt.Errorf("injecting a fault: %w", err)
	}
	now := b.clock.Now()
	if f.For > 0 {
		f.Until, f.For = now.Add(time.Duration(f.For)), 0
	}
	if !f.Until.IsZero() && !f.Until.After(now) {
		return Active{}, fmt.Errorf("injecting a fault: %w", invalid("until", "%s has passed: it is %s", f.Until.Format(time.RFC3339), now.Format(time.RFC3339)))
	}
	e := &entry{Active: Active{Fault: f, Since: now}, left: f.Count, random: rand.New(rand.NewPCG(f.Seed, 0))}
	b.pulling.Lock()
	defer b.pulling.Unlock()
	if err := b.admit(e); err != nil {
		return Active{}, fmt.Errorf("injecting %s: %w", f.Kind, err)
	}
	if pull := pulls[f.Kind]; pull != nil {
		undo, err := pull(ctx, b, e)
		if err != nil {
			b.strike(e)
			return Active{}, fmt.Errorf("injecting %s: %w", f.Kind, err)
		}
		if undo == nil { // a deed, not a state
			b.strike(e)
		}
		e.undo = undo
	}
	if !f.Until.IsZero() {
		id := e.ID
		e.timer = b.clock.AfterFunc(f.Until.Sub(now), func() { _ = b.Remove(id) }) // gone already: nothing to end
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return e.Active, nil
}

// admit enters a fault and names it.
func (b *Book) admit(e *entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stopped:
		return errors.New("the sandbox has ended")
	case len(b.inForce) >= most:
		return fmt.Errorf("%d faults are in force: remove some first", most)
	}
	b.last++
	e.ID = "f" + strconv.Itoa(b.last)
	b.inForce = append(b.inForce, e)
	b.turn()
	return nil
}

// turn tells those who wait that faults have come or gone. The lock is held.
func (b *Book) turn() {
	b.set.Store(int32(len(b.inForce)))
	close(b.changed)
	b.changed = make(chan struct{})
}

// strike takes a fault out of the book.
func (b *Book) strike(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.inForce, e)
	if i < 0 {
		return false
	}
	b.inForce = slices.Delete(b.inForce, i, i+1)
	b.turn()
	return true
}

// Remove implements Injector.
func (b *Book) Remove(id string) error {
	b.pulling.Lock()
	defer b.pulling.Unlock()
	b.mu.Lock()
	i := slices.IndexFunc(b.inForce, func(e *entry) bool { return e.ID == id })
	if i < 0 {
		b.mu.Unlock()
		return fmt.Errorf("removing fault %q: %w", id, ErrUnknown)
	}
	e := b.inForce[i]
	b.mu.Unlock()
	b.end(e)
	return nil
}

// end takes a fault out of the book and its lever back. b.pulling is held.
func (b *Book) end(e *entry) {
	if !b.strike(e) {
		return
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.undo != nil {
		e.undo()
	}
	b.release(e)
}

// Clear implements Injector.
func (b *Book) Clear() {
	b.pulling.Lock()
	defer b.pulling.Unlock()
	b.mu.Lock()
	all := slices.Clone(b.inForce)
	b.mu.Unlock()
	for _, e := range all {
		b.end(e)
	}
}

// List implements Injector.
func (b *Book) List() []Active {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune()
	all := []Active{}
	for _, e := range b.inForce {
		all = append(all, e.Active)
	}
	return all
}

// prune drops counted faults that are used up. The lock is held.
func (b *Book) prune() {
	before := len(b.inForce)
	b.inForce = slices.DeleteFunc(b.inForce, func(e *entry) bool { return e.Count > 0 && e.left == 0 && e.held == nil })
	if len(b.inForce) != before {
		b.turn()
	}
}

// meet calls met for every fault that something meets now, oldest first, and
// counts that. The lock is held.
func (b *Book) meet(matches func(*entry) bool, met func(*entry)) {
	now := b.clock.Now()
	for _, e := range b.inForce {
		switch {
		case e.Count > 0 && e.left == 0, !e.Until.IsZero() && !now.Before(e.Until), !matches(e):
			continue
		case e.Probability > 0 && e.random.Float64() >= e.Probability:
			continue
		}
		e.Hits++
		if e.Count > 0 {
			e.left--
		}
		met(e)
	}
	b.prune()
}

// Stop lets no late event arrive any more, and ends waiting calls. Wait follows
// when the services have ended.
func (b *Book) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.stop()
	for _, e := range b.inForce {
		if e.timer != nil {
			e.timer.Stop()
		}
	}
}

// Wait returns when no event is on its way.
func (b *Book) Wait() { b.inFlight.Wait() }
