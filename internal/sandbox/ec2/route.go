package ec2

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxRoutes is the default quota of routes per table.
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-route-tables
const maxRoutes = 50

type route struct {
	destination netip.Prefix
	target      target
}

// target is where a route leads: an interface, or a gateway. Gateways are not
// simulated: their identifiers are taken as they are, and what is sent to them
// leaves the sandbox.
type target struct {
	eni     string
	gateway string // with the prefix that tells its kind
}

// routeRequest is what CreateRoute and ReplaceRoute have in common.
type routeRequest struct {
	destination, eni, instance *string
	gateways                   []*string
	unsupported                []*string
}

// gateways by the prefixes that AWS gives their identifiers.
var gatewayPrefixes = []string{"igw-", "vgw-", "nat-", "tgw-", "pcx-", "vpce-"}

func (reg *region) parseRoute(t *routeTable, q routeRequest) (route, error) {
	for _, u := range q.unsupported {
		if u != nil {
			return route{}, notSimulated("routes with the destination or target " + *u)
		}
	}
	if aws.ToString(q.destination) == "" {
		return route{}, missingParameter("destinationCidrBlock")
	}
	destination, err := netip.ParsePrefix(*q.destination)
	if err != nil || !destination.Addr().Is4() {
		return route{}, invalidValue("destinationCidrBlock", *q.destination, "This is not a valid CIDR block.")
	}
	to, err := reg.parseTarget(t, q)
	return route{destination: destination.Masked(), target: to}, err
}

func (reg *region) parseTarget(t *routeTable, q routeRequest) (target, error) {
	var targets []target
	if id := q.eni; id != nil {
		i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", id)
		if err != nil {
			return target{}, err
		}
		if i.vpc != t.vpc {
			return target{}, wire.Errorf("InvalidParameterValue", "route table %s and interface %s belong to different networks", t.id, i.id)
		}
		targets = append(targets, target{eni: i.id})
	}
	if id := q.instance; id != nil {
		i, err := one(&reg.instances, kindInstance, "instanceId", id)
		if err != nil {
			return target{}, err
		}
		attached := reg.attached(i.id)
		switch {
		case len(attached) == 0:
			return target{}, wire.Errorf("InvalidInstanceID", "There are no interfaces attached to instance '%s'.", i.id)
		case len(attached) > 1:
			return target{}, wire.Errorf("InvalidInstanceID", "There are multiple interfaces attached to instance '%s'. Please specify an interface ID for the operation instead.", i.id)
		case attached[0].vpc != t.vpc:
			return target{}, wire.Errorf("InvalidParameterValue", "route table %s and interface %s belong to different networks", t.id, attached[0].id)
		}
		targets = append(targets, target{eni: attached[0].id})
	}
	for _, id := range q.gateways {
		if id == nil {
			continue
		}
		if !slices.ContainsFunc(gatewayPrefixes, func(p string) bool { return strings.HasPrefix(*id, p) }) {
			return target{}, wire.Errorf("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", *id)
		}
		targets = append(targets, target{gateway: *id})
	}
	if len(targets) != 1 {
		return target{}, wire.Errorf("InvalidParameterCombination", "Exactly one route target must be specified, not %d", len(targets))
	}
	return targets[0], nil
}

func (t *routeTable) find(destination netip.Prefix) int {
	return slices.IndexFunc(t.routes, func(r route) bool { return r.destination == destination })
}

// moreSpecific refuses a destination inside the VPC that AWS would not route
// away from the local route: it must be the whole block of a subnet.
// https://docs.aws.amazon.com/vpc/latest/userguide/route-table-options.html#route-tables-appliance-routing
func (reg *region) moreSpecific(t *routeTable, r route) error {
	if r.destination.Bits() < t.local.Bits() || !t.local.Contains(r.destination.Addr()) {
		return nil
	}
	for _, s := range reg.subnets.all() {
		if s.vpc == t.vpc && s.cidr == r.destination && r.target.eni != "" {
			return nil
		}
	}
	return wire.Errorf("InvalidParameterValue", "The destination CIDR block %s is equal to or more specific than one of this VPC's CIDR blocks. This route can target only an interface or an instance, for the block of a subnet.", r.destination)
}

// CreateRoute adds a route.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateRoute.html
func (e *EC2) CreateRoute(r *wire.Request, in *ec2.CreateRouteInput) (*ec2.CreateRouteOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	n, err := reg.parseRoute(t, routeRequest{
		destination: in.DestinationCidrBlock, eni: in.NetworkInterfaceId, instance: in.InstanceId,
		gateways:    []*string{in.GatewayId, in.NatGatewayId, in.TransitGatewayId, in.VpcPeeringConnectionId, in.VpcEndpointId},
		unsupported: []*string{in.DestinationIpv6CidrBlock, in.DestinationPrefixListId, in.CarrierGatewayId, in.CoreNetworkArn, in.EgressOnlyInternetGatewayId, in.LocalGatewayId, in.OdbNetworkArn},
	})
	if err != nil {
		return nil, err
	}
	if n.destination == t.local || t.find(n.destination) >= 0 {
		return nil, wire.Errorf("RouteAlreadyExists", "The route identified by %s already exists.", n.destination)
	}
	if err := reg.moreSpecific(t, n); err != nil {
		return nil, err
	}
	if len(t.routes)+1 >= maxRoutes {
		return nil, wire.Errorf("RouteLimitExceeded", "The maximum number of routes (%d) has been reached in route table %s", maxRoutes, t.id)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e.reroute(reg, t, append(slices.Clone(t.routes), n))
	return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
}

// ReplaceRoute leads an existing route to another target.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReplaceRoute.html
func (e *EC2) ReplaceRoute(r *wire.Request, in *ec2.ReplaceRouteInput) (*ec2.ReplaceRouteOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if aws.ToBool(in.LocalTarget) {
		return nil, notSimulated("ReplaceRoute with LocalTarget")
	}
	n, err := reg.parseRoute(t, routeRequest{
		destination: in.DestinationCidrBlock, eni: in.NetworkInterfaceId, instance: in.InstanceId,
		gateways:    []*string{in.GatewayId, in.NatGatewayId, in.TransitGatewayId, in.VpcPeeringConnectionId, in.VpcEndpointId},
		unsupported: []*string{in.DestinationIpv6CidrBlock, in.DestinationPrefixListId, in.CarrierGatewayId, in.CoreNetworkArn, in.EgressOnlyInternetGatewayId, in.LocalGatewayId, in.OdbNetworkArn},
	})
	if err != nil {
		return nil, err
	}
	i := t.find(n.destination)
	if i < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "There is no route defined for '%s' in the route table. Use CreateRoute instead.", n.destination)
	}
	if err := reg.moreSpecific(t, n); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	changed := slices.Clone(t.routes)
	changed[i] = n
	e.reroute(reg, t, changed)
	return &ec2.ReplaceRouteOutput{}, nil
}

// DeleteRoute removes a route.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteRoute.html
func (e *EC2) DeleteRoute(r *wire.Request, in *ec2.DeleteRouteInput) (*ec2.DeleteRouteOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	t, err := one(&reg.routes, kindTable, "routeTableId", in.RouteTableId)
	if err != nil {
		return nil, err
	}
	destination, err := blockOf(in.DestinationCidrBlock)
	if err != nil {
		return nil, err
	}
	if destination == t.local {
		return nil, wire.Errorf("InvalidParameterValue", "cannot remove local route %s in route table %s", destination, t.id)
	}
	i := t.find(destination)
	if i < 0 {
		return nil, wire.Errorf("InvalidRoute.NotFound", "no route with destination-cidr-block %s in route table %s", destination, t.id)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e.reroute(reg, t, slices.Delete(slices.Clone(t.routes), i, i+1))
	return &ec2.DeleteRouteOutput{}, nil
}

// reachable returns the instance behind a target. ok is false if the route is
// a black hole: the interface is gone or detached, or its instance is stopped
// or terminated.
// https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html#route-table-route-states
func (reg *region) reachable(to target) (*iface, *instance, bool) {
	i, ok := reg.interfaces.get(to.eni)
	if !ok {
		return nil, nil, false
	}
	on, ok := reg.instances.get(i.instance)
	if !ok || on.state == types.InstanceStateNameStopped || on.state == types.InstanceStateNameTerminated {
		return i, on, false
	}
	return i, on, true
}

func (reg *region) showRoute(r route) types.Route {
	shown := types.Route{DestinationCidrBlock: aws.String(r.destination.String()), Origin: types.RouteOriginCreateRoute, State: types.RouteStateActive}
	g := r.target.gateway
	switch {
	case g == "":
		shown.NetworkInterfaceId = aws.String(r.target.eni)
		_, on, ok := reg.reachable(r.target)
		if !ok {
			shown.State = types.RouteStateBlackhole
		}
		if on != nil {
			shown.InstanceId, shown.InstanceOwnerId = aws.String(on.id), aws.String(reg.account)
		}
	case strings.HasPrefix(g, "nat-"):
		shown.NatGatewayId = aws.String(g)
	case strings.HasPrefix(g, "tgw-"):
		shown.TransitGatewayId = aws.String(g)
	case strings.HasPrefix(g, "pcx-"):
		shown.VpcPeeringConnectionId = aws.String(g)
	default:
		shown.GatewayId = aws.String(g)
	}
	return shown
}
