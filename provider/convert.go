package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// elements is what lists and sets have in common.
type elements interface {
	IsNull() bool
	IsUnknown() bool
	ElementsAs(ctx context.Context, target any, allowUnhandled bool) diag.Diagnostics
}

// goStrings returns the elements of a list or set, in a stable order for a set.
func goStrings(ctx context.Context, v elements, diags *diag.Diagnostics) []string {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	var out []string
	diags.Append(v.ElementsAs(ctx, &out, false)...)
	if _, ok := v.(types.Set); ok {
		slices.Sort(out)
	}
	return out
}

// goMap returns a map of strings, nil for null and unknown.
func goMap(ctx context.Context, v types.Map, diags *diag.Diagnostics) map[string]string {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	out := map[string]string{}
	diags.Append(v.ElementsAs(ctx, &out, false)...)
	return out
}

// tfSet returns a set of strings, null for none.
func tfSet(in []string) types.Set {
	if len(in) == 0 {
		return types.SetNull(types.StringType)
	}
	return types.SetValueMust(types.StringType, tfValues(in))
}

// tfMap returns a map of strings, null for none.
func tfMap(in map[string]string) types.Map {
	if len(in) == 0 {
		return types.MapNull(types.StringType)
	}
	return tfFullMap(in)
}

// tfFullMap is tfMap that keeps an empty map: for computed attributes.
func tfFullMap(in map[string]string) types.Map {
	out := make(map[string]attr.Value, len(in))
	for k, v := range in {
		out[k] = types.StringValue(v)
	}
	return types.MapValueMust(types.StringType, out)
}

func tfValues(in []string) []attr.Value {
	out := make([]attr.Value, len(in))
	for i, s := range in {
		out[i] = types.StringValue(s)
	}
	return out
}

// tfString is null for "".
func tfString(s *string) types.String {
	if s == nil || *s == "" {
		return types.StringNull()
	}
	return types.StringValue(*s)
}

// tfInt is null for nil.
func tfInt(i *int32) types.Int64 {
	if i == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*i))
}

// goInt32 is nil for null and unknown.
func goInt32(v types.Int64) *int32 {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	i := int32(v.ValueInt64()) //nolint:gosec // every attribute has a validator with bounds
	return &i
}

// goString is nil for null, unknown and "".
func goString(v types.String) *string {
	if s := v.ValueString(); s != "" {
		return &s
	}
	return nil
}
