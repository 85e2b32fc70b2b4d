package provider

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

var (
	_ resource.ResourceWithConfigure      = (*sqlLatencyMetricResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*sqlLatencyMetricResource)(nil)
	_ resource.ResourceWithImportState    = (*sqlLatencyMetricResource)(nil)
	_ resource.ResourceWithValidateConfig = (*sqlLatencyMetricResource)(nil)
)

// What the agent measures by default (DESIGN 3).
const (
	defaultMetric      = "SQLLatency"
	defaultInterval    = 20
	defaultTimeout     = 19
	defaultThresholdMS = 20000
	defaultSentinelMS  = 20001
)

type sqlLatencyMetricResource struct{ configured }

func newSQLLatencyMetricResource() resource.Resource { return &sqlLatencyMetricResource{} }

type sqlLatencyMetricModel struct {
	ID          types.String `tfsdk:"id"`
	TableName   types.String `tfsdk:"table_name"`
	Group       types.String `tfsdk:"group"`
	Node        types.String `tfsdk:"node"`
	Namespace   types.String `tfsdk:"namespace"`
	MetricName  types.String `tfsdk:"metric_name"`
	Interval    types.Int64  `tfsdk:"interval_seconds"`
	Timeout     types.Int64  `tfsdk:"timeout_seconds"`
	ThresholdMS types.Int64  `tfsdk:"threshold_milliseconds"`
	SentinelMS  types.Int64  `tfsdk:"sentinel_milliseconds"`
	Lease       types.Object `tfsdk:"lease"`
	Dimensions  types.Map    `tfsdk:"dimensions"`
}

func (r *sqlLatencyMetricResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sql_latency_metric"
}

func (r *sqlLatencyMetricResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	seconds := func(byDefault, most int64, text string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(byDefault),
			Validators: []validator.Int64{int64validator.Between(1, most)}, MarkdownDescription: text}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "What `hadr-agent` measures on a node: the round trip of a small transaction, published every 20 seconds as `SQLLatency` in milliseconds under the dimensions `Group` and `Node`. " +
			"A probe that does not come back is published as a value above the threshold, so that a hung database is seen by its latency and a dead agent by the missing samples.",
		Attributes: map[string]schema.Attribute{
			"table_name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{dynamoName}, MarkdownDescription: "Name of the state table."},
			"group":      schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{groupName}, MarkdownDescription: "Name of the group."},
			"node":       schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{nodeName}, MarkdownDescription: "Id of the node, such as `a`."},
			"namespace": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(defaultNamespace),
				Validators: []validator.String{stringvalidator.LengthBetween(1, 255)}, MarkdownDescription: "Namespace of the metric. Default: `HADR`."},
			"metric_name": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(defaultMetric),
				Validators: []validator.String{stringvalidator.LengthBetween(1, 255)}, MarkdownDescription: "Name of the metric. Default: `SQLLatency`."},
			"interval_seconds":       seconds(defaultInterval, 60, "Seconds between two probes. Default: 20."),
			"timeout_seconds":        seconds(defaultTimeout, 60, "Hard limit of one probe in seconds, below the interval. Default: 19."),
			"threshold_milliseconds": seconds(defaultThresholdMS, 600000, "A slower transaction counts as failed. Default: 20000."),
			"sentinel_milliseconds":  seconds(defaultSentinelMS, 3600000, "Published for a probe that did not come back, above the threshold. Default: 20001."),
			"lease":                  leaseSchema(),
			"dimensions": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Dimensions of the metric, for `hadr_metric_alarm`."},
			"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				MarkdownDescription: "`TABLE/GROUP/NODE`."},
		},
	}
}

func (r *sqlLatencyMetricResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if below, ok := lessThan(m.Timeout, defaultTimeout, m.Interval, defaultInterval); ok && !below {
		resp.Diagnostics.Append(diagnose.Problem{
			Tried: "checking", Object: "timeout_seconds",
			Cause: "A probe may last as long as the interval or longer, so that samples would fail to appear without any fault",
			Next:  "Set timeout_seconds below interval_seconds",
		}.ErrorAt(path.Root("timeout_seconds")))
	}
	if below, ok := lessThan(m.ThresholdMS, defaultThresholdMS, m.SentinelMS, defaultSentinelMS); ok && !below {
		resp.Diagnostics.Append(diagnose.Problem{
			Tried: "checking", Object: "sentinel_milliseconds",
			Cause: "The value of a lost probe is not above the threshold, so that a hung database would look healthy",
			Next:  "Set sentinel_milliseconds above threshold_milliseconds",
		}.ErrorAt(path.Root("sentinel_milliseconds")))
	}
	resp.Diagnostics.Append(leaseOf(m.Lease).validate()...)
}

// lessThan compares two values of a configuration with their defaults; ok is
// false while one of them is unknown.
func lessThan(a types.Int64, aDefault int64, b types.Int64, bDefault int64) (less, ok bool) {
	if a.IsUnknown() || b.IsUnknown() {
		return false, false
	}
	x, y := aDefault, bDefault
	if !a.IsNull() {
		x = a.ValueInt64()
	}
	if !b.IsNull() {
		y = b.ValueInt64()
	}
	return x < y, true
}

// ModifyPlan makes the dimensions known, so that alarms can be planned on them.
func (r *sqlLatencyMetricResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.Group.IsUnknown() || m.Node.IsUnknown() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("dimensions"), m.dimensions())...)
}

func (m sqlLatencyMetricModel) dimensions() types.Map {
	return tfFullMap(map[string]string{"Group": m.Group.ValueString(), "Node": m.Node.ValueString()})
}

func (m sqlLatencyMetricModel) expand() statetable.Probe {
	p := statetable.Probe{
		Group: m.Group.ValueString(), Node: m.Node.ValueString(),
		Namespace: m.Namespace.ValueString(), Metric: m.MetricName.ValueString(),
		Interval:  time.Duration(m.Interval.ValueInt64()) * time.Second,
		Timeout:   time.Duration(m.Timeout.ValueInt64()) * time.Second,
		Threshold: time.Duration(m.ThresholdMS.ValueInt64()) * time.Millisecond,
		Sentinel:  time.Duration(m.SentinelMS.ValueInt64()) * time.Millisecond,
	}
	leaseOf(m.Lease).expand(&p)
	return p
}

func (m *sqlLatencyMetricModel) flatten(p statetable.Probe) {
	m.Namespace, m.MetricName = types.StringValue(p.Namespace), types.StringValue(p.Metric)
	m.Interval, m.Timeout = types.Int64Value(int64(p.Interval/time.Second)), types.Int64Value(int64(p.Timeout/time.Second))
	m.Lease = flattenLease(p)
	m.ThresholdMS, m.SentinelMS = types.Int64Value(p.Threshold.Milliseconds()), types.Int64Value(p.Sentinel.Milliseconds())
	m.Dimensions = m.dimensions()
}

func (r *sqlLatencyMetricResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.ID = types.StringValue(strings.Join([]string{m.TableName.ValueString(), m.Group.ValueString(), m.Node.ValueString()}, "/"))
	m.Dimensions = m.dimensions()
	if err := r.record(m.TableName.ValueString()).PutProbe(ctx, m.expand()); err != nil {
		resp.Diagnostics.Append(diagnose.FailedAt(path.Root("table_name"), "creating SQL latency metric", m.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *sqlLatencyMetricResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	p, err := r.record(m.TableName.ValueString()).ReadProbe(ctx, m.Group.ValueString(), m.Node.ValueString())
	if errors.Is(err, control.ErrNotFound) || notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("SQL latency metric", m.ID.ValueString()))
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading SQL latency metric", m.ID.ValueString(), err))
		return
	}
	m.flatten(p)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *sqlLatencyMetricResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.Dimensions = m.dimensions()
	if err := r.record(m.TableName.ValueString()).PutProbe(ctx, m.expand()); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing SQL latency metric", m.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *sqlLatencyMetricResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m sqlLatencyMetricModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	err := r.record(m.TableName.ValueString()).DeleteProbe(ctx, m.Group.ValueString(), m.Node.ValueString())
	if err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting SQL latency metric", m.ID.ValueString(), err))
	}
}

func (r *sqlLatencyMetricResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	p, ok := splitID(req.ID, 3)
	if !ok {
		resp.Diagnostics.Append(diagnose.Unreadable("SQL latency metric", req.ID, "TABLE/GROUP/NODE"))
		return
	}
	for i, name := range []string{"table_name", "group", "node"} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), p[i])...)
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), req.ID)...)
}
