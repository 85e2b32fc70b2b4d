package ec2

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

const vip = "172.31.255.1/32"

func (c *cloud) route(cidr string) *types.Route {
	c.t.Helper()
	o := must(c.DescribeRouteTables(c.req, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{c.table}}))
	for _, r := range o.RouteTables[0].Routes {
		if aws.ToString(r.DestinationCidrBlock) == cidr {
			return &r
		}
	}
	return nil
}

func (c *cloud) addRoute(cidr, eni string) error {
	_, err := c.CreateRoute(c.req, &ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: &cidr, NetworkInterfaceId: &eni})
	return err
}

func TestRouteMovesBetweenInterfaces(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		a, b := c.launch(0, nil), c.launch(1, nil)
		if err := c.addRoute(vip, c.eni(a)); err != nil {
			t.Fatal(err)
		}
		r := c.route(vip)
		if *r.NetworkInterfaceId != c.eni(a) || *r.InstanceId != a || r.State != "active" || r.Origin != "CreateRoute" {
			t.Errorf("route to a: %s, %s, %s, %s", *r.NetworkInterfaceId, *r.InstanceId, r.State, r.Origin)
		}
		if l := c.route("10.20.0.0/16"); l == nil || *l.GatewayId != "local" {
			t.Error("no local route")
		}
		must(c.ReplaceRoute(c.req, &ec2.ReplaceRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip), InstanceId: &b}))
		if r := c.route(vip); *r.NetworkInterfaceId != c.eni(b) {
			t.Errorf("route leads to %s", *r.NetworkInterfaceId)
		}
		in := &ec2.DeleteRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip)}
		must(c.DeleteRoute(c.req, in))
		_, err := c.DeleteRoute(c.req, in)
		wantCode(t, err, "InvalidRoute.NotFound")
	})
}

// A route is a black hole while nothing behind it can answer, and only then.
// https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html
func TestBlackholeRoutes(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		if err := c.addRoute(vip, c.eni(id)); err != nil {
			t.Fatal(err)
		}
		want := func(s types.RouteState) {
			t.Helper()
			synctest.Wait()
			if got := c.route(vip).State; got != s {
				t.Errorf("route is %s, want %s", got, s)
			}
		}
		must(c.ModifyNetworkInterfaceAttribute(c.req, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: aws.String(c.eni(id)), SourceDestCheck: &types.AttributeBooleanValue{Value: aws.Bool(false)}}))
		if err := c.Vanish(id); err != nil {
			t.Fatal(err)
		}
		want("active") // EC2 does not know
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, SkipOsShutdown: aws.Bool(true)}))
		time.Sleep(DefaultDelays.Stop)
		want("blackhole")
		if _, ok := c.Route(c.table, "172.31.255.1"); ok {
			t.Error("packets leave through a black hole")
		}
		must(c.StartInstances(c.req, &ec2.StartInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(DefaultDelays.Boot)
		want("active")
		must(c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(DefaultDelays.Stop)
		want("blackhole")
	})
}

func TestRouteErrors(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		eni := c.eni(id)
		if err := c.addRoute(vip, eni); err != nil {
			t.Fatal(err)
		}
		other := must(c.CreateVpc(c.req, &ec2.CreateVpcInput{CidrBlock: aws.String("10.99.0.0/16")}))
		foreign := must(c.CreateRouteTable(c.req, &ec2.CreateRouteTableInput{VpcId: other.Vpc.VpcId}))
		create := func(in ec2.CreateRouteInput) error { _, err := c.CreateRoute(c.req, &in); return err }
		replace := func(in ec2.ReplaceRouteInput) error { _, err := c.ReplaceRoute(c.req, &in); return err }
		for _, tt := range []struct {
			name string
			err  error
			code string
		}{
			{"the same destination again", c.addRoute(vip, eni), "RouteAlreadyExists"},
			{"not in canonical form", c.addRoute("172.31.255.1/32", eni), "RouteAlreadyExists"},
			{"the local destination", c.addRoute("10.20.0.0/16", eni), "RouteAlreadyExists"},
			{"an address inside the VPC", c.addRoute("10.20.3.7/32", eni), "InvalidParameterValue"},
			{"the block of a subnet", c.addRoute("10.20.2.0/24", eni), ""},
			{"no address", c.addRoute("nonsense", eni), "InvalidParameterValue"},
			{"unknown table", create(ec2.CreateRouteInput{RouteTableId: aws.String("rtb-0123456789abcdef0"), DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: &eni}), "InvalidRouteTableID.NotFound"},
			{"malformed table", create(ec2.CreateRouteInput{RouteTableId: aws.String("rtb-x"), DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: &eni}), "InvalidRouteTableId.Malformed"},
			{"interface of another VPC", create(ec2.CreateRouteInput{RouteTableId: foreign.RouteTable.RouteTableId, DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: &eni}), "InvalidParameterValue"},
			{"two targets", create(ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String("1.1.1.1/32"), NetworkInterfaceId: &eni, InstanceId: &id}), "InvalidParameterCombination"},
			{"no target", create(ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String("1.1.1.1/32")}), "InvalidParameterCombination"},
			{"IPv6", create(ec2.CreateRouteInput{RouteTableId: &c.table, DestinationIpv6CidrBlock: aws.String("::/0"), NetworkInterfaceId: &eni}), "UnsupportedOperation"},
			{"replace a missing route", replace(ec2.ReplaceRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String("172.31.255.9/32"), NetworkInterfaceId: &eni}), "InvalidParameterValue"},
			{"replace to an unknown one", replace(ec2.ReplaceRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: aws.String("eni-0123456789abcdef0")}), "InvalidNetworkInterfaceID.NotFound"},
			{"replace to an unknown host", replace(ec2.ReplaceRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip), InstanceId: aws.String("i-0123456789abcdef0")}), "InvalidInstanceID.NotFound"},
			{"replace, dry run", replace(ec2.ReplaceRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String(vip), NetworkInterfaceId: &eni, DryRun: aws.Bool(true)}), "DryRunOperation"},
			{"an internet gateway as target", create(ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String("0.0.0.0/0"), GatewayId: aws.String("igw-0123456789abcdef0")}), ""},
		} {
			if got := codeOf(tt.err); got != tt.code {
				t.Errorf("%s: error is %v, want %q", tt.name, tt.err, tt.code)
			}
		}
		if r := c.route("172.31.255.9/32"); r != nil {
			t.Error("ReplaceRoute made a route")
		}
		if r := c.route(vip); *r.NetworkInterfaceId != eni {
			t.Error("a refused ReplaceRoute changed the route")
		}
	})
}

func TestRouteLimit(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		eni := *must(c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: &c.subnets[0]})).NetworkInterface.NetworkInterfaceId
		var err error
		made := 1 // the local route
		for ; err == nil && made < 100; made++ {
			err = c.addRoute(fmt.Sprintf("192.168.%d.0/24", made), eni)
		}
		wantCode(t, err, "RouteLimitExceeded")
		if made-1 != maxRoutes {
			t.Errorf("the table took %d routes, want %d", made-1, maxRoutes)
		}
	})
}

func TestPackets(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		a := c.launch(0, func(in *ec2.RunInstancesInput) { in.PrivateIpAddress = aws.String("10.20.1.10") })
		b := c.launch(1, func(in *ec2.RunInstancesInput) { in.PrivateIpAddress = aws.String("10.20.2.10") })
		for cidr, eni := range map[string]string{"172.31.0.0/16": c.eni(a), vip: c.eni(b)} {
			if err := c.addRoute(cidr, eni); err != nil {
				t.Fatal(err)
			}
		}
		must(c.CreateRoute(c.req, &ec2.CreateRouteInput{RouteTableId: &c.table, DestinationCidrBlock: aws.String("0.0.0.0/0"), GatewayId: aws.String("igw-0123456789abcdef0")}))
		check := func(ip, want string) {
			t.Helper()
			if got, ok := c.Route(c.table, ip); got != want || ok != (want != "") {
				t.Errorf("packets for %s go to %q (%t), want %q", ip, got, ok, want)
			}
		}
		check("10.20.2.10", b)    // local
		check("10.20.2.11", "")   // nobody
		check("172.31.255.1", "") // dropped by the source/destination check
		for _, id := range []string{a, b} {
			must(c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id, SourceDestCheck: &types.AttributeBooleanValue{Value: aws.Bool(false)}}))
		}
		check("172.31.255.1", b) // the most specific route
		check("172.31.9.9", a)
		check("8.8.8.8", "") // leaves the sandbox
		check("nonsense", "")
		if got := c.RouteTable(a); got != c.table {
			t.Errorf("a uses table %q, want that of its subnet", got)
		}
		main := must(c.DescribeRouteTables(c.req, &ec2.DescribeRouteTablesInput{Filters: filters("association.main=true")}))
		if got := c.RouteTable(b); got != *main.RouteTables[0].RouteTableId {
			t.Errorf("b uses table %q, want the main one", got)
		}
		if id, ok := c.Owner("10.20.1.10"); !ok || id != a {
			t.Errorf("owner is %q", id)
		}
		if _, ok := c.Owner("172.31.255.1"); ok {
			t.Error("a routed address has an owner")
		}
	})
}

func TestAssociations(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		byMain := func(main string) string {
			o := must(c.DescribeRouteTables(c.req, &ec2.DescribeRouteTablesInput{Filters: []types.Filter{{Name: aws.String("association.main"), Values: []string{main}}, {Name: aws.String("vpc-id"), Values: []string{c.vpc}}}}))
			if len(o.RouteTables) != 1 {
				t.Fatalf("%d tables with association.main=%s", len(o.RouteTables), main)
			}
			return *o.RouteTables[0].RouteTableId
		}
		main := byMain("true")
		if main == c.table || byMain("false") != c.table {
			t.Error("the table of the subnet is the main one")
		}
		_, err := c.AssociateRouteTable(c.req, &ec2.AssociateRouteTableInput{RouteTableId: &main, SubnetId: &c.subnets[0]})
		wantCode(t, err, "Resource.AlreadyAssociated")
		_, err = c.DeleteRouteTable(c.req, &ec2.DeleteRouteTableInput{RouteTableId: &c.table})
		wantCode(t, err, "DependencyViolation")
		o := must(c.DescribeRouteTables(c.req, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{main, c.table}}))
		mainAssociation, own := o.RouteTables[0].Associations[0].RouteTableAssociationId, o.RouteTables[1].Associations[0].RouteTableAssociationId
		_, err = c.DisassociateRouteTable(c.req, &ec2.DisassociateRouteTableInput{AssociationId: mainAssociation})
		wantCode(t, err, "InvalidParameterValue")
		must(c.ReplaceRouteTableAssociation(c.req, &ec2.ReplaceRouteTableAssociationInput{AssociationId: mainAssociation, RouteTableId: &c.table}))
		if got := byMain("true"); got != c.table {
			t.Errorf("main table is %s", got)
		}
		must(c.DisassociateRouteTable(c.req, &ec2.DisassociateRouteTableInput{AssociationId: own}))
		must(c.DeleteRouteTable(c.req, &ec2.DeleteRouteTableInput{RouteTableId: &main}))
	})
}
