package db2

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// levers make SQL misbehave while HADR stays connected, and fill the log
// device of a standby.
type levers struct {
	mu      sync.Mutex
	hang    bool
	slow    time.Duration
	full    bool
	changed chan struct{}
}

func (l *levers) set(hang bool, slow time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hang, l.slow = hang, slow
	l.wake()
}

func (l *levers) fill(full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = full
	l.wake()
}

// wake tells everybody who waits for a lever. l.mu is held.
func (l *levers) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *levers) logFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// logRoom waits until the log device has room.
func (l *levers) logRoom(ctx context.Context) error {
	for {
		l.mu.Lock()
		full, changed := l.full, l.changed
		l.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// delay holds an SQL request as long as the levers ask for.
func (l *levers) delay(ctx context.Context, c clock.Clock) error {
	for {
		l.mu.Lock()
		hang, slow, changed := l.hang, l.slow, l.changed
		l.mu.Unlock()
		if !hang {
			if slow == 0 {
				return nil
			}
			return c.Sleep(ctx, slow)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Lever makes SQL hang or slow down on a machine while HADR stays connected.
func Lever(ctx context.Context, n Network, hang bool, slow time.Duration) error {
	return pull(ctx, n, request{Op: "lever", Hang: hang, Slow: slow})
}

// FillLogDevice leaves a standby no room for the log that it receives, or ends
// that: its primary soon has commits that wait in peer state.
func FillLogDevice(ctx context.Context, n Network, full bool) error {
	return pull(ctx, n, request{Op: "log_device", Hang: full})
}

func pull(ctx context.Context, n Network, q request) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := attach(ctx, n)
	if err != nil {
		return fmt.Errorf("set the levers of db2sysc: %w", err)
	}
	defer conn.close()
	conn.ask(q)
	return nil
}
