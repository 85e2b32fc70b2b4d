package ec2

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

func (c *cloud) newInterface(subnet int) string {
	return *must(c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: &c.subnets[subnet]})).NetworkInterface.NetworkInterfaceId
}

func (c *cloud) showInterface(id string) types.NetworkInterface {
	c.t.Helper()
	return must(c.DescribeNetworkInterfaces(c.req, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})).NetworkInterfaces[0]
}

func (c *cloud) addresses(id string) []string {
	var all []string
	for _, a := range c.showInterface(id).PrivateIpAddresses {
		all = append(all, *a.PrivateIpAddress)
	}
	return all
}

func TestAttachAndDetach(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id, eni := c.launch(1, nil), c.newInterface(1)
		attach := func(eni, id string, device int32) (*ec2.AttachNetworkInterfaceOutput, error) {
			return c.AttachNetworkInterface(c.req, &ec2.AttachNetworkInterfaceInput{NetworkInterfaceId: &eni, InstanceId: &id, DeviceIndex: &device})
		}
		_, err := attach(eni, id, 0)
		wantCode(t, err, "InvalidParameterValue")
		_, err = attach(c.newInterface(0), id, 1)
		wantCode(t, err, "InvalidParameterCombination")
		o := must(attach(eni, id, 1))
		_, err = attach(eni, id, 2)
		wantCode(t, err, "InvalidNetworkInterface.InUse")
		if i := c.showInterface(eni); i.Status != "in-use" || *i.Attachment.InstanceId != id {
			t.Errorf("interface is %s", i.Status)
		}
		if n := len(c.show(id).NetworkInterfaces); n != 2 {
			t.Errorf("instance shows %d interfaces", n)
		}
		_, err = c.DeleteNetworkInterface(c.req, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &eni})
		wantCode(t, err, "InvalidParameterValue")
		primary := c.show(id).NetworkInterfaces[0].Attachment.AttachmentId
		_, err = c.DetachNetworkInterface(c.req, &ec2.DetachNetworkInterfaceInput{AttachmentId: primary})
		wantCode(t, err, "OperationNotPermitted")
		must(c.DetachNetworkInterface(c.req, &ec2.DetachNetworkInterfaceInput{AttachmentId: o.AttachmentId, Force: aws.Bool(true)}))
		_, err = c.DetachNetworkInterface(c.req, &ec2.DetachNetworkInterfaceInput{AttachmentId: o.AttachmentId})
		wantCode(t, err, "InvalidAttachmentID.NotFound")
		must(c.DeleteNetworkInterface(c.req, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &eni}))
	})
}

func TestAddressesMoveOnlyWithReassignment(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		one, two := c.newInterface(0), c.newInterface(0)
		assign := func(eni, ip string, reassign bool) error {
			_, err := c.AssignPrivateIpAddresses(c.req, &ec2.AssignPrivateIpAddressesInput{NetworkInterfaceId: &eni, PrivateIpAddresses: []string{ip}, AllowReassignment: &reassign})
			return err
		}
		if err := assign(one, "10.20.1.100", false); err != nil {
			t.Fatal(err)
		}
		wantCode(t, assign(two, "10.20.1.100", false), "InvalidParameterValue")
		wantCode(t, assign(two, c.addresses(one)[0], true), "InvalidParameterValue") // a primary address never moves
		wantCode(t, assign(two, "10.20.2.100", true), "InvalidParameterValue")
		wantCode(t, assign(two, "10.20.1.3", true), "InvalidParameterValue") // reserved by AWS
		if err := assign(two, "10.20.1.100", true); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]string{{"10.20.1.4"}, {"10.20.1.5", "10.20.1.100"}}, [][]string{c.addresses(one), c.addresses(two)}); diff != "" {
			t.Errorf("addresses (-want +got):\n%s", diff)
		}
		unassign := func(ip string) error {
			_, err := c.UnassignPrivateIpAddresses(c.req, &ec2.UnassignPrivateIpAddressesInput{NetworkInterfaceId: &two, PrivateIpAddresses: []string{ip}})
			return err
		}
		wantCode(t, unassign("10.20.1.5"), "InvalidParameterValue") // primary
		if err := unassign("10.20.1.100"); err != nil {
			t.Fatal(err)
		}
		_, err := c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: &c.subnets[0], PrivateIpAddress: aws.String("10.20.1.4")})
		wantCode(t, err, "InvalidIPAddress.InUse")
	})
}

func TestSubnetRunsOutOfAddresses(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		s := must(c.CreateSubnet(c.req, &ec2.CreateSubnetInput{VpcId: &c.vpc, CidrBlock: aws.String("10.20.9.0/28")})).Subnet
		if *s.AvailableIpAddressCount != 11 { // 16 - 5
			t.Errorf("%d addresses", *s.AvailableIpAddressCount)
		}
		for range 11 {
			must(c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: s.SubnetId}))
		}
		_, err := c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: s.SubnetId})
		wantCode(t, err, "InsufficientFreeAddressesInSubnet")
	})
}

func TestGroupsOfAnInterfaceAreReplaced(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		group := func(name string) string {
			return *must(c.CreateSecurityGroup(c.req, &ec2.CreateSecurityGroupInput{VpcId: &c.vpc, GroupName: &name, Description: aws.String("test")})).GroupId
		}
		db, isolated := group("db"), group("isolated")
		eni := *must(c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: &c.subnets[0], Groups: []string{db}})).NetworkInterface.NetworkInterfaceId
		must(c.ModifyNetworkInterfaceAttribute(c.req, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: &eni, Groups: []string{isolated}}))
		if g := c.showInterface(eni).Groups; len(g) != 1 || *g[0].GroupId != isolated || *g[0].GroupName != "isolated" {
			t.Errorf("groups are %v", g)
		}
		_, err := c.ModifyNetworkInterfaceAttribute(c.req, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: &eni, Groups: []string{db}, Description: &types.AttributeValue{Value: aws.String("x")}})
		wantCode(t, err, "InvalidParameterCombination")
		_, err = c.DeleteSecurityGroup(c.req, &ec2.DeleteSecurityGroupInput{GroupId: &isolated})
		wantCode(t, err, "DependencyViolation")
		must(c.DeleteSecurityGroup(c.req, &ec2.DeleteSecurityGroupInput{GroupId: &db}))
	})
}
