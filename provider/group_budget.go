package provider

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
)

// checkBudget compares what a takeover needs with the time for which the
// standby is good (DESIGN 5), as soon as the plan knows all of it.
func (m groupModel) checkBudget(ctx context.Context) (diags diag.Diagnostics) {
	if !m.budgetKnown() {
		return nil
	}
	block := m.engine()
	at := path.Root(block.name)
	found, err := block.judge(m.expand(ctx, "", &diags), time.Duration(m.MaxDetection.ValueInt64())*time.Second)
	if err != nil {
		if setting, ok := errors.AsType[postgresql.SettingError](err); ok {
			at = at.AtName(setting.Setting)
		}
		diags.Append(diagnose.Problem{Tried: "checking group", Object: m.Name.ValueString(), Cause: err.Error()}.ErrorAt(at))
		return diags
	}
	for _, f := range found {
		diags.Append(diagnose.Unsafe(at.AtName(f.Setting), f.Error, f.Summary, f.Detail))
	}
	return diags
}

// budgetKnown reports whether every number of the budget is known; the names
// of documents are not among them.
func (m groupModel) budgetKnown() bool {
	block := m.engine()
	declared := m.block(block.name)
	if declared.IsNull() || declared.IsUnknown() || m.Timing.IsUnknown() || m.Policy.IsUnknown() || m.Fencing.IsUnknown() || m.MaxDetection.IsUnknown() {
		return false
	}
	var needed []attr.Value
	for _, name := range block.budget {
		needed = append(needed, declared.Attributes()[name])
	}
	for _, v := range m.Timing.Attributes() {
		needed = append(needed, v)
	}
	return !slices.ContainsFunc(needed, isUnknown) && !m.Nodes.IsUnknown()
}

// hasUnknown reports whether one of the values is unknown.
func hasUnknown(s types.Set) bool {
	return s.IsUnknown() || slices.ContainsFunc(s.Elements(), isUnknown)
}
