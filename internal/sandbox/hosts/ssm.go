package hosts

import (
	"context"
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Run implements world.Hosts, as the SSM agent does.
func (h *Hosts) Run(ctx context.Context, c world.Command) (world.CommandResult, error) {
	m := h.machine(c.InstanceID)
	if m == nil {
		<-ctx.Done()
		return world.CommandResult{}, fmt.Errorf("run %s on %s: no such machine: %w", c.ID, c.InstanceID, context.Cause(ctx))
	}
	if err := h.awake(ctx, m, true); err != nil {
		return world.CommandResult{}, fmt.Errorf("run %s: the agent of %s does not answer: %w", c.ID, c.InstanceID, err)
	}
	m.mu.Lock()
	power := m.power
	m.mu.Unlock()
	r, err := h.exec.script(ctx, m, c)
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("run %s on %s: %w", c.ID, c.InstanceID, context.Cause(ctx))
	case power.Err() != nil:
		// The agent died with its machine and does not report.
		<-ctx.Done()
		return world.CommandResult{}, fmt.Errorf("run %s: %s lost its power: %w", c.ID, c.InstanceID, context.Cause(ctx))
	case err != nil:
		return r, fmt.Errorf("run %s on %s: %w", c.ID, c.InstanceID, err)
	}
	if err := h.awake(ctx, m, true); err != nil { // the report needs a live agent, too
		return world.CommandResult{}, fmt.Errorf("run %s: the agent of %s does not answer: %w", c.ID, c.InstanceID, err)
	}
	return r, nil
}
