package ec2

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxUserData is the limit before encoding.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
const maxUserData = 16 << 10

// launch remembers what a client token asked for and what it got.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
type launch struct {
	request   string
	instances []*instance
}

// plan is a checked RunInstances call.
type plan struct {
	count      int
	interfaces []planned
	userData   string
	profile    string
	tags       []types.Tag
	eniTags    []types.Tag
}

// planned is one interface of a launch: an existing one, or a specification.
type planned struct {
	existing            *iface
	spec                interfaceSpec
	device              int32
	deleteOnTermination bool
}

// RunInstances launches instances.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
func (e *EC2) RunInstances(r *wire.Request, in *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) {
	profile, err := e.profile(r, in.IamInstanceProfile)
	if err != nil {
		return nil, err
	}
	reg := e.enter(r)
	defer e.mu.Unlock()
	request, err := json.Marshal(in)
	if err != nil {
		return nil, wire.Errorf("InternalError", "%v", err).WithStatus(http.StatusInternalServerError)
	}
	token := aws.ToString(in.ClientToken)
	if earlier, ok := reg.launches[token]; ok && token != "" {
		if earlier.request != string(request) {
			return nil, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used with other parameters", token)
		}
		return reg.showLaunch(earlier.instances), nil
	}
	p, err := reg.plan(in)
	if err != nil {
		return nil, err
	}
	p.profile = profile
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	instances, err := e.launch(reg, in, p)
	if err != nil {
		return nil, err
	}
	if token != "" {
		reg.launches[token] = launch{request: string(request), instances: instances}
	}
	return reg.showLaunch(instances), nil
}

// profile resolves an instance profile and checks that the caller may pass its
// role. It returns the profile's ARN.
func (e *EC2) profile(r *wire.Request, in *types.IamInstanceProfileSpecification) (string, error) {
	if in == nil {
		return "", nil
	}
	name, parameter := aws.ToString(in.Name), "iamInstanceProfile.name"
	if name == "" {
		name, parameter = aws.ToString(in.Arn), "iamInstanceProfile.arn"
	}
	role, err := e.world.Identity.InstanceProfileRole(name)
	if err != nil {
		return "", invalidValue(parameter, name, "Invalid IAM Instance Profile: "+err.Error())
	}
	if err := e.world.Identity.CheckPassRole(r.Caller.ARN, role, "ec2.amazonaws.com"); err != nil {
		if denied := (*wire.Error)(nil); errors.As(err, &denied) {
			return "", denied
		}
		return "", wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. %v", err).WithStatus(http.StatusForbidden)
	}
	if strings.HasPrefix(name, "arn:") {
		return name, nil
	}
	return "arn:aws:iam::" + r.Account + ":instance-profile/" + name, nil
}

func (reg *region) plan(in *ec2.RunInstancesInput) (plan, error) {
	var p plan
	least, most := aws.ToInt32(in.MinCount), aws.ToInt32(in.MaxCount)
	switch {
	case in.LaunchTemplate != nil:
		return p, notSimulated("launch templates")
	case in.InstanceMarketOptions != nil:
		return p, notSimulated("spot instances")
	case in.HibernationOptions != nil && aws.ToBool(in.HibernationOptions.Configured):
		return p, notSimulated("hibernation")
	case aws.ToString(in.ImageId) == "":
		return p, missingParameter("ImageId")
	case !strings.HasPrefix(*in.ImageId, "ami-"):
		return p, wire.Errorf("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", *in.ImageId)
	case least < 1 || most < least:
		return p, wire.Errorf("InvalidParameterValue", "Invalid count: MinCount %d, MaxCount %d", least, most)
	}
	p.count = int(most)
	data, err := base64.StdEncoding.DecodeString(aws.ToString(in.UserData))
	if err != nil {
		return p, wire.Errorf("InvalidParameterValue", "Invalid BASE64 encoding of user data.")
	}
	if len(data) > maxUserData {
		return p, wire.Errorf("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	p.userData = string(data)
	kinds := []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeNetworkInterface, types.ResourceTypeVolume}
	if p.tags, err = specified(in.TagSpecifications, types.ResourceTypeInstance, kinds...); err != nil {
		return p, err
	}
	if p.eniTags, err = specified(in.TagSpecifications, types.ResourceTypeNetworkInterface, kinds...); err != nil {
		return p, err
	}
	p.interfaces, err = reg.plannedInterfaces(in)
	return p, err
}

func (reg *region) plannedInterfaces(in *ec2.RunInstancesInput) ([]planned, error) {
	if len(in.SecurityGroups) > 0 {
		return nil, notSimulated("security groups by name: use SecurityGroupIds")
	}
	if len(in.NetworkInterfaces) == 0 {
		if in.SubnetId == nil {
			return nil, wire.Errorf("VPCIdNotSpecified", "No default VPC for this user. Specify a subnet.")
		}
		if in.PrivateIpAddress != nil && aws.ToInt32(in.MaxCount) > 1 {
			return nil, wire.Errorf("InvalidParameterCombination", "A private IP address cannot be given to more than one instance")
		}
		return []planned{{spec: interfaceSpec{subnet: in.SubnetId, primary: in.PrivateIpAddress, groups: in.SecurityGroupIds}, deleteOnTermination: true}}, nil
	}
	if in.SubnetId != nil || in.PrivateIpAddress != nil || len(in.SecurityGroupIds) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "Network interfaces and an instance-level subnet ID, address or security groups may not be specified on the same request")
	}
	var all []planned
	devices := map[int32]bool{}
	for _, s := range in.NetworkInterfaces {
		if s.DeviceIndex == nil {
			return nil, missingParameter("NetworkInterface.DeviceIndex")
		}
		if devices[*s.DeviceIndex] {
			return nil, wire.Errorf("InvalidParameterValue", "Device index %d is used twice", *s.DeviceIndex)
		}
		devices[*s.DeviceIndex] = true
		n := planned{device: *s.DeviceIndex, deleteOnTermination: s.NetworkInterfaceId == nil}
		if s.DeleteOnTermination != nil {
			n.deleteOnTermination = *s.DeleteOnTermination
		}
		if s.NetworkInterfaceId != nil {
			i, err := one(&reg.interfaces, kindInterface, "networkInterfaceId", s.NetworkInterfaceId)
			if err != nil {
				return nil, err
			}
			if i.instance != "" || aws.ToInt32(in.MaxCount) > 1 {
				return nil, wire.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", i.id)
			}
			n.existing = i
		} else {
			n.spec = interfaceSpec{subnet: s.SubnetId, description: s.Description, primary: s.PrivateIpAddress, addresses: s.PrivateIpAddresses, secondary: s.SecondaryPrivateIpAddressCount, groups: s.Groups}
		}
		all = append(all, n)
	}
	if !devices[0] {
		return nil, wire.Errorf("InvalidParameterCombination", "A network interface with device index 0 is required")
	}
	return all, nil
}

// launch makes all instances of a plan, or none.
func (e *EC2) launch(reg *region, in *ec2.RunInstancesInput, p plan) ([]*instance, error) {
	var instances []*instance
	var made []*iface
	undo := func(err error) ([]*instance, error) {
		for _, i := range made {
			reg.forget(i)
		}
		return nil, err
	}
	reservation := e.world.ID("r-")
	for n := range p.count {
		i := &instance{
			id: e.world.ID("i-"), reservation: reservation, token: aws.ToString(in.ClientToken), index: int32(n),
			image: *in.ImageId, key: aws.ToString(in.KeyName), size: in.InstanceType, profile: p.profile, userData: p.userData,
			launched: e.world.Clock.Now(), stopProtected: aws.ToBool(in.DisableApiStop), terminationProtected: aws.ToBool(in.DisableApiTermination),
			shutdownBehavior: in.InstanceInitiatedShutdownBehavior, autoRecovery: types.InstanceAutoRecoveryStateDefault, rebootMigration: types.InstanceRebootMigrationStateDefault,
		}
		if i.size == "" {
			i.size = types.InstanceTypeM1Small
		}
		if i.shutdownBehavior == "" {
			i.shutdownBehavior = types.ShutdownBehaviorStop
		}
		if m := in.MaintenanceOptions; m != nil && m.AutoRecovery != "" {
			i.autoRecovery = m.AutoRecovery
		}
		if p.profile != "" {
			i.profileID = "AIPA" + strings.ToUpper(e.world.Hex(17))
		}
		var own []*iface
		for _, n := range p.interfaces {
			f := n.existing
			if f == nil {
				var err error
				if f, err = reg.planInterface(n.spec); err != nil {
					return undo(err)
				}
				e.add(reg, f)
				made = append(made, f)
				if err := reg.tag(f.id, p.eniTags); err != nil {
					return undo(err)
				}
			}
			if len(own) > 0 && own[0].zone != f.zone {
				return undo(wire.Errorf("InvalidParameterCombination", "The network interfaces of an instance must be in one availability zone"))
			}
			own = append(own, f)
		}
		for n, f := range own {
			e.attach(f, i.id, p.interfaces[n].device, p.interfaces[n].deleteOnTermination)
			if p.interfaces[n].device == 0 {
				i.subnet, i.vpc, i.zone = f.subnet, f.vpc, f.zone
			}
		}
		instances = append(instances, i)
	}
	for _, i := range instances {
		reg.instances.put(i.id, i)
		if err := reg.tag(i.id, p.tags); err != nil {
			return nil, err
		}
		e.powerOn(reg, i)
	}
	return instances, nil
}

func (reg *region) showLaunch(instances []*instance) *ec2.RunInstancesOutput {
	out := &ec2.RunInstancesOutput{OwnerId: aws.String(reg.account), ReservationId: aws.String(instances[0].reservation)}
	for _, i := range instances {
		out.Instances = append(out.Instances, reg.showInstance(i))
	}
	return out
}
