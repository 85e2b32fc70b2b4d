package provider

import (
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// vipRoutes are the routes of one address.
type vipRoutes struct {
	*clients
	vip     string
	tables  []string
	allowed []string // network interfaces
}

func (v vipRoutes) destination() string { return v.vip + "/32" }

// describe returns the tables that exist. It filters, because a call with ids fails as a whole where one
// of them is gone.
func (v vipRoutes) describe(ctx context.Context, tables []string) ([]ec2types.RouteTable, error) {
	pages := ec2.NewDescribeRouteTablesPaginator(v.ec2, &ec2.DescribeRouteTablesInput{
		Filters: []ec2types.Filter{{Name: aws.String("route-table-id"), Values: tables}},
	})
	var found []ec2types.RouteTable
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, page.RouteTables...)
	}
	return found, nil
}

// check refuses route tables that do not exist and an address inside one of
// their VPCs. What cannot be read is left to the calls that need it. A plan only
// warns of a missing table, because Terraform plans before it destroys, too.
func (v vipRoutes) check(ctx context.Context, planning bool) (diags diag.Diagnostics) {
	tables, err := v.describe(ctx, v.tables)
	if err != nil {
		return diags
	}
	if missing := v.missing(tables); len(missing) > 0 {
		diags.Append(diagnose.NoRouteTable(path.Root("route_table_ids"), !planning, strings.Join(missing, ", "), v.region))
		return diags
	}
	var vpcs []string
	for _, t := range tables {
		if id := aws.ToString(t.VpcId); id != "" && !slices.Contains(vpcs, id) {
			vpcs = append(vpcs, id)
		}
	}
	out, err := v.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: vpcs})
	if err != nil {
		return diags
	}
	for _, vpc := range out.Vpcs {
		if cidr, inside := blockOf(vpc, v.vip); inside {
			diags.Append(diagnose.VIPInsideVPC(path.Root("vip"), v.vip, cidr, aws.ToString(vpc.VpcId)))
		}
	}
	return diags
}

// missing are the declared tables that were not found.
func (v vipRoutes) missing(found []ec2types.RouteTable) []string {
	return slices.DeleteFunc(slices.Clone(v.tables), func(id string) bool {
		return slices.ContainsFunc(found, func(t ec2types.RouteTable) bool { return aws.ToString(t.RouteTableId) == id })
	})
}

// blockOf is the CIDR block of a VPC that holds an address.
func blockOf(vpc ec2types.Vpc, vip string) (string, bool) {
	blocks := []string{aws.ToString(vpc.CidrBlock)}
	for _, a := range vpc.CidrBlockAssociationSet {
		blocks = append(blocks, aws.ToString(a.CidrBlock))
	}
	addr, err := netip.ParseAddr(vip)
	if err != nil {
		return "", false
	}
	for _, b := range blocks {
		if p, err := netip.ParsePrefix(b); err == nil && p.Contains(addr) {
			return b, true
		}
	}
	return "", false
}

// targets are where the routes to the declared interfaces lead, by route table.
// A table without the route, or with somebody else's, is left out.
func (v vipRoutes) targets(ctx context.Context) (map[string]string, error) {
	found, err := v.leads(ctx, v.tables)
	maps.DeleteFunc(found, func(_, to string) bool { return !v.ours(to) })
	return found, err
}

func (v vipRoutes) ours(target string) bool { return slices.Contains(v.allowed, target) }

// leads is where the route of each table leads, "" where it has none. A table
// that does not exist is left out.
func (v vipRoutes) leads(ctx context.Context, tables []string) (map[string]string, error) {
	found, err := v.describe(ctx, tables)
	out := map[string]string{}
	for _, t := range found {
		out[aws.ToString(t.RouteTableId)] = ""
		for _, r := range t.Routes {
			if aws.ToString(r.DestinationCidrBlock) == v.destination() {
				out[aws.ToString(t.RouteTableId)] = target(r)
			}
		}
	}
	return out, err
}

// target is what a route leads to: a network interface, or what else it is.
func target(r ec2types.Route) string {
	for _, t := range []*string{r.NetworkInterfaceId, r.InstanceId, r.GatewayId, r.NatGatewayId, r.TransitGatewayId, r.VpcPeeringConnectionId} {
		if s := aws.ToString(t); s != "" {
			return s
		}
	}
	return "another kind of target"
}

// ensure adopts the route of a table, or creates it, and returns where it leads.
func (v vipRoutes) ensure(ctx context.Context, table, eni string) (to string, diags diag.Diagnostics) {
	at := path.Root("route_table_ids")
	found, err := v.leads(ctx, []string{table})
	to, exists := found[table]
	switch {
	case err != nil:
		diags.Append(diagnose.FailedAt(at, "reading route table", table, err))
	case !exists:
		diags.Append(diagnose.NoRouteTable(at, true, table, v.region))
	case to != "" && !v.ours(to):
		diags.Append(diagnose.ForeignRoute(at, table, v.destination(), to))
	}
	if diags.HasError() || to != "" {
		return to, diags
	}
	_, err = v.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: &table, DestinationCidrBlock: aws.String(v.destination()), NetworkInterfaceId: &eni,
	})
	if err == nil {
		return eni, nil
	}
	if found, again := v.leads(ctx, []string{table}); again == nil && v.ours(found[table]) {
		return found[table], nil // the answer was lost
	}
	diags.Append(diagnose.FailedAt(at, "creating route "+v.destination()+" in", table, err))
	return "", diags
}

// remove deletes the route of a table if it leads to a declared interface, which
// may be gone. Any other one is somebody else's.
func (v vipRoutes) remove(ctx context.Context, table string) error {
	found, err := v.leads(ctx, []string{table})
	if err != nil || !v.ours(found[table]) {
		return err
	}
	_, err = v.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &table, DestinationCidrBlock: aws.String(v.destination())})
	if notFound(err) {
		return nil
	}
	return err
}

// leave removes the routes of the tables that are not to be kept, and returns
// those where that failed.
func (v vipRoutes) leave(ctx context.Context, keep []string) (stay []string, diags diag.Diagnostics) {
	for _, table := range v.tables {
		if slices.Contains(keep, table) {
			continue
		}
		if err := v.remove(ctx, table); err != nil {
			diags.Append(diagnose.Failed("removing VIP route from", table, err))
			stay = append(stay, table)
		}
	}
	return stay, diags
}

// forwarding are the interfaces that let packets for the address pass. One
// that can't be read is left to the calls that need it.
func (v vipRoutes) forwarding(ctx context.Context) []string {
	return slices.DeleteFunc(slices.Clone(v.allowed), func(eni string) bool {
		i, err := v.networkInterface(ctx, eni)
		return err == nil && i != nil && aws.ToBool(i.SourceDestCheck)
	})
}

// forward switches the source/destination check of the interfaces off:
// https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html#EIP_Disable_SrcDestCheck
func (v vipRoutes) forward(ctx context.Context) error {
	for _, eni := range v.allowed {
		i, err := v.networkInterface(ctx, eni)
		if err != nil {
			return err
		}
		if i != nil && i.SourceDestCheck != nil && !*i.SourceDestCheck {
			continue
		}
		_, err = v.ec2.ModifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
			NetworkInterfaceId: &eni, SourceDestCheck: &ec2types.AttributeBooleanValue{Value: aws.Bool(false)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// privateInterfaces is the key of the declared interfaces in the private state.
const privateInterfaces = "network_interface_ids"

// declared are the interfaces as the configuration had them. A refresh leaves
// those out that drop packets for the address, and a route to one is ours all
// the same.
func declared(ctx context.Context, private interface {
	GetKey(context.Context, string) ([]byte, diag.Diagnostics)
}, shown []string, diags *diag.Diagnostics) (all []string) {
	kept, d := private.GetKey(ctx, privateInterfaces)
	diags.Append(d...)
	if json.Unmarshal(kept, &all) != nil { // not refreshed yet
		return shown
	}
	return all
}

// declare keeps the interfaces for later calls.
func declare(ctx context.Context, private interface {
	SetKey(context.Context, string, []byte) diag.Diagnostics
}, enis []string) diag.Diagnostics {
	slices.Sort(enis)
	text, _ := json.Marshal(slices.Compact(enis)) // texts always marshal
	return private.SetKey(ctx, privateInterfaces, text)
}

func splitList(s string) []string { return strings.Split(s, ",") }
