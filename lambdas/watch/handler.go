// Package watch is the minutely look at every group: it resumes what was
// interrupted and sees what events missed.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
)

// reserve is the time before the function's own end at which runners stop.
const reserve = 5 * time.Second

// Sweeper removes what has expired from the record.
type Sweeper interface {
	// Sweep removes de-duplication items that expired before now, and returns
	// how many there were.
	Sweep(ctx context.Context, now time.Time) (int, error)
}

// Handler looks at groups.
type Handler struct {
	Groups  []string
	Sweeper Sweeper
	Runner  func(ctx context.Context, group string) (*control.Runner, error)
	Clock   clock.Clock
	Log     *slog.Logger
	NewID   func(time.Time) string
}

// Answer says what a look led to, by group.
type Answer struct {
	Groups map[string]string `json:"groups"` // "nothing", or the last entry of history that this look wrote
	Swept  int               `json:"swept,omitempty"`
}

// Handle looks at every group once. An error of one group holds up no other;
// the schedule comes again in a minute, so that none is retried.
func (h *Handler) Handle(ctx context.Context) (Answer, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, deadline.Add(-clock.Real(h.Clock, reserve)))
		defer stop()
	}
	a := Answer{Groups: map[string]string{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	for _, group := range h.Groups {
		wg.Go(func() {
			said, err := h.look(ctx, group)
			mu.Lock()
			defer mu.Unlock()
			a.Groups[group] = said
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	if h.Clock.Now().Minute() == 0 { // once an hour: the sweep reads the whole table
		n, err := h.Sweeper.Sweep(ctx, h.Clock.Now())
		a.Swept = n
		errs = append(errs, err)
	}
	return a, errors.Join(errs...)
}

func (h *Handler) look(ctx context.Context, group string) (string, error) {
	runner, err := h.Runner(ctx, group)
	if err != nil {
		return err.Error(), err
	}
	r, err := runner.Watch(ctx, group, h.NewID(h.Clock.Now()))
	switch {
	case errors.Is(err, control.ErrUnfinished):
		h.Log.Info("the next look goes on", "group", group)
		return "unfinished", nil
	case err != nil:
		h.Log.Error("the look failed", "group", group, "error", err)
		return err.Error(), fmt.Errorf("group %s: %w", group, err)
	case r.Last != nil:
		return r.Last.Event + ": " + r.Last.Reason, nil
	}
	return "nothing", nil
}
