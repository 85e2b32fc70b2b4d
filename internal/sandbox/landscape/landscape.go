// Package landscape builds what a customer of Db2 has on AWS before hadr comes:
// a VPC over two zones, two database hosts and two application hosts.
package landscape

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// EC2 is what the landscape needs of the EC2 client.
type EC2 interface {
	CreateVpc(context.Context, *ec2.CreateVpcInput, ...func(*ec2.Options)) (*ec2.CreateVpcOutput, error)
	CreateSubnet(context.Context, *ec2.CreateSubnetInput, ...func(*ec2.Options)) (*ec2.CreateSubnetOutput, error)
	CreateRouteTable(context.Context, *ec2.CreateRouteTableInput, ...func(*ec2.Options)) (*ec2.CreateRouteTableOutput, error)
	AssociateRouteTable(context.Context, *ec2.AssociateRouteTableInput, ...func(*ec2.Options)) (*ec2.AssociateRouteTableOutput, error)
	CreateSecurityGroup(context.Context, *ec2.CreateSecurityGroupInput, ...func(*ec2.Options)) (*ec2.CreateSecurityGroupOutput, error)
	AuthorizeSecurityGroupIngress(context.Context, *ec2.AuthorizeSecurityGroupIngressInput, ...func(*ec2.Options)) (*ec2.AuthorizeSecurityGroupIngressOutput, error)
	RunInstances(context.Context, *ec2.RunInstancesInput, ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error)
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	ModifyNetworkInterfaceAttribute(context.Context, *ec2.ModifyNetworkInterfaceAttributeInput, ...func(*ec2.Options)) (*ec2.ModifyNetworkInterfaceAttributeOutput, error)
}

// IAM is what the landscape needs of the IAM client.
type IAM interface {
	CreateRole(context.Context, *iam.CreateRoleInput, ...func(*iam.Options)) (*iam.CreateRoleOutput, error)
	AttachRolePolicy(context.Context, *iam.AttachRolePolicyInput, ...func(*iam.Options)) (*iam.AttachRolePolicyOutput, error)
	CreateInstanceProfile(context.Context, *iam.CreateInstanceProfileInput, ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error)
	AddRoleToInstanceProfile(context.Context, *iam.AddRoleToInstanceProfileInput, ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error)
}

// Builder makes landscapes in one Region.
type Builder struct {
	EC2    EC2
	IAM    IAM
	Clock  clock.Clock
	Region string
}

// Fixed names and addresses of every landscape.
const (
	CIDR = "10.20.0.0/16"
	// Role is the role and the instance profile of all hosts. What the agent
	// needs is added to it by the module.
	Role = "hadr-db-host"
	// SoftwareTag says what runs on a host: SoftwareDb2 or SoftwareApp.
	SoftwareTag = "hadr-sandbox:software"
	SoftwareDb2 = "db2"
	SoftwareApp = "app"

	image    = "ami-0d2b0000000000020"
	db2Port  = 50000
	bootTime = 5 * time.Minute
)

// side is one zone of the landscape: its letter is that of the node.
type side struct{ letter, subnet, db, app string }

var sides = []side{
	{"a", "10.20.1.0/24", "10.20.1.10", "10.20.1.20"},
	{"b", "10.20.2.0/24", "10.20.2.10", "10.20.2.20"},
}

// Host is an instance and its interface.
type Host struct {
	Name               string
	InstanceID         string
	NetworkInterfaceID string
	AvailabilityZone   string
	PrivateIP          string
}

// Landscape is what was built.
type Landscape struct {
	Region        string
	VPC           string
	Subnets       []string // in the order a, b, as the following ones
	RouteTables   []string
	SecurityGroup string
	Databases     map[string]Host // by node: a, b
	Applications  map[string]Host
}

// Build makes a landscape and returns when all its hosts run. What was made
// before an error is left.
func (b Builder) Build(ctx context.Context) (Landscape, error) {
	l := Landscape{Region: b.Region, Databases: map[string]Host{}, Applications: map[string]Host{}}
	if err := b.role(ctx); err != nil {
		return l, err
	}
	if err := b.network(ctx, &l); err != nil {
		return l, err
	}
	for n, s := range sides {
		db, err := b.host(ctx, l, n, "db2-"+s.letter, s.db, SoftwareDb2, types.InstanceTypeR6iXlarge)
		if err != nil {
			return l, err
		}
		// A host that serves a virtual address gets packets for an address that
		// is not its own.
		if _, err := b.EC2.ModifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
			NetworkInterfaceId: &db.NetworkInterfaceID, SourceDestCheck: &types.AttributeBooleanValue{Value: aws.Bool(false)},
		}); err != nil {
			return l, fmt.Errorf("turn source/destination check of %s off: %w", db.Name, err)
		}
		app, err := b.host(ctx, l, n, "app-"+s.letter, s.app, SoftwareApp, types.InstanceTypeT3Small)
		if err != nil {
			return l, err
		}
		l.Databases[s.letter], l.Applications[s.letter] = db, app
	}
	return l, b.wait(ctx, l)
}

const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

func (b Builder) role(ctx context.Context) error {
	name := aws.String(Role)
	if _, err := b.IAM.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: aws.String(trust)}); err != nil {
		return fmt.Errorf("create role %s: %w", Role, err)
	}
	if _, err := b.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")}); err != nil {
		return fmt.Errorf("attach AmazonSSMManagedInstanceCore to role %s: %w", Role, err)
	}
	if _, err := b.IAM.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: name}); err != nil {
		return fmt.Errorf("create instance profile %s: %w", Role, err)
	}
	if _, err := b.IAM.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: name}); err != nil {
		return fmt.Errorf("add role %s to its instance profile: %w", Role, err)
	}
	return nil
}

func (b Builder) network(ctx context.Context, l *Landscape) error {
	v, err := b.EC2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String(CIDR), TagSpecifications: name(types.ResourceTypeVpc, "db2")})
	if err != nil {
		return fmt.Errorf("create VPC %s: %w", CIDR, err)
	}
	l.VPC = *v.Vpc.VpcId
	for _, s := range sides {
		zone := b.Region + s.letter
		n, err := b.EC2.CreateSubnet(ctx, &ec2.CreateSubnetInput{
			VpcId: &l.VPC, CidrBlock: aws.String(s.subnet), AvailabilityZone: &zone, TagSpecifications: name(types.ResourceTypeSubnet, "db2-private-"+s.letter),
		})
		if err != nil {
			return fmt.Errorf("create subnet %s in %s: %w", s.subnet, zone, err)
		}
		t, err := b.EC2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: &l.VPC, TagSpecifications: name(types.ResourceTypeRouteTable, "db2-private-"+s.letter)})
		if err != nil {
			return fmt.Errorf("create route table for %s: %w", zone, err)
		}
		if _, err := b.EC2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: t.RouteTable.RouteTableId, SubnetId: n.Subnet.SubnetId}); err != nil {
			return fmt.Errorf("associate route table %s with subnet %s: %w", *t.RouteTable.RouteTableId, *n.Subnet.SubnetId, err)
		}
		l.Subnets, l.RouteTables = append(l.Subnets, *n.Subnet.SubnetId), append(l.RouteTables, *t.RouteTable.RouteTableId)
	}
	g, err := b.EC2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: &l.VPC, GroupName: aws.String("db2"), Description: aws.String("Db2 hosts and their clients")})
	if err != nil {
		return fmt.Errorf("create security group: %w", err)
	}
	l.SecurityGroup = *g.GroupId
	_, err = b.EC2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: g.GroupId, IpPermissions: []types.IpPermission{
		{IpProtocol: aws.String("-1"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: g.GroupId, Description: aws.String("HADR between the hosts")}}},
		{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(db2Port), ToPort: aws.Int32(db2Port), IpRanges: []types.IpRange{{CidrIp: aws.String(CIDR), Description: aws.String("Db2 clients")}}},
	}})
	if err != nil {
		return fmt.Errorf("let clients into security group %s: %w", l.SecurityGroup, err)
	}
	return nil
}

func (b Builder) host(ctx context.Context, l Landscape, n int, hostname, ip, software string, size types.InstanceType) (Host, error) {
	o, err := b.EC2.RunInstances(ctx, &ec2.RunInstancesInput{
		ImageId: aws.String(image), InstanceType: size, MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId: &l.Subnets[n], PrivateIpAddress: &ip, SecurityGroupIds: []string{l.SecurityGroup},
		IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String(Role)},
		UserData:           aws.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\n# " + SoftwareTag + " = " + software + "\n"))),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{
			{Key: aws.String("Name"), Value: &hostname}, {Key: aws.String(SoftwareTag), Value: &software},
		}}},
	})
	if err != nil {
		return Host{}, fmt.Errorf("launch host %s: %w", hostname, err)
	}
	if len(o.Instances) != 1 || len(o.Instances[0].NetworkInterfaces) != 1 {
		return Host{}, fmt.Errorf("launch host %s: the answer does not hold one instance with one network interface", hostname)
	}
	i := o.Instances[0]
	return Host{
		Name: hostname, InstanceID: aws.ToString(i.InstanceId), NetworkInterfaceID: aws.ToString(i.NetworkInterfaces[0].NetworkInterfaceId),
		AvailabilityZone: b.Region + sides[n].letter, PrivateIP: ip,
	}, nil
}

// wait returns when all hosts run.
func (b Builder) wait(ctx context.Context, l Landscape) error {
	var ids []string
	for _, s := range sides {
		ids = append(ids, l.Databases[s.letter].InstanceID, l.Applications[s.letter].InstanceID)
	}
	ctx, cancel := clock.WithTimeout(ctx, b.Clock, bootTime)
	defer cancel()
	for {
		o, err := b.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
		if err != nil {
			return fmt.Errorf("wait for hosts %v: %w", ids, err)
		}
		var waiting []string
		for _, r := range o.Reservations {
			for _, i := range r.Instances {
				switch i.State.Name {
				case types.InstanceStateNameRunning:
				case types.InstanceStateNamePending:
					waiting = append(waiting, *i.InstanceId)
				default:
					return fmt.Errorf("wait for host %s: it is %s instead of running", *i.InstanceId, i.State.Name)
				}
			}
		}
		if waiting == nil {
			return nil
		}
		if err := b.Clock.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("wait for hosts %v to run: %w", waiting, err)
		}
	}
}

func name(kind types.ResourceType, value string) []types.TagSpecification {
	return []types.TagSpecification{{ResourceType: kind, Tags: []types.Tag{{Key: aws.String("Name"), Value: &value}}}}
}
