package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

var (
	_ resource.ResourceWithConfigure      = (*groupResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*groupResource)(nil)
	_ resource.ResourceWithImportState    = (*groupResource)(nil)
	_ resource.ResourceWithValidateConfig = (*groupResource)(nil)

	_ resource.ResourceWithConfigValidators = (*groupResource)(nil)
)

const forceGroup = "To remove the group from Terraform nevertheless, set force_destroy = true, apply, then destroy"

type groupResource struct{ configured }

func newGroupResource() resource.Resource { return &groupResource{} }

func (r *groupResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_group"
}

func (r *groupResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = groupSchema()
}

func (r *groupResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m groupModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(m.validate(ctx)...)
	}
}

// ConfigValidators asks for one engine.
func (r *groupResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	var blocks []path.Expression
	for _, b := range engineBlocks {
		blocks = append(blocks, path.MatchRoot(b.name))
	}
	return []resource.ConfigValidator{resourcevalidator.ExactlyOneOf(blocks...)}
}

// ModifyPlan checks what must fit together before anything is changed, and
// says where the group is failed over. It never plans a change of the primary.
func (r *groupResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var m groupModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(m.checkBudget(ctx)...)
	resp.Diagnostics.Append(m.checkDetection(ctx)...)
	if m.Detection.IsNull() {
		resp.Diagnostics.Append(r.checkLiveAlarms(ctx, m, false)...)
	}
	var before groupModel // empty where the group is to be created
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &before)...)
	}
	if r.clients != nil {
		resp.Diagnostics.Append(m.checkRegions(ctx, r.region)...)
	}
	if r.clients != nil && !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(r.checkTableInPlan(ctx, m, req.State.Raw.IsNull())...)
		resp.Diagnostics.Append(r.checkNodesInPlan(ctx, m, before.nodes(ctx, &resp.Diagnostics))...)
	}
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(before.failedOver(m.PreferredPrimary)...)
		if before.Phase.IsNull() { // see readPart
			resp.RequiresReplace.Append(path.Root("phase"))
		}
	}
}

func (m groupModel) failedOver(preferred types.String) (diags diag.Diagnostics) {
	active := m.ActivePrimary.ValueString()
	if preferred.IsUnknown() || active == "" || active == preferred.ValueString() {
		return nil
	}
	since, _ := time.Parse(time.RFC3339, m.FailedOverSince.ValueString())                                                         // zero where it is not known
	diags.Append(diagnose.FailedOver(m.Name.ValueString(), preferred.ValueString(), active, uint64(m.Epoch.ValueInt64()), since)) //nolint:gosec // not negative
	return diags
}

// asWarnings keeps errors from ending a plan.
func asWarnings(found diag.Diagnostics) (warnings diag.Diagnostics) {
	for _, d := range found {
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			warnings.AddAttributeWarning(at.Path(), d.Summary(), d.Detail())
			continue
		}
		warnings.AddWarning(d.Summary(), d.Detail())
	}
	return warnings
}

// checkNodesInPlan reports wrong machines as early as they can be read. What
// cannot be read is checked again when it is applied. A node that the group has
// already is warned of: Terraform plans before it destroys, too, and a machine that
// is gone must not be in the way.
func (r *groupResource) checkNodesInPlan(ctx context.Context, m groupModel, before map[string]nodeModel) (diags diag.Diagnostics) {
	if m.TableName.IsUnknown() || m.Name.IsUnknown() {
		return nil
	}
	arn, err := r.tableARN(ctx, m.TableName.ValueString())
	if err != nil && !notFound(err) {
		return nil
	}
	for _, n := range m.expand(ctx, r.region, &diags).Nodes {
		if n.Instance == "" || n.ENI == "" {
			continue
		}
		found := r.checkNode(ctx, n, owner{arn, m.Name.ValueString()})
		if before[n.ID].sameMachine(m.nodes(ctx, &diags)[n.ID]) {
			found = asWarnings(found)
		}
		diags.Append(found...)
	}
	return diags
}

// sameMachine reports whether two declarations name the same machine in the same
// place.
func (n nodeModel) sameMachine(o nodeModel) bool {
	return n.InstanceID.Equal(o.InstanceID) && n.NetworkInterfaceID.Equal(o.NetworkInterfaceID) && n.AvailabilityZone.Equal(o.AvailabilityZone)
}

func (r *groupResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m groupModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	table, name := m.TableName.ValueString(), m.Name.ValueString()
	t, err := r.describeTable(ctx, table)
	if err != nil {
		resp.Diagnostics.Append(diagnose.FailedAt(path.Root("table_name"), "reading state table", table, err))
		return
	}
	resp.Diagnostics.Append(checkTable(t, true)...)
	arn := aws.ToString(t.TableArn)
	cfg := m.expand(ctx, r.region, &resp.Diagnostics)
	cfg.Settings[settingTable] = arn
	for _, n := range cfg.Nodes {
		resp.Diagnostics.Append(r.checkNode(ctx, n, owner{arn, name})...)
	}
	resp.Diagnostics.Append(r.checkLiveAlarms(ctx, m, true)...)
	if resp.Diagnostics.HasError() {
		return
	}
	record := r.record(table)
	if s, ok, err := r.loadGroup(ctx, table, name); err == nil && ok { // before its nodes are asked in vain
		resp.Diagnostics.Append(diagnose.GroupTaken(path.Root("name"), name, table, describeGroup(s)))
		return
	}
	first, diags := r.founded(ctx, m, cfg)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if resp.Diagnostics.Append(r.found(ctx, record, m, first)...); resp.Diagnostics.HasError() {
		return
	}
	// From here on the group exists: Terraform must know it, so that a failed
	// apply can be repaired or destroyed.
	m.ID = types.StringValue(groupID(table, name))
	err = record.PutConfig(ctx, name, cfg)
	if err == nil {
		err = r.bind(ctx, record, name, nil, m.alarms(ctx, &resp.Diagnostics))
	}
	if err == nil {
		err = r.claimNodes(ctx, cfg.Nodes, owner{arn, name})
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating group", m.ID.ValueString(), err))
		m.flattenState(failover.State{Primary: first.primary}, nil)
		resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
		return
	}
	resp.Diagnostics.Append(r.refreshState(ctx, &m)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// bind makes the declared alarms, and only them, speak for their nodes (R1).
func (r *groupResource) bind(ctx context.Context, record *statetable.Table, group string, have, want map[string][]string) error {
	if gone := unbound(have, want); len(gone) > 0 {
		if err := record.UnbindAlarms(ctx, group, gone); err != nil {
			return err
		}
	}
	for _, node := range sortedKeys(want) {
		if err := record.BindAlarms(ctx, group, node, want[node]); err != nil {
			return err
		}
	}
	return nil
}

func (r *groupResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	table, name, id := m.TableName.ValueString(), m.Name.ValueString(), m.ID.ValueString()
	s, ok, err := r.loadGroup(ctx, table, name)
	if notFound(err) || (err == nil && !ok) {
		r.readPart(ctx, m, resp)
		return
	}
	var alarms map[string][]string
	if err == nil {
		alarms, err = r.record(table).ReadAlarms(ctx, name)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading group", id, err))
		return
	}
	// A node that does not belong to the group for AWS shows as a missing node.
	lost := r.unclaimed(ctx, s.Config.Nodes, owner{s.Config.Settings[settingTable], name})
	s.Config.Nodes = slices.DeleteFunc(s.Config.Nodes, func(n failover.NodeConfig) bool { return slices.Contains(lost, n.ID) })
	m.flattenConfig(ctx, s.Config, alarms, r.region, &resp.Diagnostics)
	m.flattenMaintenance(ctx, s.Maintenance, r.clock.Now(), &resp.Diagnostics)
	m.flattenState(s, r.roles(ctx, table, s))
	if m.MaxDetection.IsNull() { // imported
		m.MaxDetection, m.ForceDestroy = types.Int64Value(int64(defaultDetection/time.Second)), types.BoolValue(false)
		m.VerifyOnCreate = types.BoolValue(true)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// readPart keeps a group of which anything is left, so that it can be completed
// or destroyed. The plan declares its nodes again, and makes it anew where its
// state is gone: only that says who is primary.
func (r *groupResource) readPart(ctx context.Context, m groupModel, resp *resource.ReadResponse) {
	left, err := r.record(m.TableName.ValueString()).Left(ctx, m.Name.ValueString())
	switch {
	case notFound(err) || (err == nil && len(left) == 0):
		resp.Diagnostics.Append(diagnose.Gone("group", m.ID.ValueString()))
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		resp.Diagnostics.Append(diagnose.Failed("reading group", m.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(diagnose.GroupInPart(m.ID.ValueString(), strings.Join(left, ", ")))
	m.Nodes = types.MapNull(nodeType)
	if !slices.Contains(left, "STATE") {
		m.Phase = types.StringNull()
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// roles are what the nodes' agents last read; a node without a record is unknown.
func (r *groupResource) roles(ctx context.Context, table string, s failover.State) map[string]string {
	roles := map[string]string{}
	for _, n := range s.Config.Nodes {
		roles[n.ID] = "unknown"
		if o, err := r.record(table).Node(ctx, s.Group, n.ID); err == nil && o.Role != failover.RoleUnknown {
			roles[n.ID] = string(o.Role)
		}
	}
	return roles
}

func (r *groupResource) refreshState(ctx context.Context, m *groupModel) (diags diag.Diagnostics) {
	s, ok, err := r.loadGroup(ctx, m.TableName.ValueString(), m.Name.ValueString())
	if err != nil || !ok {
		if err == nil {
			err = errors.New("the group is gone again")
		}
		diags.Append(diagnose.Failed("reading group", m.ID.ValueString(), err))
		return diags
	}
	m.flattenState(s, r.roles(ctx, m.TableName.ValueString(), s))
	return diags
}

func (r *groupResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID = have.ID
	table, name, id := have.TableName.ValueString(), have.Name.ValueString(), have.ID.ValueString()
	s, ok, err := r.loadPart(ctx, table, name)
	if err != nil || !ok {
		resp.Diagnostics.Append(diagnose.Failed("reading group", id, errors.Join(err, errors.New("the group must exist to be changed"))))
		return
	}
	if d, is := busy("changing group", id, s, ""); is {
		resp.Diagnostics.Append(d)
		return
	}
	if err := r.change(ctx, have, want, s, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing group", id, err))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.refreshState(ctx, &want)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

// change never touches who is primary: it writes CONFIG, bindings, tags, and
// the maintenance switch where that is declared (DESIGN 8).
func (r *groupResource) change(ctx context.Context, have, want groupModel, s failover.State, diags *diag.Diagnostics) error {
	table, name := have.TableName.ValueString(), have.Name.ValueString()
	arn, err := r.tableARN(ctx, table)
	if err != nil {
		return err
	}
	record, mine := r.record(table), owner{arn, name}
	cfg := want.expand(ctx, r.region, diags)
	cfg.Settings[settingTable] = arn
	for _, n := range cfg.Nodes {
		diags.Append(r.checkNode(ctx, n, mine)...)
	}
	diags.Append(r.checkLiveAlarms(ctx, want, true)...)
	if diags.HasError() {
		return nil
	}
	if err := record.PutConfig(ctx, name, cfg); err != nil {
		return err
	}
	if err := r.bind(ctx, record, name, have.alarms(ctx, diags), want.alarms(ctx, diags)); err != nil {
		return err
	}
	if !have.Nodes.Equal(want.Nodes) {
		if err := r.releaseNodes(ctx, replaced(s.Config.Nodes, cfg.Nodes), mine); err != nil {
			return err
		}
		if err := r.claimNodes(ctx, cfg.Nodes, mine); err != nil {
			return err
		}
	}
	if m, declared := want.maintenance(ctx, r.clock.Now(), diags); declared && !have.Maintenance.Equal(want.Maintenance) {
		return record.SetMaintenance(ctx, name, m)
	}
	return nil
}

// replaced are the nodes whose machine or interface is not declared any more.
func replaced(have, want []failover.NodeConfig) []failover.NodeConfig {
	var out []failover.NodeConfig
	for _, h := range have {
		if n, ok := (failover.Config{Nodes: want}).Node(h.ID); !ok || n.Instance != h.Instance || n.ENI != h.ENI {
			out = append(out, h)
		}
	}
	return out
}

func (r *groupResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	table, name, id := m.TableName.ValueString(), m.Name.ValueString(), m.ID.ValueString()
	s, ok, err := r.loadPart(ctx, table, name)
	if notFound(err) {
		return // the table is gone, and the group with it
	}
	if d, is := busy("deleting group", id, s, forceGroup); is && !m.ForceDestroy.ValueBool() {
		resp.Diagnostics.Append(d)
		return
	}
	if err == nil {
		var arn string
		if arn, err = r.tableARN(ctx, table); err == nil {
			err = r.releaseNodes(ctx, s.Config.Nodes, owner{arn, name})
		}
	}
	if err == nil && ok {
		// The epoch outlives the group: one of the same name begins above it (R12).
		err = r.record(table).Append(ctx, name, failover.Entry{
			At: r.clock.Now(), Event: "removing", Epoch: s.Epoch, From: s.Primary, Actor: "terraform", Reason: "the group is destroyed by Terraform",
		})
	}
	if err == nil {
		err = r.record(table).DeleteGroup(ctx, name, m.ForceDestroy.ValueBool())
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("deleting group", id, err))
	}
}

func (r *groupResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	p, ok := splitID(req.ID, 2)
	if !ok {
		resp.Diagnostics.Append(diagnose.Unreadable("group", req.ID, "TABLE/GROUP"))
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("table_name"), p[0])...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("name"), p[1])...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), req.ID)...)
}
