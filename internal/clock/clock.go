// Package clock is the only source of time for everything that waits or dates
// something, so that the same code runs in real time, in a sped-up sandbox and
// under testing/synctest.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits.
//
// System is the clock of production. Under testing/synctest System is virtual
// by itself, because that package replaces the time of its bubble.
type Clock interface {
	// Now returns the current time in UTC.
	Now() time.Time
	// Sleep waits for d or until ctx ends, and then returns the cause of ctx.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f in its own goroutine after d.
	AfterFunc(d time.Duration, f func()) Timer
	// NewTicker sends the time on C every d, dropping ticks for slow readers.
	NewTicker(d time.Duration) Ticker
}

// Timer is a pending AfterFunc call.
type Timer interface {
	// Stop reports whether the call was prevented.
	Stop() bool
}

// Ticker delivers ticks until it is stopped.
type Ticker interface {
	C() <-chan time.Time
	Stop()
}

// WithTimeout is context.WithTimeout measured on c. The context ends with
// context.DeadlineExceeded as its cause.
func WithTimeout(parent context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	t := c.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}

// Real returns how much of the operating system's time passes while d passes
// on c.
func Real(c Clock, d time.Duration) time.Duration {
	if s, ok := c.(*Scaled); ok {
		return s.real(d)
	}
	return d
}

// Stopwatch returns how much of c's time has passed since it was started. It
// is monotonic: no correction of the wall clock moves it, as one would Now.
func Stopwatch(c Clock) (elapsed func() time.Duration) {
	if own, ok := c.(interface{ Stopwatch() func() time.Duration }); ok {
		return own.Stopwatch()
	}
	start := time.Now() // with its monotonic reading, which Clock.Now leaves out
	return func() time.Duration { return time.Since(start) }
}

// Virtual returns how much of c's time passes while d of the operating
// system's passes: the reverse of Real.
func Virtual(c Clock, d time.Duration) time.Duration {
	if s, ok := c.(*Scaled); ok {
		return time.Duration(float64(d) * s.speed)
	}
	return d
}
