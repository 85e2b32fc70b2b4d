package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// ErrUnfinished: the runner had to stop before its operation was over. Whoever
// runs it next goes on from the record.
var ErrUnfinished = errors.New("the operation goes on from the record at the next invocation")

const (
	// freshness is how old a check of the record may be when a mutation is sent
	// (R22).
	freshness = 2 * time.Second
	// retryPause lies between two tries to reach the record.
	retryPause = 500 * time.Millisecond
	saveTries  = 4
	// recordLimit bounds one call to the record where a redirect may be waiting
	// behind it (R27), callLimit one call to AWS that ends by itself in seconds.
	recordLimit = 3 * time.Second
	callLimit   = 30 * time.Second
)

// Runner drives a group with its adapters.
type Runner struct {
	Store     Store
	Instances Instances
	Engine    Engine
	Routes    Routes
	Alarms    Alarms
	Leases    Leases   // may be nil: then no lease is evidence
	Notifier  Notifier // may be nil
	Clock     clock.Clock
	Log       *slog.Logger
}

// Result is how a run ended.
type Result struct {
	State failover.State
	// Last is the newest entry of history that this run wrote, if any.
	Last *failover.Entry
}

// Run feeds an event to a group and runs effects until nothing is left to do.
// It returns ErrUnfinished if ctx ended first.
func (r *Runner) Run(ctx context.Context, group string, e failover.Event) (Result, error) {
	w := &work{Runner: r, group: group, log: r.Log.With("group", group)}
	defer w.background.Wait()
	if err := w.load(ctx); err != nil {
		return Result{}, err
	}
	err := w.handle(ctx, e)
	if ctx.Err() != nil && err == nil {
		err = ErrUnfinished
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", ErrUnfinished, err)
	}
	return Result{State: w.state, Last: w.last}, err
}

// handle drives an event, unless all it would do is being done by another runner.
func (w *work) handle(ctx context.Context, e failover.Event) error {
	if takesUp(w.state, e) {
		if left, err := w.leave(ctx); left || err != nil {
			return err
		}
	}
	return w.drive(ctx, e)
}

// work is one run on one group.
type work struct {
	*Runner
	group     string
	log       *slog.Logger
	state     failover.State // what the core says
	persisted failover.State // what is on the record
	checked   time.Time      // when the record was last asked: its answer may be as old as that (R22)
	offline   bool           // the record gave no answer lately
	last      *failover.Entry
	still     *failover.Lease // that stands still, as the last look found it
	intends   intent
	machines  map[string]sighting // as the last look found them
	// background is what nobody waits for any more, but for the end of the run.
	background sync.WaitGroup
}

func (w *work) load(ctx context.Context) error {
	asked := w.Clock.Now()
	s, err := w.read(ctx)
	if err != nil {
		return fmt.Errorf("reading the record of group %s: %w", w.group, err)
	}
	w.state, w.persisted, w.checked = s, s, asked
	w.tellWord(ctx) // whoever saved it may be dead
	return nil
}

// read returns what is on the record, with the engine's words for people.
func (w *work) read(ctx context.Context) (failover.State, error) {
	s, err := w.Store.Load(ctx, w.group)
	if err != nil {
		return s, err
	}
	s.Manual = w.Engine.Manual()
	return s, nil
}

// drive steps the core until it has nothing more to do.
func (w *work) drive(ctx context.Context, first failover.Event) error {
	events := []failover.Event{first}
	for len(events) > 0 {
		if ctx.Err() != nil {
			return ErrUnfinished
		}
		next, effects := failover.Step(w.state, events[0])
		events = events[1:]
		w.state = next
		more, err := w.commit(ctx, effects)
		switch {
		case errors.Is(err, ErrConflict):
			more, err = w.yield(ctx)
			if err != nil {
				return err
			}
			events = more
			continue
		case err != nil:
			return err
		}
		events = append(events, more...)
	}
	return nil
}

// commit saves what changed and runs the effects. The effects of a claim that
// was lost are not run.
func (w *work) commit(ctx context.Context, effects []failover.Effect) ([]failover.Event, error) {
	for _, e := range effects {
		if _, ok := e.(failover.Claim); ok {
			claimed, err := w.claim(ctx)
			return []failover.Event{claimed}, err
		}
	}
	if w.lastWord() {
		effects = w.keepWord(effects)
	}
	if err := w.save(ctx); err != nil {
		return nil, err
	}
	rest := w.tell(ctx, effects)
	w.tellWord(ctx)
	return w.run(ctx, rest)
}

// claim makes the operation this runner's, or learns who was faster.
//
// What came of a claim that can't be read back is not known: then the run ends,
// because nothing but a claim may put an operation on the record (R11). The
// next delivery of the event finds its operation there, or claims again (R2).
func (w *work) claim(ctx context.Context) (failover.Event, error) {
	w.sign(0)
	w.keepStart()
	asked := w.Clock.Now()
	err := w.Store.Claim(ctx, w.persisted, w.state)
	if err == nil {
		w.saved(asked)
		return failover.Claimed{At: w.Clock.Now(), OK: true}, nil
	}
	w.log.Warn("claim failed", "operation", w.state.Operation.ID, "epoch", w.state.Epoch, "error", err)
	asked = w.Clock.Now()
	now, loadErr := w.read(ctx)
	if loadErr != nil {
		return nil, fmt.Errorf("claiming group %s for operation %s: %s (and the record could not be read back: %w)", w.group, w.state.Operation.ID, err.Error(), loadErr)
	}
	w.persisted, w.checked = now, asked
	if now.Operation != nil && now.Operation.ID == w.state.Operation.ID { // R2: a lost response
		w.state = now
		return failover.Claimed{At: w.Clock.Now(), OK: true}, nil
	}
	return failover.Claimed{At: w.Clock.Now(), Why: err.Error(), State: &now}, nil
}

// saved notes that the record holds what the core says, as of asked.
func (w *work) saved(asked time.Time) {
	w.state.Version = w.persisted.Version + 1
	w.persisted, w.checked, w.offline = w.state, asked, false
}

// store makes one bounded call to the record.
func (w *work) store(ctx context.Context, call func(context.Context) error) error {
	ctx, stop := clock.WithTimeout(ctx, w.Clock, recordLimit)
	defer stop()
	return call(ctx)
}

// tries is how often a write to the record is tried.
func (w *work) tries() int {
	if w.offline {
		return 1
	}
	return saveTries
}

// save writes the state if it differs from the record.
func (w *work) save(ctx context.Context) error {
	if same(w.state, w.persisted) {
		return nil
	}
	if !reflect.DeepEqual(w.state.Operation, w.persisted.Operation) || !w.state.ClaimsWait.Equal(w.persisted.ClaimsWait) { // else it is another runner's
		w.sign(0)
	}
	w.keepStart()
	var err error
	for try := range w.tries() {
		if try > 0 && w.Clock.Sleep(ctx, retryPause) != nil {
			break
		}
		before := w.persisted.Operation
		if err = w.put(ctx); err == nil {
			w.intended(before, w.state.Operation)
			return nil
		}
		if errors.Is(err, ErrConflict) {
			return err
		}
		w.log.Warn("saving failed", "operation", w.operationID(), "epoch", w.state.Epoch, "error", err)
	}
	if w.mayFinishRedirect() {
		w.offline = true
		w.log.Warn("the record can't be reached; finishing the redirect of this epoch without it", "operation", w.operationID(), "epoch", w.state.Epoch)
		return nil
	}
	return fmt.Errorf("saving step %s of operation %s: %w", w.step(), w.operationID(), err)
}

// mayFinishRedirect: after the promotion was sent, reading the new role and the
// idempotent redirects that follow may be finished without the record, within
// the step's deadline and the time for which other claims wait (R27). Every other step needs the record first.
func (w *work) mayFinishRedirect() bool {
	op, now := w.state.Operation, w.Clock.Now()
	if op == nil || !now.Before(op.Deadline) || now.Sub(w.checked) >= op.Config.Alone() {
		return false
	}
	return op.Step == failover.StepConfirm || op.Step == failover.StepRedirect && w.state.Primary == op.To
}

// same compares what is on the record and the control plane's own: neither
// Config, Attempt, maintenance, what a runner says of itself, nor a start that was
// told, which the next save takes off.
func same(a, b failover.State) bool {
	a.Attempt, b.Attempt = nil, nil
	a.Start, b.Start = nil, nil
	a.Manual, b.Manual = failover.Manual{}, failover.Manual{}
	a.Attended, b.Attended = time.Time{}, time.Time{}
	a.Maintenance, b.Maintenance = failover.Maintenance{}, failover.Maintenance{}
	a.Config, b.Config = failover.Config{}, failover.Config{}
	return reflect.DeepEqual(a, b)
}

// yield leaves the group to whoever changed the record. If an operation runs
// there, and its runner does not say that it is still at work, it is gone on
// with.
func (w *work) yield(ctx context.Context) ([]failover.Event, error) {
	if err := w.load(ctx); err != nil {
		return nil, err
	}
	if left, err := w.leave(ctx); left || err != nil {
		return nil, err
	}
	return []failover.Event{failover.Resumed{At: w.Clock.Now()}}, nil
}

func (w *work) operationID() string {
	if w.state.Operation == nil {
		return ""
	}
	return w.state.Operation.ID
}

func (w *work) step() string {
	if w.state.Operation == nil {
		return ""
	}
	return string(w.state.Operation.Step)
}
