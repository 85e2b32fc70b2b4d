package ec2

import (
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type vpc struct {
	id        string
	cidr      netip.Prefix
	main      string // route table of subnets without an own association
	group     string // default security group
	associate string // identifier of the association of cidr
}

// blockOf parses the CIDR block of a VPC or subnet, which AWS brings into its
// canonical form.
func blockOf(cidr *string) (netip.Prefix, error) {
	if aws.ToString(cidr) == "" {
		return netip.Prefix{}, missingParameter("cidrBlock")
	}
	p, err := netip.ParsePrefix(*cidr)
	if err != nil || !p.Addr().Is4() {
		return netip.Prefix{}, invalidValue("cidrBlock", *cidr, "This is not a valid CIDR block.")
	}
	return p.Masked(), nil
}

// CreateVpc makes a VPC with its main route table and default security group.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateVpc.html
func (e *EC2) CreateVpc(r *wire.Request, in *ec2.CreateVpcInput) (*ec2.CreateVpcOutput, error) {
	block, err := blockOf(in.CidrBlock)
	if err != nil {
		return nil, err
	}
	if block.Bits() < 16 || block.Bits() > 28 {
		return nil, wire.Errorf("InvalidVpc.Range", "The CIDR '%s' is invalid.", block)
	}
	tags, err := specified(in.TagSpecifications, types.ResourceTypeVpc)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	reg := e.enter(r)
	defer e.mu.Unlock()
	v := &vpc{id: e.world.ID("vpc-"), cidr: block, associate: e.world.ID("vpc-cidr-assoc-")}
	t := e.newTable(reg, v)
	t.associations = append(t.associations, association{id: e.world.ID("rtbassoc-"), main: true})
	v.main = t.id
	v.group = e.newGroup(reg, v.id, "default", "default VPC security group").id
	reg.vpcs.put(v.id, v)
	if err := reg.tag(v.id, tags); err != nil {
		return nil, err
	}
	shown := reg.showVPC(v)
	return &ec2.CreateVpcOutput{Vpc: &shown}, nil
}

func (reg *region) showVPC(v *vpc) types.Vpc {
	return types.Vpc{
		VpcId: aws.String(v.id), CidrBlock: aws.String(v.cidr.String()), State: types.VpcStateAvailable,
		OwnerId: aws.String(reg.account), IsDefault: aws.Bool(false), InstanceTenancy: types.TenancyDefault,
		DhcpOptionsId: aws.String("default"), Tags: reg.shownTags(v.id),
		CidrBlockAssociationSet: []types.VpcCidrBlockAssociation{{
			AssociationId: aws.String(v.associate), CidrBlock: aws.String(v.cidr.String()),
			CidrBlockState: &types.VpcCidrBlockState{State: types.VpcCidrBlockStateCodeAssociated},
		}},
	}
}

// DescribeVpcs lists VPCs.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVpcs.html
func (e *EC2) DescribeVpcs(r *wire.Request, in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	picked, err := pick(reg, &reg.vpcs, query{in.VpcIds, kindVPC, in.Filters}, func(v *vpc) attributes {
		return attributes{
			"vpc-id": {v.id}, "cidr": {v.cidr.String()}, "cidr-block-association.cidr-block": {v.cidr.String()}, "state": {"available"},
			"owner-id": {reg.account}, "is-default": {"false"}, "isDefault": {"false"}, "dhcp-options-id": {"default"},
		}
	})
	if err != nil {
		return nil, err
	}
	var all []types.Vpc
	for _, v := range picked {
		all = append(all, reg.showVPC(v))
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeVpcsOutput{Vpcs: shown, NextToken: next}, err
}

// DeleteVpc removes an empty VPC and what was made with it.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteVpc.html
func (e *EC2) DeleteVpc(r *wire.Request, in *ec2.DeleteVpcInput) (*ec2.DeleteVpcOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	v, err := one(&reg.vpcs, kindVPC, "vpcId", in.VpcId)
	if err != nil {
		return nil, err
	}
	for id, s := range reg.subnets.all() {
		if s.vpc == v.id {
			return nil, inUse("vpc", v.id, "subnet "+id)
		}
	}
	for id, t := range reg.routes.all() {
		if t.vpc == v.id && id != v.main {
			return nil, inUse("vpc", v.id, "route table "+id)
		}
	}
	for id, g := range reg.groups.all() {
		if g.vpc == v.id && id != v.group {
			return nil, inUse("vpc", v.id, "security group "+id)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	reg.routes.remove(v.main)
	reg.groups.remove(v.group)
	reg.vpcs.remove(v.id)
	delete(reg.tags, v.id)
	return &ec2.DeleteVpcOutput{}, nil
}
