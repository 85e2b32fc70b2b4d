package provider

import (
	"context"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Limits of tags: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// addTags gives a resource tags and tags_all.
func addTags(attrs map[string]schema.Attribute) {
	attrs["tags"] = schema.MapAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "Tags of the resource. A tag here wins over one of the same key in the provider's `default_tags`.",
		Validators: []validator.Map{
			mapvalidator.SizeAtMost(maxTags),
			mapvalidator.KeysAre(stringvalidator.LengthBetween(1, maxTagKey), notReservedTag{}),
			mapvalidator.ValueStringsAre(stringvalidator.LengthAtMost(maxTagValue)),
		},
	}
	attrs["tags_all"] = schema.MapAttribute{
		Computed: true, ElementType: types.StringType,
		MarkdownDescription: "All tags of the resource, those of the provider's `default_tags` included.",
	}
}

// planTags makes tags_all known in the plan, so that a change of default_tags
// is seen.
func planTags(ctx context.Context, c *clients, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || c == nil {
		return
	}
	var own types.Map
	resp.Diagnostics.Append(resp.Plan.GetAttribute(ctx, path.Root("tags"), &own)...)
	all := types.MapUnknown(types.StringType)
	if wholly(own) {
		all = tfFullMap(c.allTags(ctx, own, &resp.Diagnostics))
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("tags_all"), all)...)
}

// wholly reports whether neither the map nor one of its values is unknown.
func wholly(m types.Map) bool {
	if m.IsUnknown() {
		return false
	}
	for _, v := range m.Elements() {
		if v.IsUnknown() {
			return false
		}
	}
	return true
}

// allTags are the provider's default tags and the resource's own.
func (c *clients) allTags(ctx context.Context, own types.Map, diags *diag.Diagnostics) map[string]string {
	all := maps.Clone(c.defaultTags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, goMap(ctx, own, diags))
	return all
}

// splitTags turns what AWS has into tags and tags_all: a tag that is as
// default_tags wants it is the resource's own only if it stood there before.
func (c *clients) splitTags(ctx context.Context, remote map[string]string, before types.Map, diags *diag.Diagnostics) (own, all types.Map) {
	mine := goMap(ctx, before, diags)
	o, a := map[string]string{}, map[string]string{}
	for k, v := range remote {
		if strings.HasPrefix(k, "aws:") {
			continue
		}
		a[k] = v
		_, had := mine[k]
		if d, isDefault := c.defaultTags[k]; had || !isDefault || d != v {
			o[k] = v
		}
	}
	own = tfMap(o)
	if len(o) == 0 && !before.IsNull() {
		own = tfFullMap(o)
	}
	return own, tfFullMap(a)
}

// tagChanges are what to set and what to remove.
func tagChanges(have, want map[string]string) (set map[string]string, remove []string) {
	set = map[string]string{}
	for k, v := range want {
		if old, ok := have[k]; !ok || old != v {
			set[k] = v
		}
	}
	for k := range have {
		if _, ok := want[k]; !ok {
			remove = append(remove, k)
		}
	}
	return set, remove
}
