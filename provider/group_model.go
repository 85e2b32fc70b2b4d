package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/notify"
)

type groupModel struct {
	ID               types.String `tfsdk:"id"`
	Name             types.String `tfsdk:"name"`
	TableName        types.String `tfsdk:"table_name"`
	Db2              types.Object `tfsdk:"db2"`
	PostgreSQL       types.Object `tfsdk:"postgresql"`
	Nodes            types.Map    `tfsdk:"nodes"`
	PreferredPrimary types.String `tfsdk:"preferred_primary"`
	Endpoint         types.Object `tfsdk:"endpoint"`
	Policy           types.String `tfsdk:"policy"`
	Fencing          types.String `tfsdk:"fencing"`
	HostApplications types.Bool   `tfsdk:"host_applications"`
	IsolationGroup   types.String `tfsdk:"isolation_security_group_id"`
	Notifications    types.Set    `tfsdk:"notification_arns"`
	Timing           types.Object `tfsdk:"timing"`
	Maintenance      types.Object `tfsdk:"maintenance"`
	MaxDetection     types.Int64  `tfsdk:"max_detection_seconds"`
	Detection        types.Object `tfsdk:"detection"`
	VerifyOnCreate   types.Bool   `tfsdk:"verify_on_create"`
	ForceDestroy     types.Bool   `tfsdk:"force_destroy"`
	ActivePrimary    types.String `tfsdk:"active_primary"`
	Epoch            types.Int64  `tfsdk:"epoch"`
	Phase            types.String `tfsdk:"phase"`
	Roles            types.Map    `tfsdk:"roles"`
	FailedOverSince  types.String `tfsdk:"failed_over_since"`
}

type nodeModel struct {
	InstanceID         types.String `tfsdk:"instance_id"`
	NetworkInterfaceID types.String `tfsdk:"network_interface_id"`
	AvailabilityZone   types.String `tfsdk:"availability_zone"`
	Region             types.String `tfsdk:"region"`
	FailureAlarmARNs   types.Set    `tfsdk:"failure_alarm_arns"`
}

type endpointModel struct {
	VIP           types.String `tfsdk:"vip"`
	Port          types.Int64  `tfsdk:"port"`
	RouteTableIDs types.Set    `tfsdk:"route_table_ids"`
	PathCheckers  types.Map    `tfsdk:"path_checkers"`
}

type maintenanceModel struct {
	Enabled types.Bool   `tfsdk:"enabled"`
	Until   types.String `tfsdk:"until"`
	Reason  types.String `tfsdk:"reason"`
}

var (
	stringSet = types.SetType{ElemType: types.StringType}
	stringMap = types.MapType{ElemType: types.StringType}

	nodeType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"instance_id": types.StringType, "network_interface_id": types.StringType,
		"availability_zone": types.StringType, "region": types.StringType, "failure_alarm_arns": stringSet,
	}}
	endpointType = map[string]attr.Type{
		"vip": types.StringType, "port": types.Int64Type, "route_table_ids": stringSet, "path_checkers": stringMap,
	}
	maintenanceType = map[string]attr.Type{"enabled": types.BoolType, "until": types.StringType, "reason": types.StringType}
)

// settingTable is the setting with the table's ARN, by which a host knows the
// control plane that it belongs to (R12).
const settingTable = "table_arn"

// objectAs reads a nested object; false where it is null or unknown.
func objectAs[T any](ctx context.Context, o types.Object, diags *diag.Diagnostics) (T, bool) {
	var v T
	if o.IsNull() || o.IsUnknown() {
		return v, false
	}
	diags.Append(o.As(ctx, &v, basetypes.ObjectAsOptions{})...)
	return v, true
}

// nodes reads the nodes that are known.
func (m groupModel) nodes(ctx context.Context, diags *diag.Diagnostics) map[string]nodeModel {
	out := map[string]nodeModel{}
	for id, v := range m.Nodes.Elements() {
		if o, ok := v.(types.Object); ok {
			if n, ok := objectAs[nodeModel](ctx, o, diags); ok {
				out[id] = n
			}
		}
	}
	return out
}

func (m groupModel) expand(ctx context.Context, region string, diags *diag.Diagnostics) failover.Config {
	c := failover.Config{
		Engine: m.engine().name, Settings: m.settings(ctx, diags), Preferred: m.PreferredPrimary.ValueString(),
		Policy: failover.Policy(m.Policy.ValueString()), Fencing: failover.Fencing(m.Fencing.ValueString()),
		HostApplications: m.HostApplications.ValueBool(), Isolation: m.IsolationGroup.ValueString(),
	}
	if !hasUnknown(m.Notifications) && !m.Notifications.IsNull() {
		notify.Declare(c.Settings, goStrings(ctx, m.Notifications, diags))
	}
	nodes := m.nodes(ctx, diags)
	for _, id := range sortedKeys(nodes) {
		n := nodes[id]
		node := failover.NodeConfig{ID: id, Instance: n.InstanceID.ValueString(), ENI: n.NetworkInterfaceID.ValueString(),
			Zone: n.AvailabilityZone.ValueString(), Region: n.Region.ValueString()}
		if node.Region == "" {
			node.Region = region
		}
		c.Nodes = append(c.Nodes, node)
	}
	if e, ok := objectAs[endpointModel](ctx, m.Endpoint, diags); ok {
		c.VIP, c.Port = e.VIP.ValueString(), int(e.Port.ValueInt64())
		c.Routes = goStrings(ctx, e.RouteTableIDs, diags)
		c.Checkers = goMap(ctx, e.PathCheckers, diags)
	}
	declared := m.Timing.Attributes()
	for _, t := range timings {
		if v, ok := declared[t.name].(types.Int64); ok {
			*t.field(&c) = time.Duration(v.ValueInt64()) * time.Second
		}
	}
	return c
}

func int64text(i int64) string { return strconv.FormatInt(i, 10) }

// alarms are the failure alarms by node.
func (m groupModel) alarms(ctx context.Context, diags *diag.Diagnostics) map[string][]string {
	out := map[string][]string{}
	for id, n := range m.nodes(ctx, diags) {
		out[id] = goStrings(ctx, n.FailureAlarmARNs, diags)
	}
	return out
}

// maintenance is the declared switch, as it is to be written at a time: what has
// expired by then is off.
func (m groupModel) maintenance(ctx context.Context, now time.Time, diags *diag.Diagnostics) (failover.Maintenance, bool) {
	d, ok := objectAs[maintenanceModel](ctx, m.Maintenance, diags)
	if !ok {
		return failover.Maintenance{}, false
	}
	out := failover.Maintenance{On: d.Enabled.ValueBool(), Reason: d.Reason.ValueString()}
	if until := d.Until.ValueString(); until != "" {
		out.Until, _ = time.Parse(time.RFC3339, until) // the validator has seen it
	}
	if out.On && !out.Active(now) {
		return failover.Maintenance{}, true
	}
	return out, true
}

// flattenState fills in what belongs to the control plane.
func (m *groupModel) flattenState(s failover.State, roles map[string]string) {
	m.ActivePrimary = types.StringValue(s.Primary)
	m.Epoch = types.Int64Value(int64(s.Epoch)) //nolint:gosec // grows by one per takeover
	m.Phase = types.StringValue(string(s.Phase))
	m.Roles = tfFullMap(roles)
	m.FailedOverSince = types.StringNull()
	if s.Primary != m.PreferredPrimary.ValueString() && !s.Changed.IsZero() {
		m.FailedOverSince = types.StringValue(s.Changed.UTC().Format(time.RFC3339))
	}
}

// flattenConfig fills in what was declared, as the record has it. What was not
// declared and is as the provider fills it in stays null.
func (m *groupModel) flattenConfig(ctx context.Context, c failover.Config, alarms map[string][]string, region string, diags *diag.Diagnostics) {
	m.PreferredPrimary = types.StringValue(c.Preferred)
	m.Policy, m.Fencing = types.StringValue(string(c.Policy)), types.StringValue(string(c.Fencing))
	m.HostApplications, m.IsolationGroup = types.BoolValue(c.HostApplications), tfString(&c.Isolation)
	m.Notifications = tfSet(notify.Declared(c.Settings))
	m.flattenEngine(c, diags)
	before := m.nodes(ctx, diags)
	nodes := map[string]attr.Value{}
	for _, n := range c.Nodes {
		declaredRegion := n.Region
		if before[n.ID].Region.IsNull() && n.Region == region {
			declaredRegion = ""
		}
		o, d := types.ObjectValue(nodeType.AttrTypes, map[string]attr.Value{
			"instance_id": types.StringValue(n.Instance), "network_interface_id": types.StringValue(n.ENI),
			"availability_zone": tfString(&n.Zone), "region": tfString(&declaredRegion), "failure_alarm_arns": tfSet(alarms[n.ID]),
		})
		diags.Append(d...)
		nodes[n.ID] = o
	}
	all, d := types.MapValue(nodeType, nodes)
	diags.Append(d...)
	m.Nodes = all
	m.Endpoint = types.ObjectNull(endpointType)
	if c.VIP != "" {
		e, d := types.ObjectValue(endpointType, map[string]attr.Value{
			"vip": types.StringValue(c.VIP), "port": types.Int64Value(int64(c.Port)),
			"route_table_ids": tfSet(c.Routes), "path_checkers": tfMap(c.Checkers),
		})
		diags.Append(d...)
		m.Endpoint = e
	}
	m.Timing = flattenTiming(c)
}

func flattenTiming(c failover.Config) types.Object {
	kinds, values := map[string]attr.Type{}, map[string]attr.Value{}
	for _, t := range timings {
		kinds[t.name] = types.Int64Type
		values[t.name] = types.Int64Value(int64(*t.field(&c) / time.Second))
	}
	return types.ObjectValueMust(kinds, values)
}

// flattenMaintenance reads the switch where it is declared; elsewhere people
// own it. Declared maintenance that has expired stays as declared: the control
// plane has switched it off, and keeps neither its end nor its reason.
func (m *groupModel) flattenMaintenance(ctx context.Context, now failover.Maintenance, at time.Time, diags *diag.Diagnostics) {
	off := failover.Maintenance{}
	if want, declared := m.maintenance(ctx, at, diags); !declared || want == off && now == off {
		return
	}
	until := ""
	if !now.Until.IsZero() {
		until = now.Until.UTC().Format(time.RFC3339)
		if old, ok := m.Maintenance.Attributes()["until"].(types.String); ok {
			if t, err := time.Parse(time.RFC3339, old.ValueString()); err == nil && t.Equal(now.Until) {
				until = old.ValueString()
			}
		}
	}
	m.Maintenance = types.ObjectValueMust(maintenanceType, map[string]attr.Value{
		"enabled": types.BoolValue(now.On), "until": tfString(&until), "reason": tfString(&now.Reason),
	})
}

// unbound are the alarms that were bound and are not any more.
func unbound(have, want map[string][]string) []string {
	bound := slices.Concat(slices.Collect(maps.Values(want))...)
	var out []string
	for node, arns := range have {
		for _, a := range arns {
			if !slices.Contains(bound, a) || !slices.Contains(want[node], a) {
				out = append(out, a)
			}
		}
	}
	slices.Sort(out)
	return out
}

func groupID(table, group string) string { return fmt.Sprintf("%s/%s", table, group) }
