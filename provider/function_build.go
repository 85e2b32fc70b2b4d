package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// functionBuild makes a function with its log group and role. It keeps in mind
// what it has made: a log group may be older than the function.
type functionBuild struct {
	functionParts
	madeLogGroup, madeRole bool
}

// run returns with an error, or with the function, of which Lambda may still
// be making instances.
func (b *functionBuild) run(ctx context.Context, m *functionModel, code functionCode, tags map[string]string) (diags diag.Diagnostics) {
	var err error
	b.madeLogGroup, err = b.putLogGroup(ctx, m.LogGroupName.ValueString(), m.LogRetentionDays.ValueInt64(), tags)
	if err != nil {
		diags.Append(diagnose.Failed("creating log group", m.LogGroupName.ValueString(), err))
		return diags
	}
	if m.RoleARN.IsUnknown() {
		arn, failed := b.role(m.ownRoleName()).create(ctx, m.Policy.ValueString(), tags)
		if diags.Append(failed...); diags.HasError() {
			return diags
		}
		b.madeRole, m.RoleARN = true, types.StringValue(arn)
	}
	out, err := b.create(ctx, m.create(code, tags))
	if err != nil {
		diags.Append(diagnose.Failed("creating function", m.Name.ValueString(), err))
		return diags
	}
	m.ARN = tfString(out.FunctionArn)
	return diags
}

// undo takes back what was made for a function that there is not, also after
// an apply was interrupted.
func (b *functionBuild) undo(ctx context.Context, m functionModel) (diags diag.Diagnostics) {
	if b.madeRole {
		diags.Append(b.role(m.ownRoleName()).discard(ctx)...)
	}
	if !b.madeLogGroup {
		return diags
	}
	if err := b.deleteLogGroup(context.WithoutCancel(ctx), m.LogGroupName.ValueString()); err != nil {
		diags.Append(diagnose.Left("log group", m.LogGroupName.ValueString(), err))
	}
	return diags
}
