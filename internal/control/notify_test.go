package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// pager is a Notifier.
type pager struct {
	mu     sync.Mutex
	takes  time.Duration
	err    error
	events []string
}

func (p *pager) Notify(ctx context.Context, _ string, e failover.Entry) error {
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.events = append(p.events, e.Event)
	}
	return p.err
}

// TestNotify: people hear that a takeover began and how it ended; however long
// that takes, the takeover takes no longer, and what they could not be told is
// in the history.
func TestNotify(t *testing.T) {
	duration := func(t *testing.T, p *pager) (takes, run time.Duration, missed []failover.Entry) {
		r, st, si := setup()
		si.stopTakes = 7 * time.Second // between two looks at it
		if p != nil {
			r.Notifier = p
		}
		began := r.Clock.Now()
		var moved time.Time
		si.onCall = func(call string) {
			if strings.HasPrefix(call, "move") {
				moved = r.Clock.Now()
			}
		}
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		checkTakenOver(t, st, si)
		for _, e := range st.history {
			if e.Event == "not_notified" {
				missed = append(missed, e)
			}
		}
		return moved.Sub(began), r.Clock.Now().Sub(began), missed
	}
	tests := []struct {
		name   string
		pager  *pager
		told   []string
		missed int
		after  time.Duration // longer than without
	}{
		{name: "at once", pager: &pager{}, told: []string{"started", "ended"}},
		{name: "a slow topic", pager: &pager{takes: 3 * time.Second}, told: []string{"started", "ended"}, after: 3 * time.Second},
		{name: "no answer", pager: &pager{takes: time.Hour}, missed: 2, after: notifyLimit},
		{name: "not allowed", pager: &pager{err: errors.New("AccessDenied: sns:Publish")}, missed: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				alone, aloneRun, _ := duration(t, nil)
				takes, run, missed := duration(t, tt.pager)
				if takes != alone {
					t.Errorf("clients were led on after %s, and after %s without a topic", takes, alone)
				}
				if run > aloneRun+tt.after {
					t.Errorf("the run took %s, and %s without a topic", run, aloneRun)
				}
				slices.Sort(tt.pager.events)
				if slices.Sort(tt.told); !slices.Equal(tt.pager.events, tt.told) {
					t.Errorf("told %v, want %v", tt.pager.events, tt.told)
				}
				if len(missed) != tt.missed {
					t.Errorf("the history has %d misses, want %d", len(missed), tt.missed)
				}
				for _, e := range missed {
					if e.Reason == "" || !strings.Contains(e.Next, "sns:Publish") || e.OperationID != "op1" {
						t.Errorf("missed: %+v", e)
					}
				}
			})
		})
	}
}

// TestNotifyAfterADeath: the end of an operation is told by whoever reads the
// record next, if its runner died between saving and telling it.
func TestNotifyAfterADeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, _ := setup()
		p := &pager{}
		r.Notifier = p
		st.appends = func() error {
			if st.state.Word != nil {
				return errors.New("this runner tells nothing any more")
			}
			return nil
		}
		_, _ = r.Run(t.Context(), group, event(r.Clock))
		if slices.Contains(p.events, "ended") {
			t.Fatalf("told %v", p.events)
		}
		st.appends = nil
		if _, err := r.Watch(t.Context(), group, "op2"); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.events, "ended") {
			t.Errorf("told %v, and not how it ended", p.events)
		}
	})
}

// TestNotifyAtTheEnd: a function whose time is over still tells what it knows.
func TestNotifyAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, si := setup()
		p := &pager{takes: 2 * time.Second}
		r.Notifier = p
		ctx, end := context.WithCancel(t.Context())
		si.onCall = func(string) { end() } // just after it has started
		if _, err := r.Run(ctx, group, event(r.Clock)); !errors.Is(err, ErrUnfinished) {
			t.Errorf("error %v", err)
		}
		if !slices.Equal(p.events, []string{"started"}) {
			t.Errorf("told %v", p.events)
		}
	})
}
