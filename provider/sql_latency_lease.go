package provider

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Timing of the lease by default: four intervals, so that three renewals may be
// lost.
const (
	defaultLeaseDuration = 20
	defaultLeaseInterval = 5
)

// leaseModel is the lease of a group, as the agent of one node keeps it.
type leaseModel struct {
	Duration types.Int64
	Interval types.Int64
	Function types.String
	Fences   types.Bool
}

var leaseTypes = map[string]attr.Type{
	"duration_seconds": types.Int64Type, "interval_seconds": types.Int64Type, "function": types.StringType, "self_fencing": types.BoolType,
}

// leaseOf reads the attribute, nil where it is not set or not known yet.
func leaseOf(o types.Object) *leaseModel {
	if o.IsNull() || o.IsUnknown() {
		return nil
	}
	var m leaseModel
	var ok [4]bool
	m.Duration, ok[0] = o.Attributes()["duration_seconds"].(types.Int64)
	m.Interval, ok[1] = o.Attributes()["interval_seconds"].(types.Int64)
	m.Function, ok[2] = o.Attributes()["function"].(types.String)
	m.Fences, ok[3] = o.Attributes()["self_fencing"].(types.Bool)
	if ok != [4]bool{true, true, true, true} {
		return nil // the schema lets no other object pass
	}
	return &m
}

func leaseSchema() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true,
		MarkdownDescription: "Lease of the group: detection in seconds. The agent of the primary renews it as long as its database commits; the agent of the standby reports to the takeover function when it has stood still for its duration. " +
			"Declare the same on both nodes. A database that hangs loses its lease once a probe takes longer than `threshold_milliseconds`.",
		Attributes: map[string]schema.Attribute{
			"duration_seconds": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(defaultLeaseDuration),
				Validators:          []validator.Int64{int64validator.Between(3, 300)},
				MarkdownDescription: "For how long the lease must stand still to count as expired, on the clock of the standby. Default: 20."},
			"interval_seconds": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(defaultLeaseInterval),
				Validators:          []validator.Int64{int64validator.Between(1, 7)},
				MarkdownDescription: "Seconds between two renewals; the standby looks twice as often, and once a second at least. Below half of the duration less the drift of the clocks. Default: 5."},
			"function": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 256)},
				MarkdownDescription: "Name or ARN of the takeover function. The role of the hosts needs the permission to invoke it: `function_arn` of `hadr_host_policy`."},
			"self_fencing": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "A primary whose agent cannot renew the lease ends its own database server before the lease expires, whatever the cause: **then the loss of the state table stops a healthy database.** " +
					"It takes at most a quarter of the duration, between 1 and 5 seconds, and begins as late as that allows, but not before two intervals. PostgreSQL only. Default: `false`."},
		}}
}

// probe is what the configuration asks for, with its defaults; ok is false
// while a value is unknown.
func (m leaseModel) probe() (p statetable.Probe, ok bool) {
	seconds := func(v types.Int64, byDefault int64) time.Duration {
		if v.IsNull() {
			return time.Duration(byDefault) * time.Second
		}
		return time.Duration(v.ValueInt64()) * time.Second
	}
	return statetable.Probe{
		LeaseDuration: seconds(m.Duration, defaultLeaseDuration), LeaseInterval: seconds(m.Interval, defaultLeaseInterval), SelfFencing: m.Fences.ValueBool(),
	}, !m.Duration.IsUnknown() && !m.Interval.IsUnknown() && !m.Fences.IsUnknown()
}

// validate refuses a timing at which one lost renewal looks like a death. The
// watchdog of the agent's unit is the agent's to check.
func (m *leaseModel) validate() (diags diag.Diagnostics) {
	if m == nil {
		return nil
	}
	p, ok := m.probe()
	if !ok {
		return nil
	}
	if why := p.CheckLease(0); why != "" {
		diags.Append(diagnose.Problem{
			Tried: "checking", Object: "lease", Cause: "The timing of the lease is unsafe: " + why,
			Next: "Set duration_seconds to at least three times interval_seconds, such as 20 and 5, or 6 and 2",
		}.ErrorAt(path.Root("lease")))
	}
	return diags
}

func (m *leaseModel) expand(p *statetable.Probe) {
	if m == nil {
		return
	}
	p.LeaseDuration = time.Duration(m.Duration.ValueInt64()) * time.Second
	p.LeaseInterval = time.Duration(m.Interval.ValueInt64()) * time.Second
	p.Function, p.SelfFencing = m.Function.ValueString(), m.Fences.ValueBool()
}

func flattenLease(p statetable.Probe) types.Object {
	if p.LeaseDuration == 0 {
		return types.ObjectNull(leaseTypes)
	}
	return types.ObjectValueMust(leaseTypes, map[string]attr.Value{
		"duration_seconds": types.Int64Value(int64(p.LeaseDuration / time.Second)),
		"interval_seconds": types.Int64Value(int64(p.LeaseInterval / time.Second)),
		"function":         types.StringValue(p.Function), "self_fencing": types.BoolValue(p.SelfFencing),
	})
}
