package provider

import (
	"context"
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

// targets are where the routes lead, by route table; a table without the
// route is left out.
func (v vipRoutes) targets(ctx context.Context) (map[string]string, error) {
	tables, err := v.describe(ctx, v.tables)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, t := range tables {
		if r, ok := v.route(t); ok {
			out[aws.ToString(t.RouteTableId)] = target(r)
		}
	}
	return out, nil
}

func (v vipRoutes) route(t ec2types.RouteTable) (ec2types.Route, bool) {
	for _, r := range t.Routes {
		if aws.ToString(r.DestinationCidrBlock) == v.destination() {
			return r, true
		}
	}
	return ec2types.Route{}, false
}

// target is what a route leads to: a network interface, or what else it is.
func target(r ec2types.Route) string {
	for _, t := range []*string{r.NetworkInterfaceId, r.InstanceId, r.GatewayId, r.NatGatewayId, r.TransitGatewayId, r.VpcPeeringConnectionId} {
		if s := aws.ToString(t); s != "" {
			return s
		}
	}
	return ""
}

// ensure adopts the route of a table, or creates it.
func (v vipRoutes) ensure(ctx context.Context, table, eni string) (diags diag.Diagnostics) {
	tables, err := v.describe(ctx, []string{table})
	if err != nil {
		diags.Append(diagnose.FailedAt(path.Root("route_table_ids"), "reading route table", table, err))
		return diags
	}
	if len(tables) == 0 {
		diags.Append(diagnose.NoRouteTable(path.Root("route_table_ids"), true, table, v.region))
		return diags
	}
	if r, exists := v.route(tables[0]); exists {
		if t := target(r); !slices.Contains(v.allowed, t) {
			diags.Append(diagnose.ForeignRoute(path.Root("route_table_ids"), table, v.destination(), t))
		}
		return diags
	}
	_, err = v.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: &table, DestinationCidrBlock: aws.String(v.destination()), NetworkInterfaceId: &eni,
	})
	if err != nil {
		diags.Append(diagnose.FailedAt(path.Root("route_table_ids"), "creating route "+v.destination()+" in", table, err))
	}
	return diags
}

func (v vipRoutes) remove(ctx context.Context, table string) error {
	_, err := v.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &table, DestinationCidrBlock: aws.String(v.destination())})
	if notFound(err) {
		return nil
	}
	return err
}

// forwarding are the interfaces that let packets for the address pass. One
// that can't be read is left to the calls that need it.
func (v vipRoutes) forwarding(ctx context.Context) []string {
	return slices.DeleteFunc(slices.Clone(v.allowed), func(eni string) bool {
		i, err := v.networkInterface(ctx, "", eni)
		return err == nil && i != nil && aws.ToBool(i.SourceDestCheck)
	})
}

// forward switches the source/destination check of the interfaces off:
// https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html#EIP_Disable_SrcDestCheck
func (v vipRoutes) forward(ctx context.Context) error {
	for _, eni := range v.allowed {
		i, err := v.networkInterface(ctx, "", eni)
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

func splitList(s string) []string { return strings.Split(s, ",") }
