package ec2

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (e *EC2) attach(i *iface, instance string, device int32, deleteOnTermination bool) {
	i.instance, i.device, i.deleteOnTermination = instance, device, deleteOnTermination
	i.attachment, i.attached = e.world.ID("eni-attach-"), e.world.Clock.Now()
}

func (i *iface) detach() {
	i.instance, i.attachment, i.device, i.deleteOnTermination = "", "", 0, false
}

// AttachNetworkInterface attaches an interface to a running or stopped
// instance in the same zone.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AttachNetworkInterface.html
func (e *EC2) AttachNetworkInterface(r *wire.Request, in *ec2.AttachNetworkInterfaceInput) (*ec2.AttachNetworkInterfaceOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	on, err := one(&reg.instances, kindInstance, "instanceId", in.InstanceId)
	if err != nil {
		return nil, err
	}
	if in.DeviceIndex == nil {
		return nil, missingParameter("deviceIndex")
	}
	switch {
	case i.instance != "":
		return nil, wire.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", i.id)
	case i.zone != on.zone:
		return nil, wire.Errorf("InvalidParameterCombination", "You may not attach a network interface to an instance if they are not in the same availability zone")
	case on.state != types.InstanceStateNameRunning && on.state != types.InstanceStateNameStopped:
		return nil, incorrectState(on, "have a network interface attached")
	}
	for _, other := range reg.attached(on.id) {
		if other.device == *in.DeviceIndex {
			return nil, wire.Errorf("InvalidParameterValue", "Instance '%s' already has an interface attached at device index '%d'.", on.id, other.device)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e.attach(i, on.id, *in.DeviceIndex, false)
	return &ec2.AttachNetworkInterfaceOutput{AttachmentId: aws.String(i.attachment), NetworkCardIndex: aws.Int32(0)}, nil
}

// DetachNetworkInterface takes a secondary interface off its instance.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DetachNetworkInterface.html
func (e *EC2) DetachNetworkInterface(r *wire.Request, in *ec2.DetachNetworkInterfaceInput) (*ec2.DetachNetworkInterfaceOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	for _, i := range reg.interfaces.all() {
		if i.attachment == "" || i.attachment != aws.ToString(in.AttachmentId) {
			continue
		}
		if i.device == 0 {
			return nil, wire.Errorf("OperationNotPermitted", "The network interface at device index 0 cannot be detached.")
		}
		if err := dryRun(in.DryRun); err != nil {
			return nil, err
		}
		i.detach()
		return &ec2.DetachNetworkInterfaceOutput{}, nil
	}
	return nil, kindAttachment.unknown(aws.ToString(in.AttachmentId))
}

// ModifyNetworkInterfaceAttribute changes one attribute; Groups replace the
// groups that the interface had.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyNetworkInterfaceAttribute.html
func (e *EC2) ModifyNetworkInterfaceAttribute(r *wire.Request, in *ec2.ModifyNetworkInterfaceAttributeInput) (*ec2.ModifyNetworkInterfaceAttributeOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	var changes []func()
	if in.SourceDestCheck != nil {
		changes = append(changes, func() { i.check = aws.ToBool(in.SourceDestCheck.Value) })
	}
	if in.Description != nil {
		changes = append(changes, func() { i.description = aws.ToString(in.Description.Value) })
	}
	if len(in.Groups) > 0 {
		groups, err := reg.groupsIn(i.vpc, in.Groups)
		if err != nil {
			return nil, err
		}
		changes = append(changes, func() { i.groups = groups })
	}
	if a := in.Attachment; a != nil {
		if i.attachment == "" || i.attachment != aws.ToString(a.AttachmentId) {
			return nil, kindAttachment.unknown(aws.ToString(a.AttachmentId))
		}
		changes = append(changes, func() { i.deleteOnTermination = aws.ToBool(a.DeleteOnTermination) })
	}
	if len(changes) != 1 {
		return nil, wire.Errorf("InvalidParameterCombination", "Exactly one attribute of the network interface must be specified, not %d", len(changes))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	changes[0]()
	return &ec2.ModifyNetworkInterfaceAttributeOutput{}, nil
}

// AssignPrivateIpAddresses gives an interface secondary addresses, taken from
// another interface of the subnet if reassignment is allowed.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AssignPrivateIpAddresses.html
func (e *EC2) AssignPrivateIpAddresses(r *wire.Request, in *ec2.AssignPrivateIpAddressesInput) (*ec2.AssignPrivateIpAddressesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	s, _ := reg.subnets.get(i.subnet)
	if (len(in.PrivateIpAddresses) == 0) == (in.SecondaryPrivateIpAddressCount == nil) {
		return nil, wire.Errorf("InvalidParameterCombination", "Either privateIpAddress or secondaryPrivateIpAddressCount must be specified")
	}
	var wanted []netip.Addr
	for _, ip := range in.PrivateIpAddresses {
		a, err := reg.address(s, ip)
		if err != nil {
			return nil, err
		}
		owner := reg.used(s)[a]
		if owner != nil && owner != i && (!aws.ToBool(in.AllowReassignment) || owner.addresses[0] == a) {
			return nil, wire.Errorf("InvalidParameterValue", "[%s] are already assigned to interface %s and cannot be reassigned", a, owner.id)
		}
		wanted = append(wanted, a)
	}
	out := &ec2.AssignPrivateIpAddressesOutput{NetworkInterfaceId: aws.String(i.id)}
	give := func(a netip.Addr) {
		if owner := reg.used(s)[a]; owner != nil {
			owner.addresses = slices.DeleteFunc(owner.addresses, func(b netip.Addr) bool { return b == a })
		}
		i.addresses = append(i.addresses, a)
		out.AssignedPrivateIpAddresses = append(out.AssignedPrivateIpAddresses, types.AssignedPrivateIpAddress{PrivateIpAddress: aws.String(a.String())})
	}
	for _, a := range wanted {
		if i.addresses[0] != a {
			give(a)
		}
	}
	for range aws.ToInt32(in.SecondaryPrivateIpAddressCount) {
		a, err := reg.free(s)
		if err != nil {
			return nil, err
		}
		give(a)
	}
	return out, nil
}

// UnassignPrivateIpAddresses takes secondary addresses off an interface.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_UnassignPrivateIpAddresses.html
func (e *EC2) UnassignPrivateIpAddresses(r *wire.Request, in *ec2.UnassignPrivateIpAddressesInput) (*ec2.UnassignPrivateIpAddressesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	kept := slices.Clone(i.addresses)
	for _, ip := range in.PrivateIpAddresses {
		n := slices.IndexFunc(kept, func(a netip.Addr) bool { return a.String() == ip })
		if n <= 0 {
			return nil, wire.Errorf("InvalidParameterValue", "Some of the specified addresses are not assigned to interface %s as secondary addresses: %s", i.id, ip)
		}
		kept = slices.Delete(kept, n, n+1)
	}
	i.addresses = kept
	return &ec2.UnassignPrivateIpAddressesOutput{}, nil
}
