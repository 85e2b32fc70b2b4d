package ec2

import (
	"net/netip"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type routeTable struct {
	id, vpc      string
	local        netip.Prefix
	routes       []route // without the local one
	described    lagging // what is seen of them by describing the table
	routed       lagging // and by packets
	associations []association
}

type association struct {
	id     string
	subnet string // "" for the main association
	main   bool
}

func (t *routeTable) dissociate(gone func(association) bool) {
	t.associations = slices.DeleteFunc(t.associations, gone)
}

func (e *EC2) newTable(reg *region, v *vpc) *routeTable {
	t := &routeTable{id: e.world.ID("rtb-"), vpc: v.id, local: v.cidr}
	reg.routes.put(t.id, t)
	return t
}

// CreateRouteTable makes a table with the local route of its VPC.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateRouteTable.html
func (e *EC2) CreateRouteTable(r *wire.Request, in *ec2.CreateRouteTableInput) (*ec2.CreateRouteTableOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	v, err := one(&reg.vpcs, kindVPC, "vpcId", in.VpcId)
	if err != nil {
		return nil, err
	}
	tags, err := specified(in.TagSpecifications, types.ResourceTypeRouteTable)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t := e.newTable(reg, v)
	if err := reg.tag(t.id, tags); err != nil {
		return nil, err
	}
	shown := reg.showTable(t, e.world.Clock.Now())
	return &ec2.CreateRouteTableOutput{RouteTable: &shown, ClientToken: in.ClientToken}, nil
}

// DeleteRouteTable removes a table that no subnet uses.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteRouteTable.html
func (e *EC2) DeleteRouteTable(r *wire.Request, in *ec2.DeleteRouteTableInput) (*ec2.DeleteRouteTableOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if len(t.associations) > 0 {
		return nil, inUse("routeTable", t.id, "association "+t.associations[0].id)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	reg.routes.remove(t.id)
	delete(reg.tags, t.id)
	return &ec2.DeleteRouteTableOutput{}, nil
}

// associated finds an association by its identifier.
func (reg *region) associated(id string) (*routeTable, int, error) {
	for _, t := range reg.routes.all() {
		if i := slices.IndexFunc(t.associations, func(a association) bool { return a.id == id }); i >= 0 {
			return t, i, nil
		}
	}
	return nil, 0, kindAssociation.unknown(id)
}

// AssociateRouteTable makes a subnet use a table.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AssociateRouteTable.html
func (e *EC2) AssociateRouteTable(r *wire.Request, in *ec2.AssociateRouteTableInput) (*ec2.AssociateRouteTableOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if in.GatewayId != nil {
		return nil, notSimulated("route tables of gateways")
	}
	s, err := one(&reg.subnets, kindSubnet, "subnetId", in.SubnetId)
	if err != nil {
		return nil, err
	}
	if s.vpc != t.vpc {
		return nil, wire.Errorf("InvalidParameterValue", "route table %s and subnet %s belong to different networks", t.id, s.id)
	}
	for _, other := range reg.routes.all() {
		for _, a := range other.associations {
			if a.subnet != s.id {
				continue
			}
			if other != t {
				return nil, wire.Errorf("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", t.id)
			}
			return &ec2.AssociateRouteTableOutput{AssociationId: aws.String(a.id), AssociationState: associatedState()}, nil
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	a := association{id: e.world.ID("rtbassoc-"), subnet: s.id}
	t.associations = append(t.associations, a)
	return &ec2.AssociateRouteTableOutput{AssociationId: aws.String(a.id), AssociationState: associatedState()}, nil
}

func associatedState() *types.RouteTableAssociationState {
	return &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated}
}

// DisassociateRouteTable makes a subnet use the VPC's main table again.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DisassociateRouteTable.html
func (e *EC2) DisassociateRouteTable(r *wire.Request, in *ec2.DisassociateRouteTableInput) (*ec2.DisassociateRouteTableOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, i, err := reg.associated(aws.ToString(in.AssociationId))
	if err != nil {
		return nil, err
	}
	if t.associations[i].main {
		return nil, wire.Errorf("InvalidParameterValue", "cannot disassociate the main route table association %s", *in.AssociationId)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.associations = slices.Delete(t.associations, i, i+1)
	return &ec2.DisassociateRouteTableOutput{}, nil
}

// ReplaceRouteTableAssociation moves an association, also the main one, to
// another table. The association gets a new identifier.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReplaceRouteTableAssociation.html
func (e *EC2) ReplaceRouteTableAssociation(r *wire.Request, in *ec2.ReplaceRouteTableAssociationInput) (*ec2.ReplaceRouteTableAssociationOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	from, i, err := reg.associated(aws.ToString(in.AssociationId))
	if err != nil {
		return nil, err
	}
	to, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if from.vpc != to.vpc {
		return nil, wire.Errorf("InvalidParameterValue", "route tables %s and %s belong to different networks", from.id, to.id)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	a := from.associations[i]
	from.associations = slices.Delete(from.associations, i, i+1)
	a.id = e.world.ID("rtbassoc-")
	to.associations = append(to.associations, a)
	if v, ok := reg.vpcs.get(to.vpc); ok && a.main {
		v.main = to.id
	}
	return &ec2.ReplaceRouteTableAssociationOutput{NewAssociationId: aws.String(a.id), AssociationState: associatedState()}, nil
}

func (reg *region) showTable(t *routeTable, now time.Time) types.RouteTable {
	shown := types.RouteTable{RouteTableId: aws.String(t.id), VpcId: aws.String(t.vpc), OwnerId: aws.String(reg.account), Tags: reg.shownTags(t.id)}
	shown.Routes = append(shown.Routes, types.Route{
		DestinationCidrBlock: aws.String(t.local.String()), GatewayId: aws.String("local"),
		State: types.RouteStateActive, Origin: types.RouteOriginCreateRouteTable,
	})
	for _, r := range t.described.see(t.routes, now) {
		shown.Routes = append(shown.Routes, reg.showRoute(r))
	}
	for _, a := range t.associations {
		s := types.RouteTableAssociation{
			RouteTableAssociationId: aws.String(a.id), RouteTableId: aws.String(t.id), Main: aws.Bool(a.main), AssociationState: associatedState(),
		}
		if a.subnet != "" {
			s.SubnetId = aws.String(a.subnet)
		}
		shown.Associations = append(shown.Associations, s)
	}
	return shown
}

// DescribeRouteTables lists tables with their routes and associations.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRouteTables.html
func (e *EC2) DescribeRouteTables(r *wire.Request, in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	now := e.world.Clock.Now()
	picked, err := pick(reg, &reg.routes, query{in.RouteTableIds, kindTable, in.Filters}, func(t *routeTable) attributes { return reg.tableAttributes(t, now) })
	if err != nil {
		return nil, err
	}
	var all []types.RouteTable
	for _, t := range picked {
		all = append(all, reg.showTable(t, now))
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeRouteTablesOutput{RouteTables: shown, NextToken: next}, err
}

func (reg *region) tableAttributes(t *routeTable, now time.Time) attributes {
	a := attributes{
		"route-table-id": {t.id}, "vpc-id": {t.vpc}, "owner-id": {reg.account},
		"association.subnet-id": nil, "association.main": nil, "association.route-table-association-id": nil, "association.route-table-id": nil,
		"route.destination-cidr-block": nil, "route.gateway-id": nil, "route.instance-id": nil, "route.state": nil, "route.origin": nil,
		"route.nat-gateway-id": nil, "route.transit-gateway-id": nil, "route.vpc-peering-connection-id": nil, "route.network-interface-id": nil,
	}
	add := func(name string, v *string) {
		if v != nil {
			a[name] = append(a[name], *v)
		}
	}
	shown := reg.showTable(t, now)
	for _, s := range shown.Associations {
		add("association.subnet-id", s.SubnetId)
		add("association.route-table-association-id", s.RouteTableAssociationId)
		add("association.route-table-id", s.RouteTableId)
		a["association.main"] = append(a["association.main"], boolValue(*s.Main)...)
	}
	for _, s := range shown.Routes {
		add("route.destination-cidr-block", s.DestinationCidrBlock)
		add("route.gateway-id", s.GatewayId)
		add("route.instance-id", s.InstanceId)
		add("route.network-interface-id", s.NetworkInterfaceId)
		add("route.nat-gateway-id", s.NatGatewayId)
		add("route.transit-gateway-id", s.TransitGatewayId)
		add("route.vpc-peering-connection-id", s.VpcPeeringConnectionId)
		add("route.state", aws.String(string(s.State)))
		add("route.origin", aws.String(string(s.Origin)))
	}
	return a
}
