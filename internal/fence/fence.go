// Package fence stops and starts the machines of nodes.
package fence

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// API is what Instances needs of an EC2 client.
type API interface {
	DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, opts ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	DescribeInstanceStatus(ctx context.Context, in *ec2.DescribeInstanceStatusInput, opts ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error)
	StopInstances(ctx context.Context, in *ec2.StopInstancesInput, opts ...func(*ec2.Options)) (*ec2.StopInstancesOutput, error)
	StartInstances(ctx context.Context, in *ec2.StartInstancesInput, opts ...func(*ec2.Options)) (*ec2.StartInstancesOutput, error)
	DescribeNetworkInterfaces(ctx context.Context, in *ec2.DescribeNetworkInterfacesInput, opts ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error)
	ModifyNetworkInterfaceAttribute(ctx context.Context, in *ec2.ModifyNetworkInterfaceAttributeInput, opts ...func(*ec2.Options)) (*ec2.ModifyNetworkInterfaceAttributeOutput, error)
}

var errNoInstance = errors.New("EC2 knows no such instance")

// Tags that say which control plane may touch a resource (R12).
const (
	TagTable = "hadr:table" // ARN of the state table
	TagGroup = "hadr:group"
)

// Instances are the machines of one group in one Region.
type Instances struct {
	api      API
	clock    clock.Clock
	tableARN string
	group    string

	mu   sync.Mutex
	ours map[string]time.Time // when an instance was asked whose tags name nobody else
}

// oursFor is how long a look at the tags of an instance is good for a change of
// it: they are written once, by Terraform.
const oursFor = 5 * time.Second

var _ control.Instances = (*Instances)(nil)

// NewInstances returns the machines of a group that is recorded in the table
// with the given ARN.
func NewInstances(api API, c clock.Clock, tableARN, group string) *Instances {
	return &Instances{api: api, clock: c, tableARN: tableARN, group: group, ours: map[string]time.Time{}}
}

// State implements control.Instances. The status check is "" where it is not
// known: it never hides the state.
func (i *Instances) State(ctx context.Context, n failover.NodeConfig) (failover.InstanceState, string, error) {
	checked := make(chan string, 1) // side by side: a takeover waits for both
	go func() { checked <- i.check(ctx, n) }()
	inst, err := i.describe(ctx, n)
	check := <-checked
	if err != nil {
		return failover.InstanceUnknown, "", err
	}
	state := failover.InstanceState(inst.State.Name)
	if state != failover.InstanceRunning {
		return state, "", nil
	}
	return state, check, nil
}

func (i *Instances) describe(ctx context.Context, n failover.NodeConfig, opts ...func(*ec2.Options)) (types.Instance, error) {
	asked := i.clock.Now()
	out, err := i.api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{n.Instance}}, opts...)
	if err != nil {
		return types.Instance{}, fmt.Errorf("read instance %s of node %q: %w", n.Instance, n.ID, err)
	}
	for _, r := range out.Reservations {
		for _, inst := range r.Instances {
			if aws.ToString(inst.InstanceId) == n.Instance && inst.State != nil {
				i.note(n, inst, asked)
				return inst, nil
			}
		}
	}
	return types.Instance{}, fmt.Errorf("read instance %s of node %q: %w", n.Instance, n.ID, errNoInstance)
}

// note keeps when an instance was seen to be nobody else's.
func (i *Instances) note(n failover.NodeConfig, inst types.Instance, asked time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.ours, n.Instance)
	if Owned("instance", n.Instance, inst.Tags, i.tableARN, i.group) == nil {
		i.ours[n.Instance] = asked
	}
}

// isOurs reports whether that was a moment ago.
func (i *Instances) isOurs(n failover.NodeConfig) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	asked, ok := i.ours[n.Instance]
	return ok && i.clock.Now().Sub(asked) <= oursFor
}

// check sums up both status checks: impaired if one is, ok if both are
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html).
func (i *Instances) check(ctx context.Context, n failover.NodeConfig) string {
	out, err := i.api.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{InstanceIds: []string{n.Instance}})
	if err != nil || len(out.InstanceStatuses) != 1 {
		return ""
	}
	s := out.InstanceStatuses[0]
	if s.InstanceStatus == nil || s.SystemStatus == nil {
		return ""
	}
	switch {
	case s.InstanceStatus.Status == types.SummaryStatusImpaired || s.SystemStatus.Status == types.SummaryStatusImpaired:
		return "impaired"
	case s.InstanceStatus.Status == types.SummaryStatusOk && s.SystemStatus.Status == types.SummaryStatusOk:
		return "ok"
	}
	return ""
}

// Stop implements control.Instances. It cuts the machine off without its
// operating system's shutdown: an orderly stop of the database can make its
// log useless for a rejoin (R15). That the call worked is no fence: the
// caller reads the state.
func (i *Instances) Stop(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	if outcome, err := i.mine(ctx, n); err != nil {
		return outcome, err
	}
	_, err := i.api.StopInstances(ctx, &ec2.StopInstancesInput{
		InstanceIds: []string{n.Instance}, Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true),
	}, once)
	return outcome("stop", n, err)
}

// Start implements control.Instances.
func (i *Instances) Start(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	if outcome, err := i.mine(ctx, n); err != nil {
		return outcome, err
	}
	_, err := i.api.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{n.Instance}}, once)
	return outcome("start", n, err)
}

// once keeps the SDK from repeating a change seconds later, when the record
// may say something else (R22).
func once(o *ec2.Options) { o.RetryMaxAttempts = 1 }

func outcome(verb string, n failover.NodeConfig, err error) (failover.Outcome, error) {
	if err == nil {
		return failover.OK, nil
	}
	return rejected(err), fmt.Errorf("%s instance %s of node %q: %w", verb, n.Instance, n.ID, err)
}

// rejected is Failed only where EC2 said no for good, which no repetition
// changes. A throttled call, one that did not reach EC2, and a machine in
// between two states (IncorrectInstanceState) are Unknown: the caller reads the
// machine and asks again
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
func rejected(err error) failover.Outcome {
	var api smithy.APIError
	if !errors.As(err, &api) || awsclient.IsThrottle(err) || api.ErrorCode() == "IncorrectInstanceState" {
		return failover.Unknown
	}
	return awsclient.Outcome(err)
}

// mine refuses an instance that another control plane or group owns (R12). One
// without tags belongs to nobody else. It is read once, because the change that
// follows must not come long after the check of the record (R22), and not at all
// where its state was read a moment ago.
func (i *Instances) mine(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	if i.isOurs(n) {
		return failover.OK, nil
	}
	inst, err := i.describe(ctx, n, once)
	switch {
	case errors.Is(err, errNoInstance):
		return failover.Failed, err
	case err != nil:
		return rejected(err), err
	}
	if err := Owned("instance", n.Instance, inst.Tags, i.tableARN, i.group); err != nil {
		return failover.Failed, err
	}
	return failover.OK, nil
}

// Owned returns an error if tags say that a resource belongs to another state
// table or group (R12).
func Owned(kind, id string, tags []types.Tag, tableARN, group string) error {
	for _, t := range tags {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		if key == TagTable && value != tableARN || key == TagGroup && value != group {
			return fmt.Errorf("%s %s is tagged %s = %q, but this is group %q of table %s: another control plane owns it; correct the tag if that one is gone",
				kind, id, key, value, group, tableARN)
		}
	}
	return nil
}
