package control

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// notifyLimit bounds how long people are told of one thing. It is less than what
// a function keeps for its own end, at which it may still have something to tell.
const notifyLimit = 4 * time.Second

// notify tells people beside everything else: a topic that gives no answer must
// hold no takeover up. The run does not end before it has ended.
func (w *work) notify(ctx context.Context, e failover.Entry) {
	if w.Notifier != nil {
		w.background.Go(func() { w.notifyNow(ctx, e) })
	}
}

// notifyNow tells people, and says in the history if that failed: who is asked
// there why nobody came should find it.
func (w *work) notifyNow(ctx context.Context, e failover.Entry) {
	if w.Notifier == nil {
		return
	}
	ctx, stop := clock.WithTimeout(context.WithoutCancel(ctx), w.Clock, notifyLimit)
	defer stop()
	err := w.Notifier.Notify(ctx, w.group, e)
	if err == nil {
		return
	}
	w.log.Error("notifying failed", "operation", e.OperationID, "epoch", e.Epoch, "event", e.Event, "error", err)
	missed := failover.Entry{
		At: w.Clock.Now(), OperationID: e.OperationID, Event: "not_notified", Kind: e.Kind, Epoch: e.Epoch,
		Reason: fmt.Sprintf("people could not be told of %q: %s", e.Headline(), err.Error()),
		Next:   "see that the topics of notification_arns exist, and that whoever runs hadr may publish on them (sns:Publish)",
	}
	tell := func(ctx context.Context) error { return w.Store.Append(ctx, w.group, missed) }
	if err := w.store(context.WithoutCancel(ctx), tell); err != nil {
		w.log.Error("writing history failed", "operation", e.OperationID, "epoch", e.Epoch, "event", missed.Event, "error", err)
	}
}
