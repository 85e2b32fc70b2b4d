package postgresql

import (
	"context"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// The steps of a change of roles in order, within the core's promotion.
const (
	stepDemote failover.StepName = "demote" // the old primary stops in order
	stepUndo   failover.StepName = "undo"   // it becomes primary again
	stepFollow failover.StepName = "follow" // it starts as standby
)

const (
	// undoLimit is how long the old primary may wait for its start. It is down,
	// so its order outlives the deadline of the promotion.
	undoLimit = 5 * time.Minute
	// followWait is how long the promotion waits for the start of the new
	// standby. Clients wait for the endpoint meanwhile, so it is only sent.
	followWait = 2 * time.Second
)

// switchOver moves the primary and loses nothing, also where replication is
// asynchronous: the old one stops in order, the new one is promoted once it has
// replayed the end of the old one's log, and the old one follows it. Until the
// promotion is asked for the old primary can have its role back; after that an
// outcome that is not certain stays so, and is read (R23). Whoever resumes gets
// the first results of the steps that have run (R21).
func (e *Engine) switchOver(ctx context.Context, s Settings, p control.Promotion, started func(commandID string)) control.PromotionResult {
	out := control.PromotionResult{Outcome: failover.Failed}
	if p.Other.Instance == "" {
		out.Detail, out.Next = "the node that is primary is not known", configureNext
		return out
	}
	old := p
	old.Node, old.Other, old.CommandID = p.Other, p.Node, ""
	a := e.run(ctx, order{kind: "demote", step: stepDemote, settings: s, Promotion: old}, nil)
	if a.err != nil || a.report["outcome"] == "refused" {
		out.Code, out.Detail, out.Next = "refused", "node "+old.Node.ID+" was not asked to stop: "+reason(a), "hadr status "+p.Group
		return out
	}
	end, err := ParseLSN(a.report["checkpoint"])
	if a.report["outcome"] != "stopped" || err != nil {
		out.Outcome = failover.Unknown
		out.Detail, out.Next = "node "+old.Node.ID+" did not stop in order: "+reason(a), "hadr status "+p.Group
		return out
	}
	out = e.promote(ctx, s, p, end.String(), started)
	switch out.Outcome {
	case failover.Failed:
		return e.undo(ctx, old, out)
	case failover.OK:
		follow, cancel := clock.WithTimeout(ctx, e.clock, followWait)
		defer cancel()
		e.run(follow, order{kind: "rejoin", step: stepFollow, settings: s, Promotion: old}, nil)
	}
	return out
}

// undo gives the old primary its role back: the new one certainly is none.
func (e *Engine) undo(ctx context.Context, old control.Promotion, out control.PromotionResult) control.PromotionResult {
	old.Deadline = e.clock.Now().Add(undoLimit)
	if started, err := e.start(ctx, old, stepUndo, "primary"); started != failover.OK {
		out.Detail += fmt.Sprintf("; and node %s could not be started again: %v", old.Node.ID, err)
		out.Next = "hadr status " + old.Group
		return out
	}
	out.Detail += "; node " + old.Node.ID + " is primary again"
	return out
}

func reason(a answer) string {
	if a.err != nil {
		return a.err.Error()
	}
	if a.report == nil {
		return a.Detail
	}
	return a.report["reason"]
}
