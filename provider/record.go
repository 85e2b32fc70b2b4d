package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// record is the state table that a resource names.
func (c *clients) record(table string) *statetable.Table {
	return statetable.New(c.dynamodb, table, c.clock)
}

// loadGroup reads a group, and reports false if the table has none of the name.
func (c *clients) loadGroup(ctx context.Context, table, group string) (failover.State, bool, error) {
	s, err := c.record(table).Load(ctx, group)
	switch {
	case errors.Is(err, control.ErrNotFound):
		return failover.State{}, false, nil
	case err != nil:
		return failover.State{}, false, err
	}
	return s, true, nil
}

// loadPart reads a group of which a part may be missing, and reports whether it
// has a state. Its configuration may be there without one.
func (c *clients) loadPart(ctx context.Context, table, group string) (s failover.State, ok bool, err error) {
	record := c.record(table)
	s, err = record.LoadState(ctx, group)
	if err == nil || errors.Is(err, control.ErrNotFound) {
		ok = err == nil
		s.Config, err = record.ReadConfig(ctx, group)
	}
	if errors.Is(err, control.ErrNotFound) {
		err = nil
	}
	return s, ok, err
}

// busy returns the diagnostic of a running operation, and false if none runs.
// A blocked one does not stand in the way: its way out may be this change.
func busy(tried, object string, s failover.State, force string) (diag.Diagnostic, bool) {
	op := s.Operation
	if op == nil || s.Phase == failover.Blocked {
		return nil, false
	}
	return diagnose.Busy(tried, object, diagnose.Operation{
		Group: s.Group, ID: op.ID, Kind: string(op.Kind), Step: string(op.Step),
		Started: op.Started, Blocked: op.Blocked, Next: op.Next,
	}, force), true
}

// describeGroup names a group for somebody who did not expect it.
func describeGroup(s failover.State) string {
	var nodes []string
	for _, n := range s.Config.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s = %s", n.ID, n.Instance))
	}
	slices.Sort(nodes)
	if len(nodes) == 0 {
		nodes = []string{"no nodes declared yet"}
	}
	return fmt.Sprintf("%s; primary %s in epoch %d", strings.Join(nodes, ", "), s.Primary, s.Epoch)
}

// splitID splits TABLE/GROUP and the like.
func splitID(id string, parts int) ([]string, bool) {
	p := strings.Split(id, "/")
	return p, len(p) == parts && !slices.Contains(p, "")
}
