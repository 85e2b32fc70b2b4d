package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// validate checks what the configuration alone can tell.
func (m groupModel) validate(ctx context.Context) (diags diag.Diagnostics) {
	if p := m.PreferredPrimary; !m.Nodes.IsUnknown() && !p.IsUnknown() {
		ids := slices.Sorted(maps.Keys(m.Nodes.Elements()))
		if !slices.Contains(ids, p.ValueString()) {
			diags.Append(diagnose.Problem{
				Tried: "checking group", Object: m.Name.ValueString(),
				Cause: fmt.Sprintf("preferred_primary is %q, but the nodes are %s", p.ValueString(), strings.Join(ids, " and ")),
				Next:  "Set preferred_primary to one of the nodes",
			}.ErrorAt(path.Root("preferred_primary")))
		}
	}
	if m.HostApplications.ValueBool() && m.Fencing.ValueString() == string(failover.PeerWindow) { // R25
		diags.Append(diagnose.Problem{
			Tried: "checking group", Object: m.Name.ValueString(),
			Cause: "fencing is peer_window, but applications run on the database hosts or the address is bound on both: moving the endpoint leaves them on the old primary, which may write until it is stopped",
			Next:  "Set fencing to strict, which promotes once the old primary is stopped",
		}.ErrorAt(path.Root("fencing")))
	}
	diags.Append(m.validatePostgreSQL(ctx)...)
	diags.Append(m.validateNodes(ctx)...)
	diags.Append(m.validateCheckers(ctx)...)
	return diags
}

// validateNodes refuses one machine, interface or alarm for two nodes.
func (m groupModel) validateNodes(ctx context.Context) (diags diag.Diagnostics) {
	nodes := m.nodes(ctx, &diags)
	seen := map[string]string{}
	once := func(id, attribute string, v types.String) {
		value := v.ValueString()
		if value == "" {
			return
		}
		if other, twice := seen[value]; twice {
			diags.Append(diagnose.Problem{
				Tried: "checking node", Object: id,
				Cause: fmt.Sprintf("%s is declared for node %s, too", value, other),
				Next:  "Give each node its own",
			}.ErrorAt(path.Root("nodes").AtMapKey(id).AtName(attribute)))
			return
		}
		seen[value] = id
	}
	for _, id := range sortedKeys(nodes) {
		once(id, "instance_id", nodes[id].InstanceID)
		once(id, "network_interface_id", nodes[id].NetworkInterfaceID)
		for _, v := range nodes[id].FailureAlarmARNs.Elements() {
			if s, ok := v.(types.String); ok {
				once(id, "failure_alarm_arns", s)
			}
		}
	}
	return diags
}

// checkRegions refuses a node of another Region than the provider's: no function could fence it, promote it or
// lead clients to it.
func (m groupModel) checkRegions(ctx context.Context, region string) (diags diag.Diagnostics) {
	nodes := m.nodes(ctx, &diags)
	for _, id := range sortedKeys(nodes) {
		if declared := nodes[id].Region.ValueString(); declared != "" && declared != region {
			diags.Append(diagnose.WrongNode(path.Root("nodes").AtMapKey(id).AtName("region"), id,
				fmt.Sprintf("It is declared in %s, and the provider's Region is %s. A group lives in one Region: its control plane reaches no machine of another one", declared, region),
				"Leave region away and give an instance of "+region+", or declare the group with a provider of the Region that both nodes are in"))
		}
	}
	return diags
}

// validateCheckers refuses checkers of route tables that are not the endpoint's.
func (m groupModel) validateCheckers(ctx context.Context) (diags diag.Diagnostics) {
	e, ok := objectAs[endpointModel](ctx, m.Endpoint, &diags)
	if !ok || hasUnknown(e.RouteTableIDs) {
		return diags
	}
	tables := goStrings(ctx, e.RouteTableIDs, &diags)
	for _, t := range slices.Sorted(maps.Keys(e.PathCheckers.Elements())) {
		if !slices.Contains(tables, t) {
			diags.Append(diagnose.Problem{
				Tried: "checking endpoint", Object: e.VIP.ValueString(),
				Cause: fmt.Sprintf("path_checkers names %s, which is none of route_table_ids", t),
				Next:  "Correct the key, or add the route table",
			}.ErrorAt(path.Root("endpoint").AtName("path_checkers").AtMapKey(t)))
		}
	}
	return diags
}
