package ec2

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// checkInterval is how often AWS checks a running instance and publishes the
// result.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html
const checkInterval = time.Minute

// checks are the status checks of an instance while it runs.
type checks struct {
	cancel           context.CancelFunc
	known            bool // false = initializing
	system, instance check
}

// check is the newest result of one status check.
type check struct {
	failed bool
	since  time.Time
}

func (c *check) set(ok bool, now time.Time) {
	if ok {
		*c = check{}
	} else if !c.failed {
		*c = check{failed: true, since: now}
	}
}

func (c *checks) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	*c = checks{}
}

// phase spreads the first checks of instances over most of an interval.
func phase(id string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return 5*time.Second + time.Duration(h.Sum32()%45)*time.Second
}

// startChecks begins the checks of an instance that now runs. The lock is held.
func (e *EC2) startChecks(reg *region, i *instance) {
	i.checks.stop()
	ctx, cancel := context.WithCancel(e.ctx)
	i.checks.cancel = cancel
	e.spawn(func() {
		for wait := phase(i.id); e.wait(ctx, wait) == nil; wait = checkInterval {
			e.checkOnce(ctx, reg, i)
		}
	})
}

// checkOnce checks a machine, remembers the result and publishes it.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html#status-check-metrics
func (e *EC2) checkOnce(ctx context.Context, reg *region, i *instance) {
	system, machine := e.world.Hosts.Healthy(i.id)
	now := e.world.Clock.Now()
	e.settle(ctx, func() {
		i.checks.known = true
		i.checks.system.set(system, now)
		i.checks.instance.set(machine, now)
	})
	if ctx.Err() != nil || e.world.Metrics == nil {
		return
	}
	datum := func(name string, failed bool) world.Datum {
		d := world.Datum{Namespace: "AWS/EC2", Name: name, Dimensions: map[string]string{"InstanceId": i.id}, Time: now, Unit: "Count"}
		if failed {
			d.Value = 1
		}
		return d
	}
	e.world.Metrics.PutMetric(reg.name(), reg.account,
		datum("StatusCheckFailed", !system || !machine),
		datum("StatusCheckFailed_Instance", !machine),
		datum("StatusCheckFailed_System", !system))
}

// summary renders a check as of its last run.
func (c check) summary(known, running bool) *types.InstanceStatusSummary {
	detail := types.InstanceStatusDetails{Name: types.StatusNameReachability}
	switch {
	case !running:
		return &types.InstanceStatusSummary{Status: types.SummaryStatusNotApplicable}
	case !known:
		detail.Status = types.StatusTypeInitializing
		return &types.InstanceStatusSummary{Status: types.SummaryStatusInitializing, Details: []types.InstanceStatusDetails{detail}}
	case c.failed:
		detail.Status, detail.ImpairedSince = types.StatusTypeFailed, aws.Time(c.since)
		return &types.InstanceStatusSummary{Status: types.SummaryStatusImpaired, Details: []types.InstanceStatusDetails{detail}}
	}
	detail.Status = types.StatusTypePassed
	return &types.InstanceStatusSummary{Status: types.SummaryStatusOk, Details: []types.InstanceStatusDetails{detail}}
}

// DescribeInstanceStatus shows the newest checks of running instances, and of
// the others with IncludeAllInstances.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceStatus.html
func (e *EC2) DescribeInstanceStatus(r *wire.Request, in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	reg := e.enter(r)
	defer e.mu.Unlock()
	if in.MaxResults != nil && len(in.InstanceIds) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	e.sweep(reg)
	picked, err := pick(reg, &reg.instances, query{in.InstanceIds, kindInstance, in.Filters}, reg.statusAttributes)
	if err != nil {
		return nil, err
	}
	var all []types.InstanceStatus
	for _, i := range picked {
		if i.state == types.InstanceStateNameRunning || aws.ToBool(in.IncludeAllInstances) {
			all = append(all, reg.showStatus(i))
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken)
	return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: shown, NextToken: next}, err
}

func (reg *region) showStatus(i *instance) types.InstanceStatus {
	running := i.state == types.InstanceStateNameRunning
	return types.InstanceStatus{
		InstanceId: aws.String(i.id), AvailabilityZone: aws.String(i.zone), AvailabilityZoneId: aws.String(zoneID(reg.name(), i.zone)),
		InstanceState: shownState(i.state), SystemStatus: i.checks.system.summary(i.checks.known, running),
		InstanceStatus: i.checks.instance.summary(i.checks.known, running),
	}
}

func (reg *region) statusAttributes(i *instance) attributes {
	s := reg.showStatus(i)
	reachability := func(s *types.InstanceStatusSummary) []string {
		var all []string
		for _, d := range s.Details {
			all = append(all, string(d.Status))
		}
		return all
	}
	return attributes{
		"availability-zone": {i.zone}, "instance-state-name": {string(i.state)},
		"system-status.status": {string(s.SystemStatus.Status)}, "system-status.reachability": reachability(s.SystemStatus),
		"instance-status.status": {string(s.InstanceStatus.Status)}, "instance-status.reachability": reachability(s.InstanceStatus),
	}
}
