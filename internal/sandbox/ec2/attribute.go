package ec2

import (
	"encoding/base64"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// ModifyInstanceAttribute changes one attribute of an instance.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceAttribute.html
func (e *EC2) ModifyInstanceAttribute(r *wire.Request, in *ec2.ModifyInstanceAttributeInput) (*ec2.ModifyInstanceAttributeOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.instances, kindInstance, "instanceId", in.InstanceId)
	if err != nil {
		return nil, err
	}
	if i.state == types.InstanceStateNameTerminated {
		return nil, incorrectState(i, "be modified")
	}
	if in.Attribute != "" && in.Value != nil {
		if err := byName(in); err != nil {
			return nil, err
		}
	}
	var changes []func()
	set := func(b *bool, v *types.AttributeBooleanValue) {
		if v != nil {
			changes = append(changes, func() { *b = aws.ToBool(v.Value) })
		}
	}
	set(&i.stopProtected, in.DisableApiStop)
	set(&i.terminationProtected, in.DisableApiTermination)
	if v := in.InstanceInitiatedShutdownBehavior; v != nil {
		changes = append(changes, func() { i.shutdownBehavior = types.ShutdownBehavior(aws.ToString(v.Value)) })
	}
	if v := in.InstanceType; v != nil {
		if i.state != types.InstanceStateNameStopped {
			return nil, incorrectState(i, "change its type")
		}
		changes = append(changes, func() { i.size = types.InstanceType(aws.ToString(v.Value)) })
	}
	if in.SourceDestCheck != nil || len(in.Groups) > 0 {
		attached := reg.attached(i.id)
		if len(attached) != 1 {
			return nil, wire.Errorf("InvalidInstanceID", "There are multiple interfaces attached to instance '%s'. Please specify an interface ID for the operation instead.", i.id)
		}
		set(&attached[0].check, in.SourceDestCheck)
		if len(in.Groups) > 0 {
			groups, err := reg.groupsIn(i.vpc, in.Groups)
			if err != nil {
				return nil, err
			}
			changes = append(changes, func() { attached[0].groups = groups })
		}
	}
	if len(changes) != 1 {
		return nil, wire.Errorf("InvalidParameterCombination", "Exactly one attribute that the sandbox simulates must be specified, not %d", len(changes))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	changes[0]()
	return &ec2.ModifyInstanceAttributeOutput{}, nil
}

// byName brings the older form of the call, an attribute's name and a text, to
// the newer one.
func byName(in *ec2.ModifyInstanceAttributeInput) error {
	v, err := strconv.ParseBool(*in.Value)
	b := &types.AttributeBooleanValue{Value: aws.Bool(v)}
	switch in.Attribute {
	case types.InstanceAttributeNameDisableApiStop:
		in.DisableApiStop = b
	case types.InstanceAttributeNameDisableApiTermination:
		in.DisableApiTermination = b
	case types.InstanceAttributeNameSourceDestCheck:
		in.SourceDestCheck = b
	default:
		return notSimulated("changing the attribute " + string(in.Attribute) + " by name")
	}
	if err != nil {
		return invalidValue("value", *in.Value, "Expecting true or false.")
	}
	return nil
}

// DescribeInstanceAttribute shows one attribute of an instance.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceAttribute.html
func (e *EC2) DescribeInstanceAttribute(r *wire.Request, in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.instances, kindInstance, "instanceId", in.InstanceId)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceAttributeOutput{InstanceId: aws.String(i.id)}
	flag := func(b bool) *types.AttributeBooleanValue { return &types.AttributeBooleanValue{Value: aws.Bool(b)} }
	switch in.Attribute {
	case types.InstanceAttributeNameDisableApiStop:
		out.DisableApiStop = flag(i.stopProtected)
	case types.InstanceAttributeNameDisableApiTermination:
		out.DisableApiTermination = flag(i.terminationProtected)
	case types.InstanceAttributeNameInstanceInitiatedShutdownBehavior:
		out.InstanceInitiatedShutdownBehavior = &types.AttributeValue{Value: aws.String(string(i.shutdownBehavior))}
	case types.InstanceAttributeNameInstanceType:
		out.InstanceType = &types.AttributeValue{Value: aws.String(string(i.size))}
	case types.InstanceAttributeNameUserData:
		out.UserData = &types.AttributeValue{Value: aws.String(base64.StdEncoding.EncodeToString([]byte(i.userData)))}
	case types.InstanceAttributeNameSourceDestCheck, types.InstanceAttributeNameGroupSet:
		attached := reg.attached(i.id)
		if len(attached) == 0 {
			return nil, incorrectState(i, "show its network interface")
		}
		if in.Attribute == types.InstanceAttributeNameSourceDestCheck {
			out.SourceDestCheck = flag(attached[0].check)
		} else {
			out.Groups = reg.showGroups(attached[0].groups)
		}
	default:
		return nil, notSimulated("the attribute " + string(in.Attribute))
	}
	return out, nil
}

// ModifyInstanceMaintenanceOptions turns automatic recovery off or on.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceMaintenanceOptions.html
func (e *EC2) ModifyInstanceMaintenanceOptions(r *wire.Request, in *ec2.ModifyInstanceMaintenanceOptionsInput) (*ec2.ModifyInstanceMaintenanceOptionsOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	i, err := one(&reg.instances, kindInstance, "instanceId", in.InstanceId)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if in.AutoRecovery != "" {
		i.autoRecovery = in.AutoRecovery
	}
	if in.RebootMigration != "" {
		i.rebootMigration = in.RebootMigration
	}
	return &ec2.ModifyInstanceMaintenanceOptionsOutput{InstanceId: aws.String(i.id), AutoRecovery: i.autoRecovery, RebootMigration: i.rebootMigration}, nil
}
