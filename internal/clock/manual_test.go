package clock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var base = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

// settled is for tests in a bubble.
func settled(context.Context) error { synctest.Wait(); return nil }

// TestManualHappensInOrder: what is due happens in the order of its time, what
// follows from it too, and nothing else.
func TestManualHappensInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManual(base, settled)
		var log []string
		note := func(what string) { log = append(log, fmt.Sprintf("%s %s", m.Now().Sub(base), what)) }
		m.AfterFunc(20*time.Second, func() { note("later") })
		m.AfterFunc(10*time.Second, func() {
			note("first")
			m.AfterFunc(5*time.Second, func() { note("follows") })
			m.AfterFunc(0, func() { note("at once") })
		})
		m.AfterFunc(10*time.Second, func() { note("second") })
		stopped := m.AfterFunc(11*time.Second, func() { note("stopped") })
		ticker := m.NewTicker(9 * time.Second)
		go func() {
			for range 2 {
				note("tick " + (<-ticker.C()).Sub(base).String())
			}
			ticker.Stop()
		}()
		go func() {
			if err := m.Sleep(t.Context(), 12*time.Second); err != nil {
				t.Error(err)
			}
			note("woken")
		}()
		if !stopped.Stop() || stopped.Stop() {
			t.Error("Stop reports wrongly whether it came in time")
		}
		for _, step := range []time.Duration{10 * time.Second, 9999 * time.Millisecond, time.Millisecond, time.Hour} {
			if err := m.Advance(t.Context(), step); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"9s tick 9s", "10s first", "10s second", "10s at once", "12s woken", "15s follows", "18s tick 18s", "20s later"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
		if got := m.Now().Sub(base); got != time.Hour+20*time.Second {
			t.Errorf("the clock moved by %s", got)
		}
	})
}

func TestManualEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		m := NewManual(base, func(ctx context.Context) error { synctest.Wait(); return context.Cause(ctx) })
		m.AfterFunc(time.Minute, func() { cancel(gone) })
		asleep := make(chan error)
		go func() { asleep <- m.Sleep(ctx, time.Hour) }()
		err := m.Advance(ctx, 2*time.Minute)
		if !errors.Is(err, gone) || !strings.Contains(err.Error(), "03:01:00") {
			t.Errorf("Advance: %v", err)
		}
		if err := <-asleep; !errors.Is(err, gone) {
			t.Errorf("Sleep: %v", err)
		}
		if err := m.Advance(t.Context(), -time.Second); err == nil {
			t.Error("the clock runs backwards")
		}
		if len(m.timers) != 0 {
			t.Errorf("%d timers are left", len(m.timers))
		}
	})
}

// TestManualIsSystemInSteps: however an hour is cut into steps, timers fire at
// the times at which they do by the system's clock.
func TestManualIsSystemInSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delays := rapid.SliceOfN(rapid.IntRange(0, 3600), 1, 20).Draw(t, "delays")
		cuts := rapid.SliceOf(rapid.IntRange(0, 3600)).Draw(t, "cuts")
		slices.Sort(cuts)
		m := NewManual(base, func(context.Context) error { return nil })
		var fired []int
		for _, d := range delays {
			m.start(time.Duration(d)*time.Second, 0, func(now time.Time) {
				if late := now.Sub(base) - time.Duration(d)*time.Second; late != 0 {
					t.Errorf("a timer of %d s fires %s late", d, late)
				}
				fired = append(fired, d)
			})
		}
		at := 0
		for _, c := range append(cuts, 3600) {
			if err := m.Advance(context.Background(), time.Duration(c-at)*time.Second); err != nil {
				t.Fatal(err)
			}
			at = c
			if n := len(fired); n != len(slices.DeleteFunc(slices.Clone(delays), func(d int) bool { return d > c })) {
				t.Fatalf("%d timers have fired by %d s", n, c)
			}
		}
		slices.Sort(delays)
		if !slices.Equal(fired, delays) {
			t.Errorf("fired %v, want %v", fired, delays)
		}
	})
}
