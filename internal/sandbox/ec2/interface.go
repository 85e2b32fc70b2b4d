package ec2

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// iface is an elastic network interface.
type iface struct {
	id, subnet, vpc, zone string
	description           string
	mac                   string
	addresses             []netip.Addr // the first one is primary
	groups                []string
	check                 bool // source/destination check

	instance            string // "" = available
	attachment          string
	device              int32
	attached            time.Time
	deleteOnTermination bool
}

func (i *iface) primary() string { return i.addresses[0].String() }

// interfaceSpec is what a new interface is made from.
type interfaceSpec struct {
	subnet      *string
	description *string
	primary     *string
	addresses   []types.PrivateIpAddressSpecification
	secondary   *int32 // number of further addresses
	groups      []string
}

// planInterface checks a specification and returns the interface, which does
// not exist yet.
func (reg *region) planInterface(spec interfaceSpec) (*iface, error) {
	s, err := one(&reg.subnets, kindSubnet, "subnetId", spec.subnet)
	if err != nil {
		return nil, err
	}
	groups, err := reg.groupsIn(s.vpc, spec.groups)
	if err != nil {
		return nil, err
	}
	i := &iface{subnet: s.id, vpc: s.vpc, zone: s.zone, description: aws.ToString(spec.description), groups: groups, check: true}
	primary := aws.ToString(spec.primary)
	var further []string
	for _, a := range spec.addresses {
		if aws.ToBool(a.Primary) && primary == "" {
			primary = aws.ToString(a.PrivateIpAddress)
		} else if ip := aws.ToString(a.PrivateIpAddress); ip != primary {
			further = append(further, ip)
		}
	}
	if primary == "" {
		ip, err := reg.free(s)
		if err != nil {
			return nil, err
		}
		primary = ip.String()
	}
	for _, ip := range append([]string{primary}, further...) {
		a, err := reg.address(s, ip)
		if err != nil {
			return nil, err
		}
		if other := reg.used(s)[a]; other != nil {
			return nil, wire.Errorf("InvalidIPAddress.InUse", "The specified address %s is already in use by %s", a, other.id)
		}
		i.addresses = append(i.addresses, a)
	}
	if n := aws.ToInt32(spec.secondary); n != 0 {
		return nil, notSimulated("SecondaryPrivateIpAddressCount of a new interface: assign addresses afterwards")
	}
	return i, nil
}

func (reg *region) address(s *subnet, ip string) (netip.Addr, error) {
	a, err := netip.ParseAddr(ip)
	if err != nil || !a.Is4() {
		return netip.Addr{}, wire.Errorf("InvalidParameterValue", "invalid value for parameter address: %s", ip)
	}
	if !s.usable(a) {
		return netip.Addr{}, wire.Errorf("InvalidParameterValue", "Address %s does not fall within the usable addresses of subnet %s (%s)", ip, s.id, s.cidr)
	}
	return a, nil
}

// groupsIn checks the security groups of an interface; none means the default
// group of the VPC.
func (reg *region) groupsIn(vpc string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		v, _ := reg.vpcs.get(vpc)
		return []string{v.group}, nil
	}
	groups, err := find(&reg.groups, kindGroup, ids)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if g.vpc != vpc {
			return nil, wire.Errorf("InvalidParameter", "Security group %s and the subnet belong to different networks.", g.id)
		}
	}
	return slices.Clone(ids), nil
}

// add gives a planned interface its identity.
func (e *EC2) add(reg *region, i *iface) {
	i.id = e.world.ID("eni-")
	h := e.world.Hex(10)
	i.mac = fmt.Sprintf("02:%s:%s:%s:%s:%s", h[:2], h[2:4], h[4:6], h[6:8], h[8:])
	reg.interfaces.put(i.id, i)
}

// attached returns the interfaces of an instance, ordered by device.
func (reg *region) attached(instance string) []*iface {
	var all []*iface
	for _, i := range reg.interfaces.all() {
		if i.instance == instance {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b *iface) int { return int(a.device - b.device) })
	return all
}

// CreateNetworkInterface makes an interface.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkInterface.html
func (e *EC2) CreateNetworkInterface(r *wire.Request, in *ec2.CreateNetworkInterfaceInput) (*ec2.CreateNetworkInterfaceOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := reg.planInterface(interfaceSpec{
		subnet: in.SubnetId, description: in.Description, primary: in.PrivateIpAddress, addresses: in.PrivateIpAddresses,
		secondary: in.SecondaryPrivateIpAddressCount, groups: in.Groups,
	})
	if err != nil {
		return nil, err
	}
	tags, err := specified(in.TagSpecifications, types.ResourceTypeNetworkInterface)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e.add(reg, i)
	if err := reg.tag(i.id, tags); err != nil {
		return nil, err
	}
	shown := reg.showInterface(i)
	return &ec2.CreateNetworkInterfaceOutput{NetworkInterface: &shown, ClientToken: in.ClientToken}, nil
}

// DeleteNetworkInterface removes a detached interface.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteNetworkInterface.html
func (e *EC2) DeleteNetworkInterface(r *wire.Request, in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if i.instance != "" {
		return nil, wire.Errorf("InvalidParameterValue", "Network interface '%s' is currently in use.", i.id)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	reg.forget(i)
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}

func (reg *region) forget(i *iface) {
	reg.interfaces.remove(i.id)
	delete(reg.tags, i.id)
}

func (reg *region) showGroups(ids []string) []types.GroupIdentifier {
	var all []types.GroupIdentifier
	for _, id := range ids {
		s := types.GroupIdentifier{GroupId: aws.String(id)}
		if g, ok := reg.groups.get(id); ok {
			s.GroupName = aws.String(g.name)
		}
		all = append(all, s)
	}
	return all
}

func privateName(region, ip string) string {
	host := "ip-" + strings.ReplaceAll(ip, ".", "-")
	if region == "us-east-1" {
		return host + ".ec2.internal"
	}
	return host + "." + region + ".compute.internal"
}

func (reg *region) showInterface(i *iface) types.NetworkInterface {
	shown := types.NetworkInterface{
		NetworkInterfaceId: aws.String(i.id), SubnetId: aws.String(i.subnet), VpcId: aws.String(i.vpc), AvailabilityZone: aws.String(i.zone),
		AvailabilityZoneId: aws.String(zoneID(reg.name(), i.zone)), Description: aws.String(i.description), OwnerId: aws.String(reg.account),
		MacAddress: aws.String(i.mac), PrivateIpAddress: aws.String(i.primary()), PrivateDnsName: aws.String(privateName(reg.name(), i.primary())),
		SourceDestCheck: aws.Bool(i.check), Groups: reg.showGroups(i.groups), InterfaceType: types.NetworkInterfaceTypeInterface,
		RequesterManaged: aws.Bool(false), Status: types.NetworkInterfaceStatusAvailable, TagSet: reg.shownTags(i.id),
	}
	for n, a := range i.addresses {
		shown.PrivateIpAddresses = append(shown.PrivateIpAddresses, types.NetworkInterfacePrivateIpAddress{
			PrivateIpAddress: aws.String(a.String()), Primary: aws.Bool(n == 0), PrivateDnsName: aws.String(privateName(reg.name(), a.String())),
		})
	}
	if i.instance != "" {
		shown.Status = types.NetworkInterfaceStatusInUse
		shown.Attachment = &types.NetworkInterfaceAttachment{
			AttachmentId: aws.String(i.attachment), InstanceId: aws.String(i.instance), InstanceOwnerId: aws.String(reg.account),
			DeviceIndex: aws.Int32(i.device), AttachTime: aws.Time(i.attached), Status: types.AttachmentStatusAttached,
			DeleteOnTermination: aws.Bool(i.deleteOnTermination), NetworkCardIndex: aws.Int32(0),
		}
	}
	return shown
}

// DescribeNetworkInterfaces lists interfaces.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
func (e *EC2) DescribeNetworkInterfaces(r *wire.Request, in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	picked, err := pick(reg, &reg.interfaces, query{in.NetworkInterfaceIds, kindInterface, in.Filters}, reg.interfaceAttributes)
	if err != nil {
		return nil, err
	}
	var all []types.NetworkInterface
	for _, i := range picked {
		all = append(all, reg.showInterface(i))
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: shown, NextToken: next}, err
}

func (reg *region) interfaceAttributes(i *iface) attributes {
	a := attributes{
		"network-interface-id": {i.id}, "subnet-id": {i.subnet}, "vpc-id": {i.vpc}, "availability-zone": {i.zone}, "owner-id": {reg.account},
		"description": {i.description}, "mac-address": {i.mac}, "private-ip-address": {i.primary()}, "source-dest-check": boolValue(i.check),
		"group-id": i.groups, "status": {"available"}, "interface-type": {"interface"}, "addresses.private-ip-address": nil,
		"attachment.instance-id": nil, "attachment.attachment-id": nil, "attachment.device-index": nil, "attachment.status": nil,
	}
	for _, ip := range i.addresses {
		a["addresses.private-ip-address"] = append(a["addresses.private-ip-address"], ip.String())
	}
	if i.instance != "" {
		a["status"] = []string{"in-use"}
		a["attachment.instance-id"] = []string{i.instance}
		a["attachment.attachment-id"] = []string{i.attachment}
		a["attachment.device-index"] = []string{strconv.Itoa(int(i.device))}
		a["attachment.status"] = []string{"attached"}
	}
	return a
}
