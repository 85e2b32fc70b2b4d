package provider

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// checkBudget compares what a takeover needs with what the peer window gives
// (DESIGN 5), as soon as the plan knows all of it.
func (m groupModel) checkBudget(ctx context.Context) (diags diag.Diagnostics) {
	if !m.budgetKnown() {
		return nil
	}
	c := m.expand(ctx, "", &diags)
	s, err := db2.ParseSettings(c.Settings)
	if err != nil {
		diags.Append(diagnose.Problem{Tried: "checking group", Object: m.Name.ValueString(), Cause: err.Error()}.ErrorAt(path.Root("db2")))
		return diags
	}
	for _, f := range db2.CheckSettings(s, c.Policy, m.timing(s, c)) {
		diags.Append(diagnose.Unsafe(path.Root("db2").AtName(f.Setting), f.Error, f.Summary, f.Detail))
	}
	return diags
}

func (m groupModel) timing(s db2.Settings, c failover.Config) db2.Timing {
	return db2.Timing{
		PeerWindow:   time.Duration(s.PeerWindow) * time.Second,
		HADRTimeout:  time.Duration(s.Timeout) * time.Second,
		Detection:    time.Duration(m.MaxDetection.ValueInt64()) * time.Second,
		Fencing:      c.Fencing,
		FenceTimeout: c.FenceTimeout,
		ClockOffset:  c.MaxClockOffset,
	}
}

// budgetKnown reports whether every number of the budget is known; the names
// of documents are not among them.
func (m groupModel) budgetKnown() bool {
	if m.Db2.IsUnknown() || m.Timing.IsUnknown() || m.Policy.IsUnknown() || m.Fencing.IsUnknown() || m.MaxDetection.IsUnknown() {
		return false
	}
	db := m.Db2.Attributes()
	needed := []attr.Value{db["syncmode"], db["peer_window_seconds"], db["hadr_timeout_seconds"]}
	for _, v := range m.Timing.Attributes() {
		needed = append(needed, v)
	}
	return !slices.ContainsFunc(needed, isUnknown) && !m.Nodes.IsUnknown()
}

// hasUnknown reports whether one of the values is unknown.
func hasUnknown(s types.Set) bool {
	return s.IsUnknown() || slices.ContainsFunc(s.Elements(), isUnknown)
}
