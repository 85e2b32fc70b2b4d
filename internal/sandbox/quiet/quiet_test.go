package quiet

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWaitsForChains: what goroutines hand on to each other is over when Wait
// returns, with computing, system calls and short pauses of the scheduler on
// the way, while others wait for signals and processes.
func TestWaitsForChains(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Skip("no program sleep:", err)
	}
	dead := make(chan error, 1)
	go func() { dead <- sleeper.Wait() }()
	defer func() { _ = sleeper.Process.Kill(); <-dead }()

	file := filepath.Join(t.TempDir(), "f")
	for round := range 50 {
		var done atomic.Int32
		start := make(chan struct{})
		next := start
		const links = 20
		for range links {
			from, to := next, make(chan struct{})
			go func() {
				<-from
				x := 0
				for i := range 20000 {
					x += i
				}
				if err := os.WriteFile(file, make([]byte, x%4096), 0o600); err != nil {
					t.Error(err)
				}
				done.Add(1)
				close(to)
			}()
			next = to
		}
		if err := Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := done.Load(); n != 0 {
			t.Fatalf("round %d: %d links went on before the start", round, n)
		}
		close(start)
		if err := Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := done.Load(); n != links {
			t.Fatalf("round %d: Wait returned after %d of %d links", round, n, links)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	var stopped atomic.Bool
	defer stopped.Store(true)
	go func() {
		for {
			if stopped.Load() { // busy, as a program that never rests
				return
			}
		}
	}()
	if err := Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %v", err)
	}
}

func BenchmarkWait(b *testing.B) {
	for b.Loop() {
		if err := Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
