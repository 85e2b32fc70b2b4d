package ec2

import (
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestMachineOfALaunch(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(1, func(in *ec2.RunInstancesInput) {
			in.PrivateIpAddress, in.UserData = aws.String("10.20.2.10"), aws.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\n")))
			in.TagSpecifications = []types.TagSpecification{
				{ResourceType: "instance", Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String("db2-b")}}},
				{ResourceType: "network-interface", Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String("db2-b eth0")}}},
			}
		})
		want := []world.Machine{{
			InstanceID: id, Region: "eu-west-1", Account: "123456789012", Zone: "eu-west-1b", PrivateIP: "10.20.2.10", ImageID: "ami-0123456789abcdef0",
			Profile: "arn:aws:iam::123456789012:instance-profile/db", UserData: "#!/bin/sh\n", Tags: map[string]string{"Name": "db2-b"},
		}}
		if diff := cmp.Diff(want, c.machines.booted); diff != "" {
			t.Errorf("machine (-want +got):\n%s", diff)
		}
		i := c.show(id)
		listed := []world.Instance{{Machine: want[0], State: "running", Type: "m1.small", Launched: *i.LaunchTime}}
		if diff := cmp.Diff(listed, c.Instances()); diff != "" {
			t.Errorf("inventory (-want +got):\n%s", diff)
		}
		if *i.Placement.AvailabilityZone != "eu-west-1b" || *i.SubnetId != c.subnets[1] || *i.VpcId != c.vpc || *i.IamInstanceProfile.Arn != want[0].Profile || len(i.SecurityGroups) != 1 {
			t.Errorf("instance: %+v", i)
		}
		if tags := c.showInterface(c.eni(id)).TagSet; len(tags) != 1 || *tags[0].Value != "db2-b eth0" {
			t.Errorf("tags of the interface: %v", tags)
		}
	})
}

func TestLaunchWithAnExistingInterfaceKeepsIt(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		eni := c.newInterface(0)
		id := c.launch(0, func(in *ec2.RunInstancesInput) {
			in.SubnetId = nil
			in.NetworkInterfaces = []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), NetworkInterfaceId: &eni}}
		})
		if got := c.eni(id); got != eni {
			t.Errorf("interface is %s", got)
		}
		must(c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := c.showInterface(eni).Status; s != "available" {
			t.Errorf("interface is %s", s)
		}
	})
}

func TestClientTokenLaunchesOnce(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		in := ec2.RunInstancesInput{ImageId: aws.String("ami-1"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &c.subnets[0], ClientToken: aws.String("token")}
		first, second := must(c.RunInstances(c.req, &in)), must(c.RunInstances(c.req, &in))
		if *first.Instances[0].InstanceId != *second.Instances[0].InstanceId {
			t.Error("the token launched twice")
		}
		in.SubnetId = &c.subnets[1]
		_, err := c.RunInstances(c.req, &in)
		wantCode(t, err, "IdempotentParameterMismatch")
	})
}

func TestRefusedLaunchesLeaveNothing(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		stranger := *c.req
		stranger.Caller.ARN = "stranger"
		for _, tt := range []struct {
			name   string
			change func(*ec2.RunInstancesInput)
			code   string
		}{
			{"no subnet", func(in *ec2.RunInstancesInput) { in.SubnetId = nil }, "VPCIdNotSpecified"},
			{"unknown subnet", func(in *ec2.RunInstancesInput) { in.SubnetId = aws.String("subnet-0") }, "InvalidSubnetID.NotFound"},
			{"unknown profile", func(in *ec2.RunInstancesInput) { in.IamInstanceProfile.Name = aws.String("x") }, "InvalidParameterValue"},
			{"foreign address", func(in *ec2.RunInstancesInput) { in.PrivateIpAddress = aws.String("10.20.2.10") }, "InvalidParameterValue"},
			{"bad user data", func(in *ec2.RunInstancesInput) { in.UserData = aws.String("#!") }, "InvalidParameterValue"},
			{"no image", func(in *ec2.RunInstancesInput) { in.ImageId = nil }, "MissingParameter"},
			{"no count", func(in *ec2.RunInstancesInput) { in.MaxCount = aws.Int32(0) }, "InvalidParameterValue"},
			{"more than the subnet holds", func(in *ec2.RunInstancesInput) { in.MaxCount = aws.Int32(252) }, "InsufficientFreeAddressesInSubnet"},
			{"spot", func(in *ec2.RunInstancesInput) { in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{} }, "UnsupportedOperation"},
			{"dry run", func(in *ec2.RunInstancesInput) { in.DryRun = aws.Bool(true) }, "DryRunOperation"},
		} {
			in := &ec2.RunInstancesInput{ImageId: aws.String("ami-1"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &c.subnets[0], IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("db")}}
			tt.change(in)
			if _, err := c.RunInstances(c.req, in); codeOf(err) != tt.code {
				t.Errorf("%s: error is %v, want %s", tt.name, err, tt.code)
			}
		}
		_, err := c.RunInstances(&stranger, &ec2.RunInstancesInput{ImageId: aws.String("ami-1"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &c.subnets[0], IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("db")}})
		wantCode(t, err, "UnauthorizedOperation")
		if n := len(c.Instances()); n != 0 {
			t.Errorf("%d instances", n)
		}
		if n := len(must(c.DescribeNetworkInterfaces(c.req, &ec2.DescribeNetworkInterfacesInput{})).NetworkInterfaces); n != 0 {
			t.Errorf("%d interfaces are left", n)
		}
	})
}

func TestAttributes(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		must(c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id, Attribute: "disableApiStop", Value: aws.String("true")}))
		o := must(c.DescribeInstanceAttribute(c.req, &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: "disableApiStop"}))
		if !aws.ToBool(o.DisableApiStop.Value) {
			t.Error("stop protection is off")
		}
		_, err := c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id, InstanceType: &types.AttributeValue{Value: aws.String("m5.large")}})
		wantCode(t, err, "IncorrectInstanceState")
		_, err = c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id})
		wantCode(t, err, "InvalidParameterCombination")
		must(c.ModifyInstanceMaintenanceOptions(c.req, &ec2.ModifyInstanceMaintenanceOptionsInput{InstanceId: &id, AutoRecovery: "disabled"}))
		if got := c.show(id).MaintenanceOptions.AutoRecovery; got != "disabled" {
			t.Errorf("automatic recovery is %s", got)
		}
	})
}

func TestRegionsAreApart(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		other := *c.req
		other.Region = "us-east-1"
		_, err := c.DescribeInstances(&other, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "InvalidInstanceID.NotFound")
	})
}

func TestDeleteANetwork(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		eni := c.newInterface(0)
		_, err := c.DeleteSubnet(c.req, &ec2.DeleteSubnetInput{SubnetId: &c.subnets[0]})
		wantCode(t, err, "DependencyViolation")
		_, err = c.DeleteVpc(c.req, &ec2.DeleteVpcInput{VpcId: &c.vpc})
		wantCode(t, err, "DependencyViolation")
		must(c.DeleteNetworkInterface(c.req, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &eni}))
		for _, id := range c.subnets {
			must(c.DeleteSubnet(c.req, &ec2.DeleteSubnetInput{SubnetId: &id}))
		}
		must(c.DeleteRouteTable(c.req, &ec2.DeleteRouteTableInput{RouteTableId: &c.table}))
		must(c.DeleteVpc(c.req, &ec2.DeleteVpcInput{VpcId: &c.vpc}))
		if n := len(must(c.DescribeSecurityGroups(c.req, &ec2.DescribeSecurityGroupsInput{})).SecurityGroups); n != 0 {
			t.Errorf("%d security groups are left", n)
		}
	})
}
