package postgresql

import (
	"context"
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// The steps of a switchover.
const (
	StepDemote failover.StepName = "demote" // the old primary stops in order
	StepUndo   failover.StepName = "undo"   // it becomes primary again
)

// SwitchoverResult is how a planned change of primary ended. Primary is the node
// that is known to be primary now, "" while that has to be read.
type SwitchoverResult struct {
	control.PromotionResult
	Primary  string
	Position LSN // end of the old primary's log, which the new one has replayed
}

// Switchover moves the primary to another node and loses nothing: the old one
// stops in order, the new one is promoted once it has replayed the end of the
// old one's log, and the old one follows it. Until the promotion is asked for
// the old primary can take over its role again; after that an outcome that is
// not certain stays so, and is read (R23). Every step may be repeated with the
// same order (R21).
//
// p.Node is the node that becomes primary, and from the one that is.
func (e *Engine) Switchover(ctx context.Context, from failover.NodeConfig, p control.Promotion) SwitchoverResult {
	out := SwitchoverResult{Primary: from.ID}
	out.Outcome = failover.Failed
	s, err := ParseSettings(p.Settings)
	if err != nil {
		out.Detail, out.Next = err.Error(), configureNext
		return out
	}
	if o := e.Observe(ctx, p.Group, p.Node, p.Settings); o.Answer != failover.Answered || o.State != "streaming" {
		out.Detail = fmt.Sprintf("node %s does not stream from node %s: %s %s %s", p.Node.ID, from.ID, o.State, o.FitnessWhy, o.AnswerError)
		out.Next = lookNext
		return out
	}
	old := p
	old.Node, old.CommandID = from, ""
	a := e.run(ctx, order{kind: "demote", step: StepDemote, settings: s, Promotion: old}, nil)
	if a.err != nil || a.report != nil && a.report["outcome"] == "refused" {
		out.Detail = "node " + from.ID + " was not asked to stop: " + reason(a)
		return out
	}
	position, err := ParseLSN(a.report["checkpoint"])
	if a.report["outcome"] != "stopped" || err != nil {
		out.Outcome, out.Primary = failover.Unknown, ""
		out.Detail, out.Next = "node "+from.ID+" did not stop in order: "+reason(a), "hadr status "+p.Group
		return out
	}
	out.Position = position
	return e.handOver(ctx, s, out, from, p)
}

// handOver promotes the new primary and lets the old one, which has stopped,
// follow it, or go on where the new one certainly is none.
func (e *Engine) handOver(ctx context.Context, s Settings, out SwitchoverResult, from failover.NodeConfig, p control.Promotion) SwitchoverResult {
	out.PromotionResult = e.promote(ctx, p, out.Position.String(), nil)
	back := p
	back.Node, back.CommandID = from, ""
	switch out.Outcome {
	case failover.Failed:
		if started, err := e.start(ctx, back, StepUndo, "primary"); started != failover.OK {
			out.Primary = ""
			out.Detail += fmt.Sprintf("; and node %s could not be started again: %v", from.ID, err)
			out.Next = "hadr status " + p.Group
			return out
		}
		out.Detail += "; node " + from.ID + " is primary again"
	case failover.OK:
		out.Primary = p.Node.ID
		if r := e.Rejoin(ctx, back); r.Outcome != failover.OK {
			out.Detail += "; node " + from.ID + " does not follow yet: " + r.Detail
			out.Next = r.Next
		}
	default:
		out.Primary = ""
	}
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
