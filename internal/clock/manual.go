package clock

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// Manual is a clock that stands still until Advance moves it. All that is due
// happens in the order of its time, one thing after the other.
type Manual struct {
	settle    func(context.Context) error
	advancing chan struct{} // holds a token while Advance runs

	mu     sync.Mutex
	now    time.Time
	timers timers
	seq    uint64
}

// NewManual returns a clock that reads now. settle returns when everything that
// was woken at the present time has done what it does and waits again, as
// synctest.Wait does; it is called between any two things that are due.
func NewManual(now time.Time, settle func(context.Context) error) *Manual {
	return &Manual{now: now.UTC(), settle: settle, advancing: make(chan struct{}, 1)}
}

// Now implements Clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock by d. It returns when everything due by then has
// happened; or with an error when ctx ends, and then the clock has moved less
// far. Several callers move it one after the other.
func (m *Manual) Advance(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("advancing the clock by %s: time does not run backwards", d)
	}
	select {
	case m.advancing <- struct{}{}:
		defer func() { <-m.advancing }()
	case <-ctx.Done():
		return fmt.Errorf("waiting for another advance of the clock: %w", context.Cause(ctx))
	}
	end := m.Now().Add(d)
	for {
		if err := m.settle(ctx); err != nil {
			return fmt.Errorf("advancing the clock to %s, at %s: %w", end.Format(time.RFC3339Nano), m.Now().Format(time.RFC3339Nano), err)
		}
		moved, fire := m.step(end)
		if fire != nil {
			fire()
		} else if !moved {
			return nil
		}
	}
}

// step moves the clock to what is due first and returns that, or to end if
// nothing is due before.
func (m *Manual) step(end time.Time) (moved bool, fire func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.timers) == 0 || m.timers[0].due.After(end) {
		moved = end.After(m.now)
		m.now = end
		return moved, nil
	}
	t := heap.Pop(&m.timers).(*manualTimer) //nolint:forcetypeassert // the heap holds nothing else
	if t.due.After(m.now) {
		m.now = t.due
	}
	at := m.now
	if t.every > 0 {
		m.add(t, t.due.Add(t.every))
	}
	return true, func() { t.fire(at) }
}

// add enters a timer; of those due at the same time the first one entered comes
// first. The lock is held.
func (m *Manual) add(t *manualTimer, due time.Time) {
	m.seq++
	t.due, t.seq = due, m.seq
	heap.Push(&m.timers, t)
}

// start enters a new timer.
func (m *Manual) start(d, every time.Duration, fire func(time.Time)) *manualTimer {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &manualTimer{m: m, every: every, fire: fire}
	m.add(t, m.now.Add(max(d, 0)))
	return t
}

// Sleep implements Clock.
func (m *Manual) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	woken := make(chan struct{})
	t := m.start(d, 0, func(time.Time) { close(woken) })
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		t.Stop()
		return context.Cause(ctx)
	}
}

// AfterFunc implements Clock.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	return m.start(d, 0, func(time.Time) { go f() })
}

// NewTicker implements Clock.
func (m *Manual) NewTicker(d time.Duration) Ticker {
	c := make(chan time.Time, 1)
	return manualTicker{m.start(d, d, func(now time.Time) {
		select {
		case c <- now:
		default:
		}
	}), c}
}

type manualTimer struct {
	m     *Manual
	due   time.Time
	every time.Duration // of a ticker
	seq   uint64
	place int // in the heap, -1 if it is not there
	fire  func(now time.Time)
}

// Stop implements Timer.
func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if t.place < 0 {
		return false
	}
	heap.Remove(&t.m.timers, t.place)
	return true
}

type manualTicker struct {
	*manualTimer
	c chan time.Time
}

func (t manualTicker) C() <-chan time.Time { return t.c }

func (t manualTicker) Stop() { t.manualTimer.Stop() }

// timers is a heap by due time.
type timers []*manualTimer

func (t timers) Len() int { return len(t) }

func (t timers) Less(i, j int) bool {
	if !t[i].due.Equal(t[j].due) {
		return t[i].due.Before(t[j].due)
	}
	return t[i].seq < t[j].seq
}

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}

func (t *timers) Push(x any) {
	timer := x.(*manualTimer) //nolint:forcetypeassert // pushed by add alone
	timer.place = len(*t)
	*t = append(*t, timer)
}

func (t *timers) Pop() any {
	n := len(*t) - 1
	timer := (*t)[n]
	(*t)[n] = nil
	*t = (*t)[:n]
	timer.place = -1
	return timer
}

// Stopwatch implements the one that clock.Stopwatch returns: nothing but
// Advance moves this clock.
func (m *Manual) Stopwatch() func() time.Duration {
	start := m.Now()
	return func() time.Duration { return m.Now().Sub(start) }
}
