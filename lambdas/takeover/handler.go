// Package takeover answers the alarm of a node, and the report of an agent: it
// binds the event to a group by the record, and lets the runner take over or go
// on with a takeover.
package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// remember is how long an event's operation is kept for redeliveries. Lambda
// keeps an asynchronous event for six hours at most:
// https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html
const remember = 24 * time.Hour

// reserve is the time before the function's own end at which the runner stops,
// so that it ends by itself and Lambda delivers the event again.
const reserve = 5 * time.Second

// Handler answers events.
type Handler struct {
	Store  control.Store
	Runner func(ctx context.Context, group string) (*control.Runner, error)
	Clock  clock.Clock
	Log    *slog.Logger
	NewID  func(time.Time) string // operation ids: ULIDs
}

// Answer says what an event led to. It is what a caller of the function sees.
type Answer struct {
	Group     string `json:"group,omitempty"`
	Operation string `json:"operation,omitempty"`
	Result    string `json:"result"` // "taken_over", "refused", "ignored", "blocked", ...
	Reason    string `json:"reason,omitempty"`
	Next      string `json:"next,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	Primary   string `json:"primary,omitempty"`
}

// Handle answers one delivery of an event. It returns an error only if the
// event should be delivered again.
func (h *Handler) Handle(ctx context.Context, payload json.RawMessage) (Answer, error) {
	r, err := evidence.ParseReport(payload)
	switch {
	case err == nil:
		return h.report(ctx, r, payload)
	case !errors.Is(err, evidence.ErrNoReport):
		return h.unknown(ctx, payload, err.Error())
	}
	e, err := alarm.ParseEvent(payload)
	if err != nil {
		return h.unknown(ctx, payload, "not an alarm event that this function knows: "+err.Error())
	}
	if !e.ToAlarm() {
		return Answer{Result: "ignored", Reason: fmt.Sprintf("alarm %s went to %s, not to ALARM", e.Alarm.Name, e.New.State)}, nil
	}
	group, node, err := h.Store.Binding(ctx, e.Alarm.ARN) // R1
	if errors.Is(err, control.ErrNotFound) {
		return h.unknown(ctx, payload, "no group has the alarm "+e.Alarm.ARN)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("looking up the group of alarm %s: %w", e.Alarm.ARN, err)
	}
	now := h.Clock.Now()
	id, err := h.Store.See(ctx, e.Alarm.ARN, e.New.At, h.NewID(now), now.Add(remember)) // R2
	if err != nil {
		return Answer{}, fmt.Errorf("noting the event of alarm %s: %w", e.Alarm.ARN, err)
	}
	h.Log.Info("alarm", "group", group, "node", node, "operation", id, "alarm", e.Alarm.Name, "reason", e.New.Reason)

	ctx, stop := h.bounded(ctx)
	defer stop()
	runner, err := h.Runner(ctx, group)
	if err != nil {
		return Answer{}, fmt.Errorf("group %s, operation %s: %w", group, id, err)
	}
	result, err := runner.Run(ctx, group, failover.Alarmed{
		At: now, Node: node, Alarm: e.Alarm.ARN, Changed: e.New.At, OperationID: id, Reason: e.New.Reason,
	})
	if err != nil {
		return Answer{}, fmt.Errorf("group %s, operation %s: %w", group, id, err)
	}
	return answer(group, id, result), nil
}

// bounded ends the context before Lambda ends the function.
func (h *Handler) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-clock.Real(h.Clock, reserve)))
}

// unknown records an event of nobody and does nothing else.
func (h *Handler) unknown(ctx context.Context, payload []byte, why string) (Answer, error) {
	h.Log.Warn("event ignored", "reason", why)
	entry := failover.Entry{At: h.Clock.Now(), Event: "ignored", Reason: why, Outcome: "ignored"}
	if err := h.Store.Unknown(ctx, entry, payload); err != nil {
		return Answer{}, fmt.Errorf("recording an unknown event (%s): %w", why, err)
	}
	return Answer{Result: "ignored", Reason: why}, nil
}

func answer(group, operation string, r control.Result) Answer {
	a := Answer{Group: group, Operation: operation, Result: "nothing_to_do", Epoch: r.State.Epoch, Primary: r.State.Primary}
	if r.Last != nil {
		a.Result, a.Reason, a.Next = r.Last.Event, r.Last.Reason, r.Last.Next
		if r.Last.Outcome != "" {
			a.Result = r.Last.Outcome
		}
	}
	return a
}
