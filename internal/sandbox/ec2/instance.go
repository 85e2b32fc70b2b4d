package ec2

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

type instance struct {
	id, reservation, token string
	index                  int32
	image, key             string
	size                   types.InstanceType
	zone, subnet, vpc      string
	profile, profileID     string // ARN and identifier of the instance profile
	userData               string // decoded
	launched               time.Time

	state      types.InstanceStateName
	reason     *types.StateReason
	transition string // StateTransitionReason
	terminated time.Time

	stopProtected, terminationProtected bool
	shutdownBehavior                    types.ShutdownBehavior
	autoRecovery                        types.InstanceAutoRecoveryState
	rebootMigration                     types.InstanceRebootMigrationState

	checks checks
	hold   *hold

	cancel context.CancelFunc // of the newest transition
	done   chan struct{}      // closed at its end
}

// stateCodes are the low bytes of the codes that go with the names.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html
var stateCodes = map[types.InstanceStateName]int32{
	types.InstanceStateNamePending: 0, types.InstanceStateNameRunning: 16, types.InstanceStateNameShuttingDown: 32,
	types.InstanceStateNameTerminated: 48, types.InstanceStateNameStopping: 64, types.InstanceStateNameStopped: 80,
}

func shownState(s types.InstanceStateName) *types.InstanceState {
	return &types.InstanceState{Name: s, Code: aws.Int32(stateCodes[s])}
}

func incorrectState(i *instance, verb string) *wire.Error {
	return wire.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can %s. Its state is %s.", i.id, verb, i.state)
}

// machine is the instance as its host sees it.
func (reg *region) machine(i *instance) world.Machine {
	tags := map[string]string{}
	for k, v := range reg.tags[i.id] {
		tags[k] = v
	}
	m := world.Machine{
		InstanceID: i.id, Region: reg.name(), Account: reg.account, Zone: i.zone, Profile: i.profile,
		ImageID: i.image, UserData: i.userData, Tags: tags,
	}
	if attached := reg.attached(i.id); len(attached) > 0 {
		m.PrivateIP = attached[0].primary()
	}
	return m
}

var _ world.Inventory = (*EC2)(nil)

// Instances implements world.Inventory.
func (e *EC2) Instances() []world.Instance {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []world.Instance
	for _, reg := range e.regions {
		for _, i := range reg.instances.all() {
			if i.state != types.InstanceStateNameTerminated {
				all = append(all, world.Instance{Machine: reg.machine(i), State: string(i.state), Type: string(i.size), Launched: i.launched})
			}
		}
	}
	return all
}

func (reg *region) showInstance(i *instance) types.Instance {
	shown := types.Instance{
		InstanceId: aws.String(i.id), AmiLaunchIndex: aws.Int32(i.index), ImageId: aws.String(i.image), InstanceType: i.size,
		LaunchTime: aws.Time(i.launched), State: shownState(i.state), StateReason: i.reason, StateTransitionReason: aws.String(i.transition),
		Placement:    &types.Placement{AvailabilityZone: aws.String(i.zone), AvailabilityZoneId: aws.String(zoneID(reg.name(), i.zone)), Tenancy: types.TenancyDefault},
		Architecture: types.ArchitectureValuesX8664, Hypervisor: types.HypervisorTypeXen, VirtualizationType: types.VirtualizationTypeHvm,
		RootDeviceType: types.DeviceTypeEbs, RootDeviceName: aws.String("/dev/xvda"), PlatformDetails: aws.String("Linux/UNIX"),
		Monitoring:         &types.Monitoring{State: types.MonitoringStateDisabled},
		MaintenanceOptions: &types.InstanceMaintenanceOptions{AutoRecovery: i.autoRecovery, RebootMigration: i.rebootMigration},
		MetadataOptions:    &types.InstanceMetadataOptionsResponse{State: types.InstanceMetadataOptionsStateApplied, HttpTokens: types.HttpTokensStateRequired, HttpEndpoint: types.InstanceMetadataEndpointStateEnabled, HttpPutResponseHopLimit: aws.Int32(2)},
		EnaSupport:         aws.Bool(true), EbsOptimized: aws.Bool(false), Tags: reg.shownTags(i.id),
	}
	if i.token != "" {
		shown.ClientToken = aws.String(i.token)
	}
	if i.key != "" {
		shown.KeyName = aws.String(i.key)
	}
	if i.profile != "" {
		shown.IamInstanceProfile = &types.IamInstanceProfile{Arn: aws.String(i.profile), Id: aws.String(i.profileID)}
	}
	// A terminated instance has lost its network.
	if i.state == types.InstanceStateNameTerminated {
		return shown
	}
	shown.SubnetId, shown.VpcId = aws.String(i.subnet), aws.String(i.vpc)
	for n, a := range reg.attached(i.id) {
		if n == 0 {
			shown.PrivateIpAddress, shown.PrivateDnsName = aws.String(a.primary()), aws.String(privateName(reg.name(), a.primary()))
			shown.SecurityGroups, shown.SourceDestCheck = reg.showGroups(a.groups), aws.Bool(a.check)
		}
		shown.NetworkInterfaces = append(shown.NetworkInterfaces, reg.showAttached(a))
	}
	return shown
}

func (reg *region) showAttached(i *iface) types.InstanceNetworkInterface {
	n := reg.showInterface(i)
	shown := types.InstanceNetworkInterface{
		NetworkInterfaceId: n.NetworkInterfaceId, SubnetId: n.SubnetId, VpcId: n.VpcId, OwnerId: n.OwnerId, MacAddress: n.MacAddress,
		PrivateIpAddress: n.PrivateIpAddress, PrivateDnsName: n.PrivateDnsName, SourceDestCheck: n.SourceDestCheck, Groups: n.Groups,
		Description: n.Description, Status: n.Status, InterfaceType: aws.String(string(n.InterfaceType)),
		Attachment: &types.InstanceNetworkInterfaceAttachment{
			AttachmentId: n.Attachment.AttachmentId, DeviceIndex: n.Attachment.DeviceIndex, AttachTime: n.Attachment.AttachTime,
			Status: n.Attachment.Status, DeleteOnTermination: n.Attachment.DeleteOnTermination, NetworkCardIndex: n.Attachment.NetworkCardIndex,
		},
	}
	for _, a := range n.PrivateIpAddresses {
		shown.PrivateIpAddresses = append(shown.PrivateIpAddresses, types.InstancePrivateIpAddress{
			PrivateIpAddress: a.PrivateIpAddress, Primary: a.Primary, PrivateDnsName: a.PrivateDnsName,
		})
	}
	return shown
}

// DescribeInstances lists instances by reservation, terminated ones for an
// hour.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
func (e *EC2) DescribeInstances(r *wire.Request, in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	if in.MaxResults != nil && len(in.InstanceIds) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	e.sweep(reg)
	picked, err := pick(reg, &reg.instances, query{in.InstanceIds, kindInstance, in.Filters}, reg.instanceAttributes)
	if err != nil {
		return nil, err
	}
	picked, next, err := page(picked, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	for n, i := range picked {
		if n == 0 || picked[n-1].reservation != i.reservation {
			out.Reservations = append(out.Reservations, types.Reservation{ReservationId: aws.String(i.reservation), OwnerId: aws.String(reg.account)})
		}
		last := &out.Reservations[len(out.Reservations)-1]
		last.Instances = append(last.Instances, reg.showInstance(i))
	}
	return out, nil
}

// sweep forgets instances that have been terminated for an hour.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/terminating-instances.html
func (e *EC2) sweep(reg *region) {
	now := e.world.Clock.Now()
	for id, i := range reg.instances.all() {
		if i.state == types.InstanceStateNameTerminated && now.Sub(i.terminated) > time.Hour {
			reg.instances.remove(id)
			delete(reg.tags, id)
		}
	}
}

func (reg *region) instanceAttributes(i *instance) attributes {
	a := attributes{
		"instance-id": {i.id}, "reservation-id": {i.reservation}, "image-id": {i.image}, "instance-type": {string(i.size)}, "owner-id": {reg.account},
		"availability-zone": {i.zone}, "subnet-id": {i.subnet}, "vpc-id": {i.vpc}, "client-token": {i.token}, "key-name": {i.key},
		"instance-state-name": {string(i.state)}, "instance-state-code": {strconv.Itoa(int(stateCodes[i.state]))},
		"iam-instance-profile.arn": {i.profile}, "iam-instance-profile.id": {i.profileID}, "launch-time": {i.launched.Format("2006-01-02T15:04:05.000Z")},
		"private-ip-address": nil, "private-dns-name": nil, "instance.group-id": nil, "instance.group-name": nil, "source-dest-check": nil,
		"network-interface.network-interface-id": nil, "network-interface.addresses.private-ip-address": nil,
		"network-interface.subnet-id": nil, "network-interface.vpc-id": nil, "network-interface.group-id": nil,
	}
	for n, f := range reg.attached(i.id) {
		if n == 0 {
			a["private-ip-address"] = []string{f.primary()}
			a["private-dns-name"] = []string{privateName(reg.name(), f.primary())}
			a["source-dest-check"] = boolValue(f.check)
			a["instance.group-id"] = f.groups
			for _, g := range reg.showGroups(f.groups) {
				a["instance.group-name"] = append(a["instance.group-name"], aws.ToString(g.GroupName))
			}
		}
		add := func(name string, values ...string) {
			name = "network-interface." + name
			a[name] = append(a[name], values...)
		}
		add("network-interface-id", f.id)
		add("subnet-id", f.subnet)
		add("vpc-id", f.vpc)
		add("group-id", f.groups...)
		for _, ip := range f.addresses {
			add("addresses.private-ip-address", ip.String())
		}
	}
	return a
}

// because renders why an instance changed its state, as AWS words it.
func because(code, message string) *types.StateReason {
	return &types.StateReason{Code: aws.String(code), Message: aws.String(code + ": " + message)}
}

func (i *instance) initiated(now time.Time) {
	i.transition = fmt.Sprintf("User initiated (%s)", now.Format("2006-01-02 15:04:05 MST"))
}
