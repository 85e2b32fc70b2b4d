package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// report answers an event of the control plane's own. The group that it names
// must be on the record (R1), and what it says is read again there.
func (h *Handler) report(ctx context.Context, r evidence.Report, payload json.RawMessage) (Answer, error) {
	now := h.Clock.Now()
	ctx, stop := h.bounded(ctx)
	defer stop()
	runner, err := h.Runner(ctx, r.Group)
	if errors.Is(err, control.ErrNotFound) {
		return h.unknown(ctx, payload, "no group "+r.Group+" is on the record")
	}
	if err != nil {
		return Answer{}, fmt.Errorf("group %s: %w", r.Group, err)
	}
	seen := now
	if len(r.Evidence) > 0 {
		seen = r.Evidence[0].ObservedAt
	}
	// The same sighting has the same operation, however often it is told (R2).
	id, err := h.Store.See(ctx, r.Source+"/"+r.Group+"/"+r.Node, seen, h.NewID(now), now.Add(remember))
	if err != nil {
		return Answer{}, fmt.Errorf("noting the report about node %s of group %s: %w", r.Node, r.Group, err)
	}
	h.Log.Info("report", "group", r.Group, "node", r.Node, "operation", id, "reason", r.Reason())
	result, err := runner.Run(ctx, r.Group, failover.Reported{At: now, Node: r.Node, OperationID: id, Reason: r.Reason()})
	if err != nil {
		return Answer{}, fmt.Errorf("group %s, operation %s: %w", r.Group, id, err)
	}
	return answer(r.Group, id, result), nil
}
