package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure      = (*vipRouteResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*vipRouteResource)(nil)
	_ resource.ResourceWithImportState    = (*vipRouteResource)(nil)
	_ resource.ResourceWithValidateConfig = (*vipRouteResource)(nil)
)

type vipRouteResource struct{ configured }

func newVIPRouteResource() resource.Resource { return &vipRouteResource{} }

type vipRouteModel struct {
	ID            types.String `tfsdk:"id"`
	VIP           types.String `tfsdk:"vip"`
	RouteTableIDs types.Set    `tfsdk:"route_table_ids"`
	Interfaces    types.Set    `tfsdk:"network_interface_ids"`
	Preferred     types.String `tfsdk:"preferred_network_interface_id"`
	TableName     types.String `tfsdk:"table_name"`
	Group         types.String `tfsdk:"group"`
	Destination   types.String `tfsdk:"destination_cidr_block"`
	ActiveTargets types.Map    `tfsdk:"active_targets"`
}

func (r *vipRouteResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_vip_route"
}

func (r *vipRouteResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Routes that lead the address of a group to its primary, one in each route table. Terraform creates and removes the routes; where they lead belongs to the control plane. " +
			"A route that exists and leads to one of `network_interface_ids` is adopted as it is, a new one leads to the recorded primary of `group`, and no update ever moves a route. " +
			"A route that is gone, or that leads somewhere else, shows as a missing `route_table_ids`, an interface with its source/destination check on as a missing `network_interface_ids`.",
		Attributes: map[string]schema.Attribute{
			"vip": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{ipv4{}},
				MarkdownDescription: "IPv4 address, outside of every CIDR block of the VPC."},
			"route_table_ids": schema.SetAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(tableID)},
				MarkdownDescription: "Route tables from whose subnets clients reach the address."},
			"network_interface_ids": schema.SetAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(eniID)},
				MarkdownDescription: "Network interfaces that the routes may lead to: those of all nodes. Their source/destination check is switched off, because they get packets for another address than their own."},
			"preferred_network_interface_id": schema.StringAttribute{Required: true, Validators: []validator.String{eniID},
				MarkdownDescription: "Target of a route that is created while the group is not failed over. A change of it moves nothing."},
			"table_name": schema.StringAttribute{Optional: true, Validators: []validator.String{dynamoName, stringvalidator.AlsoRequires(path.MatchRoot("group"))},
				MarkdownDescription: "Name of the state table. With `group` a new route leads to the recorded primary, and nothing is removed while an operation runs."},
			"group": schema.StringAttribute{Optional: true, Validators: []validator.String{groupName, stringvalidator.AlsoRequires(path.MatchRoot("table_name"))},
				MarkdownDescription: "Name of the group."},
			"destination_cidr_block": schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Destination of the routes: the address with `/32`."},
			"active_targets": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Route table id to the network interface that its route leads to now."},
			"id": schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "`VIP`."},
		},
	}
}

func (r *vipRouteResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m vipRouteModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.Preferred.IsUnknown() || hasUnknown(m.Interfaces) {
		return
	}
	if !slices.Contains(goStrings(ctx, m.Interfaces, &resp.Diagnostics), m.Preferred.ValueString()) {
		resp.Diagnostics.Append(diagnose.Invalid(path.Root("preferred_network_interface_id"), m.Preferred.ValueString(),
			"is none of network_interface_ids", "Name one of them, or add it to the list"))
	}
}

// ModifyPlan refuses an address that the VPC would not route. What cannot be
// read yet is checked again when it is applied.
func (r *vipRouteResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.clients == nil {
		return
	}
	var m vipRouteModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.VIP.IsUnknown() || hasUnknown(m.RouteTableIDs) || hasUnknown(m.Interfaces) {
		return
	}
	resp.Diagnostics.Append(r.routes(ctx, m, &resp.Diagnostics).check(ctx, true)...)
}

func (r *vipRouteResource) routes(ctx context.Context, m vipRouteModel, diags *diag.Diagnostics) vipRoutes {
	return vipRoutes{
		clients: r.clients, vip: m.VIP.ValueString(),
		tables: goStrings(ctx, m.RouteTableIDs, diags), allowed: goStrings(ctx, m.Interfaces, diags),
	}
}

func (r *vipRouteResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m vipRouteModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	routes := r.routes(ctx, m, &resp.Diagnostics)
	resp.Diagnostics.Append(routes.check(ctx, false)...)
	if resp.Diagnostics.HasError() {
		return
	}
	targets, diags := r.ensure(ctx, routes, m, "creating VIP route")
	resp.Diagnostics.Append(diags...)
	if len(targets) == 0 {
		return
	}
	m.ID, m.Destination = m.VIP, types.StringValue(routes.destination())
	m.flattenTargets(targets)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// flattenTargets fills in the tables with a route of ours, and only them: what is
// in the state is deleted with it.
func (m *vipRouteModel) flattenTargets(targets map[string]string) {
	m.ActiveTargets, m.RouteTableIDs = tfFullMap(targets), tfSet(sortedKeys(targets))
}

// ensure adopts or creates the routes, and returns where they lead. A table where
// that failed is left out.
func (r *vipRouteResource) ensure(ctx context.Context, routes vipRoutes, m vipRouteModel, tried string) (map[string]string, diag.Diagnostics) {
	var diags diag.Diagnostics
	targets := map[string]string{}
	target, err := r.target(ctx, m)
	if err == nil {
		err = routes.forward(ctx)
	}
	if err != nil {
		diags.Append(diagnose.Failed(tried, m.VIP.ValueString(), err))
		return targets, diags
	}
	for _, table := range routes.tables {
		to, d := routes.ensure(ctx, table, target)
		diags.Append(d...)
		if !d.HasError() {
			targets[table] = to
		}
	}
	return targets, diags
}

// target is where a new route leads: to the recorded primary, and to the
// preferred interface while there is no record.
func (r *vipRouteResource) target(ctx context.Context, m vipRouteModel) (string, error) {
	preferred := m.Preferred.ValueString()
	if m.TableName.IsNull() {
		return preferred, nil
	}
	s, ok, err := r.loadGroup(ctx, m.TableName.ValueString(), m.Group.ValueString())
	if err != nil && !notFound(err) {
		return "", err
	}
	if n, found := s.Config.Node(s.Primary); ok && found && n.ENI != "" {
		return n.ENI, nil
	}
	return preferred, nil
}

func (r *vipRouteResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m vipRouteModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	routes := r.routes(ctx, m, &resp.Diagnostics)
	routes.allowed = declared(ctx, req.Private, routes.allowed, &resp.Diagnostics)
	targets, err := routes.targets(ctx)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading VIP route", m.ID.ValueString(), err))
		return
	}
	if len(targets) == 0 {
		resp.Diagnostics.Append(diagnose.Gone("VIP route", m.ID.ValueString()))
		resp.State.RemoveResource(ctx)
		return
	}
	m.Destination = types.StringValue(routes.destination())
	// A missing route, or one of somebody else, shows as a missing table, and an
	// interface that drops packets for the address as a missing interface.
	m.flattenTargets(targets)
	m.Interfaces = tfSet(routes.forwarding(ctx))
	resp.Diagnostics.Append(declare(ctx, resp.Private, routes.allowed)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// Update makes routes in new tables and removes those of tables that are not
// declared any more. It moves none.
func (r *vipRouteResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want vipRouteModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID, want.Destination = have.ID, have.Destination
	if r.inOperation(ctx, "changing VIP route", want, &resp.Diagnostics) {
		return
	}
	old, routes := r.routes(ctx, have, &resp.Diagnostics), r.routes(ctx, want, &resp.Diagnostics)
	resp.Diagnostics.Append(routes.check(ctx, false)...)
	if resp.Diagnostics.HasError() {
		return
	}
	old.allowed = append(declared(ctx, req.Private, old.allowed, &resp.Diagnostics), routes.allowed...)
	before := goMap(ctx, have.ActiveTargets, &resp.Diagnostics)
	targets, diags := r.change(ctx, old, before, routes, want)
	resp.Diagnostics.Append(diags...)
	if diags.HasError() { // a route to an interface of before is ours still
		routes.allowed = old.allowed
	}
	want.flattenTargets(targets)
	resp.Diagnostics.Append(declare(ctx, resp.Private, routes.allowed)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

// change makes the declared routes and then removes those that are not declared any more: none goes before
// everything else is in place. It returns where the routes lead, those that had to stay as before.
func (r *vipRouteResource) change(ctx context.Context, old vipRoutes, before map[string]string, routes vipRoutes, want vipRouteModel) (map[string]string, diag.Diagnostics) {
	targets, diags := r.ensure(ctx, routes, want, "changing VIP route")
	stay := old.tables
	if !diags.HasError() {
		stay, diags = old.leave(ctx, routes.tables)
	}
	for _, table := range stay {
		if _, made := targets[table]; !made {
			targets[table] = before[table]
		}
	}
	return targets, diags
}

// inOperation refuses a change while an operation of the group runs (R13).
func (r *vipRouteResource) inOperation(ctx context.Context, tried string, m vipRouteModel, diags *diag.Diagnostics) bool {
	if m.TableName.IsNull() {
		return false
	}
	s, ok, err := r.loadGroup(ctx, m.TableName.ValueString(), m.Group.ValueString())
	if notFound(err) || (err == nil && !ok) {
		return false
	}
	if err != nil {
		diags.Append(diagnose.Failed("reading group", m.Group.ValueString(), err))
		return true
	}
	d, is := busy(tried, m.VIP.ValueString(), s,
		"To remove the routes nevertheless, set table_name and group to null and apply, then destroy")
	if is {
		diags.Append(d)
	}
	return is
}

func (r *vipRouteResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m vipRouteModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || r.inOperation(ctx, "deleting VIP route", m, &resp.Diagnostics) {
		return
	}
	routes := r.routes(ctx, m, &resp.Diagnostics)
	routes.allowed = declared(ctx, req.Private, routes.allowed, &resp.Diagnostics)
	for _, table := range routes.tables {
		if err := routes.remove(ctx, table); err != nil {
			resp.Diagnostics.Append(diagnose.Failed("deleting VIP route from", table, err))
		}
	}
}

// ImportState takes VIP/RTB,RTB/ENI,ENI: the first interface is the preferred one.
func (r *vipRouteResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	p, ok := splitID(req.ID, 3)
	if !ok {
		resp.Diagnostics.Append(diagnose.Unreadable("VIP route", req.ID, "VIP/RTB,RTB/ENI,ENI, with the preferred interface first"))
		return
	}
	enis := splitList(p[2])
	for name, value := range map[string]any{
		"id": p[0], "vip": p[0], "route_table_ids": splitList(p[1]),
		"network_interface_ids": enis, "preferred_network_interface_id": enis[0],
	} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), value)...)
	}
}
