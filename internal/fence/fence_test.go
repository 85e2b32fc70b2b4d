package fence

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const table = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"

var node = failover.NodeConfig{ID: "a", Instance: "i-0a"}

// cloud is EC2 with one instance.
type cloud struct {
	instance         *types.Instance
	status           []types.InstanceStatus
	readErr, statErr error
	changeErr        error
	stopped          *ec2.StopInstancesInput
	started          *ec2.StartInstancesInput
	eni              *types.NetworkInterface
	grouped          *ec2.ModifyNetworkInterfaceAttributeInput
	readOnce         bool // the last DescribeInstances was not repeated by the SDK
}

func (c *cloud) DescribeInstances(_ context.Context, _ *ec2.DescribeInstancesInput, opts ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	c.readOnce = single(opts) == nil
	out := &ec2.DescribeInstancesOutput{}
	if c.instance != nil {
		out.Reservations = []types.Reservation{{Instances: []types.Instance{*c.instance}}}
	}
	return out, c.readErr
}

func (c *cloud) DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
	return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: c.status}, c.statErr
}

func (c *cloud) StopInstances(_ context.Context, in *ec2.StopInstancesInput, opts ...func(*ec2.Options)) (*ec2.StopInstancesOutput, error) {
	c.stopped = in
	return &ec2.StopInstancesOutput{}, errors.Join(c.changeErr, single(opts))
}

func (c *cloud) StartInstances(_ context.Context, in *ec2.StartInstancesInput, opts ...func(*ec2.Options)) (*ec2.StartInstancesOutput, error) {
	c.started = in
	return &ec2.StartInstancesOutput{}, errors.Join(c.changeErr, single(opts))
}

func (c *cloud) DescribeNetworkInterfaces(_ context.Context, _ *ec2.DescribeNetworkInterfacesInput, opts ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	out := &ec2.DescribeNetworkInterfacesOutput{}
	if c.eni != nil {
		out.NetworkInterfaces = []types.NetworkInterface{*c.eni}
	}
	return out, errors.Join(c.readErr, single(opts))
}

func (c *cloud) ModifyNetworkInterfaceAttribute(_ context.Context, in *ec2.ModifyNetworkInterfaceAttributeInput, opts ...func(*ec2.Options)) (*ec2.ModifyNetworkInterfaceAttributeOutput, error) {
	c.grouped = in
	return &ec2.ModifyNetworkInterfaceAttributeOutput{}, errors.Join(c.changeErr, single(opts))
}

func single(opts []func(*ec2.Options)) error {
	var o ec2.Options
	for _, f := range opts {
		f(&o)
	}
	if o.RetryMaxAttempts != 1 {
		return errors.New("the SDK may repeat this change")
	}
	return nil
}

func instance(state types.InstanceStateName, tags ...string) *types.Instance {
	i := &types.Instance{InstanceId: aws.String("i-0a"), State: &types.InstanceState{Name: state}}
	for n := 0; n < len(tags); n += 2 {
		i.Tags = append(i.Tags, types.Tag{Key: aws.String(tags[n]), Value: aws.String(tags[n+1])})
	}
	return i
}

func statuses(instance, system types.SummaryStatus) []types.InstanceStatus {
	return []types.InstanceStatus{{
		InstanceStatus: &types.InstanceStatusSummary{Status: instance}, SystemStatus: &types.InstanceStatusSummary{Status: system},
	}}
}

func TestState(t *testing.T) {
	const ok, bad, initializing = types.SummaryStatusOk, types.SummaryStatusImpaired, types.SummaryStatusInitializing
	boom := errors.New("boom")
	tests := []struct {
		name  string
		cloud cloud
		state failover.InstanceState
		check string
		fails bool
	}{
		{"running well", cloud{instance: instance("running"), status: statuses(ok, ok)}, failover.InstanceRunning, "ok", false},
		{"system impaired", cloud{instance: instance("running"), status: statuses(ok, bad)}, failover.InstanceRunning, "impaired", false},
		{"instance impaired", cloud{instance: instance("running"), status: statuses(bad, ok)}, failover.InstanceRunning, "impaired", false},
		{"just started", cloud{instance: instance("running"), status: statuses(initializing, ok)}, failover.InstanceRunning, "", false},
		{"no status yet", cloud{instance: instance("running")}, failover.InstanceRunning, "", false},
		{"status not readable", cloud{instance: instance("running"), statErr: boom}, failover.InstanceRunning, "", false},
		{"stopping", cloud{instance: instance("stopping")}, failover.InstanceStopping, "", false},
		{"stopped", cloud{instance: instance("stopped")}, failover.InstanceStopped, "", false},
		{"terminated", cloud{instance: instance("terminated")}, failover.InstanceTerminated, "", false},
		{"unknown instance: not taken for dead", cloud{}, failover.InstanceUnknown, "", true},
		{"read fails", cloud{readErr: boom}, failover.InstanceUnknown, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, check, err := NewInstances(&tt.cloud, clock.System(), table, "orders").State(t.Context(), node)
			if state != tt.state || check != tt.check || (err != nil) != tt.fails {
				t.Errorf("State = %q, %q, %v; want %q, %q", state, check, err, tt.state, tt.check)
			}
		})
	}
}

func TestStop(t *testing.T) {
	tests := []struct {
		name  string
		cloud cloud
		want  failover.Outcome
		says  string
		sent  bool
	}{
		{name: "accepted", cloud: cloud{instance: instance("running", TagTable, table, TagGroup, "orders")}, want: failover.OK, sent: true},
		{name: "untagged", cloud: cloud{instance: instance("running", "Name", "db-a")}, want: failover.OK, sent: true},
		{name: "R15: stop protection rejects it", cloud: cloud{instance: instance("running"), changeErr: &smithy.GenericAPIError{Code: "OperationNotPermitted"}}, want: failover.Failed, says: "i-0a", sent: true},
		{name: "R23: no answer", cloud: cloud{instance: instance("running"), changeErr: errors.New("reset")}, want: failover.Unknown, says: "i-0a", sent: true},
		{name: "R12: another table owns it", cloud: cloud{instance: instance("running", TagTable, table+"2")}, want: failover.Failed, says: "another control plane"},
		{name: "R12: another group owns it", cloud: cloud{instance: instance("running", TagTable, table, TagGroup, "invoices")}, want: failover.Failed, says: "invoices"},
		{name: "no rejection: throttled", cloud: cloud{instance: instance("running"), changeErr: &smithy.GenericAPIError{Code: "RequestLimitExceeded"}}, want: failover.Unknown, says: "RequestLimitExceeded", sent: true},
		{name: "no rejection: the machine is just starting", cloud: cloud{instance: instance("pending"), changeErr: &smithy.GenericAPIError{Code: "IncorrectInstanceState"}}, want: failover.Unknown, says: "IncorrectInstanceState", sent: true},
		{name: "no rejection: EC2 could not be reached", cloud: cloud{instance: instance("running"), changeErr: &net.OpError{Op: "dial", Err: errors.New("timeout")}}, want: failover.Unknown, says: "dial", sent: true},
		{name: "no rejection: the owner can't be read now", cloud: cloud{readErr: errors.New("boom")}, want: failover.Unknown, says: "boom"},
		{name: "no rejection: reading the owner is throttled", cloud: cloud{readErr: &smithy.GenericAPIError{Code: "RequestLimitExceeded"}}, want: failover.Unknown, says: "RequestLimitExceeded"},
		{name: "the owner may not be read", cloud: cloud{readErr: &smithy.GenericAPIError{Code: "UnauthorizedOperation"}}, want: failover.Failed, says: "UnauthorizedOperation"},
		{name: "no such instance", cloud: cloud{}, want: failover.Failed, says: "no such instance"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NewInstances(&tt.cloud, clock.System(), table, "orders").Stop(t.Context(), node)
			if got != tt.want || (err == nil) != (tt.want == failover.OK) {
				t.Errorf("Stop = %s, %v; want %s", got, err, tt.want)
			}
			if !tt.cloud.readOnce {
				t.Error("R22: reading the owner may take longer than the check of the record is fresh")
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if (tt.cloud.stopped != nil) != tt.sent {
				t.Fatalf("StopInstances sent: %v, want %v", tt.cloud.stopped != nil, tt.sent)
			}
			if s := tt.cloud.stopped; s != nil && (!*s.Force || !*s.SkipOsShutdown || s.InstanceIds[0] != "i-0a") {
				t.Errorf("StopInstances %+v, want Force and SkipOsShutdown", s)
			}
		})
	}
}

func TestStart(t *testing.T) {
	c := cloud{instance: instance("stopped", TagTable, table)}
	if got, err := NewInstances(&c, clock.System(), table, "orders").Start(t.Context(), node); got != failover.OK || err != nil || c.started.InstanceIds[0] != "i-0a" {
		t.Errorf("Start = %s, %v", got, err)
	}
	c = cloud{instance: instance("stopped", TagTable, "other")}
	if got, err := NewInstances(&c, clock.System(), table, "orders").Start(t.Context(), node); got != failover.Failed || err == nil || c.started != nil {
		t.Errorf("Start of another's instance = %s, %v", got, err)
	}
}

// TestOwnerOfAMomentAgo (R12): who owns an instance is not asked again right after
// its state was read, unless that named somebody else.
func TestOwnerOfAMomentAgo(t *testing.T) {
	tests := []struct {
		name  string
		owner string
		age   time.Duration
		asks  bool
		want  failover.Outcome
	}{
		{"it is ours", table, time.Second, false, failover.OK},
		{"it was, some time ago", table, 6 * time.Second, true, failover.OK},
		{"it is somebody else's", table + "2", time.Second, true, failover.Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cloud{instance: instance("running", TagTable, tt.owner)}
			now := clock.NewManual(time.Unix(1_800_000_000, 0), func(context.Context) error { return nil })
			i := NewInstances(&c, now, table, "orders")
			if _, _, err := i.State(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			if err := now.Advance(t.Context(), tt.age); err != nil {
				t.Fatal(err)
			}
			c.readOnce = false
			if got, _ := i.Stop(t.Context(), node); got != tt.want || c.readOnce != tt.asks {
				t.Errorf("Stop = %s, asked %v", got, c.readOnce)
			}
		})
	}
}
