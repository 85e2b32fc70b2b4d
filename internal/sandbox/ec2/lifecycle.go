package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// named returns the instances of a call, all of which must exist.
func (e *EC2) named(reg *region, ids []string) ([]*instance, error) {
	if len(ids) == 0 {
		return nil, missingParameter("InstanceId")
	}
	e.sweep(reg)
	return find(&reg.instances, kindInstance, ids)
}

// change runs f and reports the state before and after.
func change(i *instance, f func()) types.InstanceStateChange {
	before := i.state
	f()
	return types.InstanceStateChange{InstanceId: aws.String(i.id), PreviousState: shownState(before), CurrentState: shownState(i.state)}
}

// StartInstances starts stopped instances; running ones stay as they are.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StartInstances.html
func (e *EC2) StartInstances(r *wire.Request, in *ec2.StartInstancesInput) (*ec2.StartInstancesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	instances, err := e.named(reg, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, i := range instances {
		switch i.state {
		case types.InstanceStateNameStopped, types.InstanceStateNameRunning, types.InstanceStateNamePending:
		default:
			return nil, incorrectState(i, "be started")
		}
	}
	out := &ec2.StartInstancesOutput{}
	for _, i := range instances {
		out.StartingInstances = append(out.StartingInstances, change(i, func() {
			if i.state == types.InstanceStateNameStopped {
				e.powerOn(reg, i)
			}
		}))
	}
	return out, nil
}

// StopInstances stops running instances, and hurries stopping ones with Force
// or SkipOsShutdown. Stopped ones stay as they are. Force asks the operating
// system first; SkipOsShutdown cuts the power at once.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StopInstances.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-stop-protection.html
func (e *EC2) StopInstances(r *wire.Request, in *ec2.StopInstancesInput) (*ec2.StopInstancesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	instances, err := e.named(reg, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	how := stop{force: aws.ToBool(in.Force), skipping: aws.ToBool(in.SkipOsShutdown)}
	for _, i := range instances {
		switch {
		case i.state != types.InstanceStateNameRunning && i.state != types.InstanceStateNameStopping && i.state != types.InstanceStateNameStopped:
			return nil, incorrectState(i, "be stopped")
		case i.stopProtected:
			return nil, wire.Errorf("OperationNotPermitted", "The instance '%s' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.", i.id)
		case aws.ToBool(in.Hibernate):
			return nil, wire.Errorf("UnsupportedHibernationConfiguration", "The instance '%s' is not configured for hibernation.", i.id)
		}
	}
	out := &ec2.StopInstancesOutput{}
	for _, i := range instances {
		out.StoppingInstances = append(out.StoppingInstances, change(i, func() {
			hurry := i.state == types.InstanceStateNameStopping && (how.force || how.skipping)
			if i.state == types.InstanceStateNameRunning || hurry {
				e.powerOff(reg, i, how)
			}
		}))
	}
	return out, nil
}

// RebootInstances restarts the machines of running instances.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RebootInstances.html
func (e *EC2) RebootInstances(r *wire.Request, in *ec2.RebootInstancesInput) (*ec2.RebootInstancesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	instances, err := e.named(reg, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, i := range instances {
		if i.state != types.InstanceStateNameRunning {
			return nil, incorrectState(i, "be rebooted")
		}
	}
	for _, i := range instances {
		e.restart(reg, i)
	}
	return &ec2.RebootInstancesOutput{}, nil
}

// TerminateInstances ends instances for good.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
func (e *EC2) TerminateInstances(r *wire.Request, in *ec2.TerminateInstancesInput) (*ec2.TerminateInstancesOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	instances, err := e.named(reg, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, i := range instances {
		if i.terminationProtected {
			return nil, wire.Errorf("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.id)
		}
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, i := range instances {
		out.TerminatingInstances = append(out.TerminatingInstances, change(i, func() {
			if i.state != types.InstanceStateNameTerminated && i.state != types.InstanceStateNameShuttingDown {
				e.destroy(reg, i)
			}
		}))
	}
	return out, nil
}
