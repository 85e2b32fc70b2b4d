package control

import (
	"context"
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Release ends the fence of a node at a person's word, where the machine of the
// other node is read as down.
func (r *Runner) Release(ctx context.Context, group, node, actor, reason string) (Result, error) {
	w := &work{Runner: r, group: group, log: r.Log.With("group", group)}
	if err := w.load(ctx); err != nil {
		return Result{}, err
	}
	machines := map[string]failover.InstanceState{}
	for _, n := range w.config().Nodes {
		state, _, err := r.Instances.State(ctx, n)
		if err != nil {
			return Result{}, fmt.Errorf("reading the machine of node %s: %w", n.ID, err)
		}
		machines[n.ID] = state
	}
	return r.Run(ctx, group, failover.ReleaseAsked{
		At: r.Clock.Now(), Node: node, Actor: actor, Reason: reason, Machines: machines,
	})
}
