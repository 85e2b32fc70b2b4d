package ec2

import (
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type subnet struct {
	id, vpc, zone string
	cidr          netip.Prefix
}

// reservedAddresses are the first four and the last address of every subnet.
// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
const reservedAddresses = 5

func (s *subnet) size() int { return 1 << (32 - s.cidr.Bits()) }

// usable reports whether ip can be given to an interface of the subnet.
func (s *subnet) usable(ip netip.Addr) bool {
	if !s.cidr.Contains(ip) {
		return false
	}
	offset := number(ip) - number(s.cidr.Addr())
	return offset >= 4 && offset < uint32(s.size()-1)
}

func number(ip netip.Addr) uint32 {
	b := ip.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// used returns the interfaces by address in a subnet.
func (reg *region) used(s *subnet) map[netip.Addr]*iface {
	used := map[netip.Addr]*iface{}
	for _, i := range reg.interfaces.all() {
		if i.subnet == s.id {
			for _, a := range i.addresses {
				used[a] = i
			}
		}
	}
	return used
}

// free returns the first free address of a subnet.
func (reg *region) free(s *subnet) (netip.Addr, error) {
	used := reg.used(s)
	for ip := s.cidr.Addr(); s.cidr.Contains(ip); ip = ip.Next() {
		if s.usable(ip) && used[ip] == nil {
			return ip, nil
		}
	}
	return netip.Addr{}, wire.Errorf("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s'.", s.id)
}

// CreateSubnet makes a subnet; without a zone in the first one of the Region.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html
func (e *EC2) CreateSubnet(r *wire.Request, in *ec2.CreateSubnetInput) (*ec2.CreateSubnetOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	v, err := one(&reg.vpcs, kindVPC, "vpcId", in.VpcId)
	if err != nil {
		return nil, err
	}
	block, err := blockOf(in.CidrBlock)
	if err != nil {
		return nil, err
	}
	if block.Bits() < v.cidr.Bits() || block.Bits() > 28 || !v.cidr.Contains(block.Addr()) {
		return nil, wire.Errorf("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	for _, other := range reg.subnets.all() {
		if other.vpc == v.id && other.cidr.Overlaps(block) {
			return nil, wire.Errorf("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
		}
	}
	zone := reg.name() + zones[:1]
	if in.AvailabilityZone != nil {
		zone = *in.AvailabilityZone
	}
	for _, letter := range zones {
		if name := reg.name() + string(letter); in.AvailabilityZoneId != nil && zoneID(reg.name(), name) == *in.AvailabilityZoneId {
			zone = name
		}
	}
	if !validZone(reg.name(), zone) {
		return nil, invalidValue("availabilityZone", zone, "Subnets can currently only be created in the zones of "+reg.name()+".")
	}
	tags, err := specified(in.TagSpecifications, types.ResourceTypeSubnet)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s := &subnet{id: e.world.ID("subnet-"), vpc: v.id, zone: zone, cidr: block}
	reg.subnets.put(s.id, s)
	if err := reg.tag(s.id, tags); err != nil {
		return nil, err
	}
	shown := reg.showSubnet(s)
	return &ec2.CreateSubnetOutput{Subnet: &shown}, nil
}

func (reg *region) showSubnet(s *subnet) types.Subnet {
	return types.Subnet{
		SubnetId: aws.String(s.id), VpcId: aws.String(s.vpc), CidrBlock: aws.String(s.cidr.String()),
		AvailabilityZone: aws.String(s.zone), AvailabilityZoneId: aws.String(zoneID(reg.name(), s.zone)),
		AvailableIpAddressCount: aws.Int32(int32(s.size() - reservedAddresses - len(reg.used(s)))),
		State:                   types.SubnetStateAvailable, OwnerId: aws.String(reg.account),
		DefaultForAz: aws.Bool(false), MapPublicIpOnLaunch: aws.Bool(false), AssignIpv6AddressOnCreation: aws.Bool(false),
		SubnetArn: aws.String(reg.arn("subnet/" + s.id)), Tags: reg.shownTags(s.id),
	}
}

// DescribeSubnets lists subnets.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSubnets.html
func (e *EC2) DescribeSubnets(r *wire.Request, in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	picked, err := pick(reg, &reg.subnets, query{in.SubnetIds, kindSubnet, in.Filters}, func(s *subnet) attributes {
		return attributes{
			"subnet-id": {s.id}, "vpc-id": {s.vpc}, "cidr-block": {s.cidr.String()}, "cidr": {s.cidr.String()}, "state": {"available"},
			"availability-zone": {s.zone}, "availabilityZone": {s.zone}, "availability-zone-id": {zoneID(reg.name(), s.zone)},
			"owner-id": {reg.account}, "default-for-az": {"false"}, "subnet-arn": {reg.arn("subnet/" + s.id)},
		}
	})
	if err != nil {
		return nil, err
	}
	var all []types.Subnet
	for _, s := range picked {
		all = append(all, reg.showSubnet(s))
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeSubnetsOutput{Subnets: shown, NextToken: next}, err
}

// DeleteSubnet removes a subnet without interfaces, and its association.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSubnet.html
func (e *EC2) DeleteSubnet(r *wire.Request, in *ec2.DeleteSubnetInput) (*ec2.DeleteSubnetOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	s, err := one(&reg.subnets, kindSubnet, "subnetId", in.SubnetId)
	if err != nil {
		return nil, err
	}
	for id, i := range reg.interfaces.all() {
		if i.subnet == s.id {
			return nil, inUse("subnet", s.id, "network interface "+id)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, t := range reg.routes.all() {
		t.dissociate(func(a association) bool { return a.subnet == s.id })
	}
	reg.subnets.remove(s.id)
	delete(reg.tags, s.id)
	return &ec2.DeleteSubnetOutput{}, nil
}
