package control

import (
	"context"
	"errors"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Any number of runners may go on with an operation: compare-and-swap and the
// locks on the nodes keep what they do right. But one is enough. So whoever is
// at work says so on the record, and others look and leave. It decides nothing:
// it saves their time, and a runner that died is replaced a moment later.

const (
	// attention is for how long a runner says that it is at work. It is what a
	// dead one costs at most.
	attention = 15 * time.Second
	// attentive is what must be left of it before it is said again.
	attentive = 8 * time.Second
)

// running reports whether an operation goes on in a state.
func running(s failover.State) bool { return s.Operation != nil && s.Operation.Blocked == "" }

// sign says on the state that is saved next until when this runner is at work.
func (w *work) sign(beyond time.Duration) {
	w.state.Attended = time.Time{}
	if running(w.state) {
		w.state.Attended = w.Clock.Now().Add(beyond + attention)
	}
}

// stay says again that this runner is at work, before it waits. It returns
// ErrConflict if somebody else has changed the record.
func (w *work) stay(ctx context.Context, wait time.Duration) error {
	switch {
	case !running(w.state), w.state.Attempt != nil: // a look: nobody has claimed what it may lead to
		return nil
	case w.state.Operation.Kind == failover.Rejoin: // a claim must find the record as it read it (R30)
		return nil
	case w.offline, !same(w.state, w.persisted), w.state.Attended.Sub(w.Clock.Now().Add(wait)) >= attentive:
		return nil
	}
	w.sign(wait)
	err := w.put(ctx)
	if err != nil && !errors.Is(err, ErrConflict) {
		w.log.Warn("telling others that this runner is at work failed", "operation", w.operationID(), "epoch", w.state.Epoch, "error", err)
		return nil
	}
	return err
}

// put saves the state, in one bounded call.
func (w *work) put(ctx context.Context) error {
	asked := w.Clock.Now()
	if err := w.store(ctx, func(ctx context.Context) error { return w.Store.Save(ctx, w.persisted, w.state) }); err != nil {
		return err
	}
	w.saved(asked)
	return nil
}

// leave waits until whoever is at work on the operation has said so for the last
// time. It reports whether the operation can be left to him: he has said it
// again, or brought it to its end.
func (w *work) leave(ctx context.Context) (bool, error) {
	until := w.state.Attended
	if !running(w.state) {
		return true, nil
	}
	if !w.Clock.Now().Before(until) {
		return false, nil
	}
	w.log.Info("another runner is at work; watching", "operation", w.operationID(), "epoch", w.state.Epoch, "step", w.step())
	// A clock that is far ahead must not keep an operation from its next runner.
	if err := w.Clock.Sleep(ctx, min(until.Sub(w.Clock.Now()), 2*attention)); err != nil {
		return false, ErrUnfinished
	}
	if err := w.load(ctx); err != nil {
		return false, err
	}
	return !running(w.state) || w.state.Attended.After(until), nil
}

// takesUp reports whether an event would do nothing but go on with the operation
// on the record, so that it can be told late. During a rejoin a failure of the
// primary is looked at (R30).
func takesUp(s failover.State, e failover.Event) bool {
	if !running(s) {
		return false
	}
	rejoin := s.Operation.Kind == failover.Rejoin
	switch e := e.(type) {
	case failover.Watched:
		return !rejoin || len(e.Alarms) == 0 && !e.Lease.Sealed
	case failover.Reported:
		return !rejoin
	case failover.Alarmed:
		return e.OperationID == s.Operation.ID // a redelivery (R2)
	}
	return false
}
