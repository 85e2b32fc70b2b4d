package route53

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// healthyShare is the share of checkers, in percent, of which more must find an
// endpoint healthy.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/dns-failover-determining-health-of-endpoints.html
const healthyShare = 18

// enough reports whether an endpoint is healthy by the votes of its checkers.
// Before there are any it is.
func enough(healthy, total int) bool {
	return total == 0 || 100*healthy > healthyShare*total
}

// streak counts the probes in a row that contradict the status of an endpoint.
type streak struct {
	unhealthy bool
	against   int32
}

// add counts a probe: an endpoint changes its status after threshold probes in
// a row.
func (s *streak) add(pass bool, threshold int32) {
	if pass == !s.unhealthy {
		s.against = 0
		return
	}
	if s.against++; s.against >= threshold {
		s.unhealthy, s.against = !s.unhealthy, 0
	}
}

// settle applies what all types have in common: a disabled check is healthy,
// and Inverted turns the result over, also of a disabled check.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_HealthCheckConfig.html
func settle(c types.HealthCheckConfig, healthy func() bool) bool {
	return (aws.ToBool(c.Disabled) || healthy()) != aws.ToBool(c.Inverted)
}

// calculated reports whether enough children are healthy.
func calculated(threshold int32, children []bool) bool {
	healthy := int32(0)
	for _, c := range children {
		if c {
			healthy++
		}
	}
	return healthy >= threshold
}

// watched returns the status by the data of an alarm. last is the last status
// that data decided, nil if there is none.
func watched(state world.AlarmState, missing types.InsufficientDataHealthStatus, last *bool) bool {
	switch state {
	case world.AlarmOK:
		return true
	case world.AlarmRed:
		return false
	}
	switch missing {
	case types.InsufficientDataHealthStatusUnhealthy:
		return false
	case types.InsufficientDataHealthStatusLastKnownStatus:
		return last == nil || *last
	default:
		return true
	}
}

// healthy returns the status of a health check. The caller holds mu.
func (r *Route53) healthy(c *check, now time.Time) bool {
	return settle(c.config, func() bool {
		switch c.config.Type {
		case types.HealthCheckTypeCalculated:
			var children []bool
			for _, id := range c.config.ChildHealthChecks {
				if child := r.checks[id]; child != nil {
					children = append(children, r.healthy(child, now))
				}
			}
			return calculated(aws.ToInt32(c.config.HealthThreshold), children)
		case types.HealthCheckTypeCloudwatchMetric:
			return r.watch(c, now)
		case types.HealthCheckTypeRecoveryControl:
			return r.controls[*c.config.RoutingControlArn]
		default:
			return !c.streak.unhealthy
		}
	})
}

// watch reads the data behind an alarm; the state of the alarm itself, which
// SetAlarmState changes, does not matter.
func (r *Route53) watch(c *check, now time.Time) bool {
	state := c.alarm.State(now)
	healthy := watched(state, c.config.InsufficientDataHealthStatus, c.last)
	if state == world.AlarmOK || state == world.AlarmRed {
		c.last = &healthy
	}
	return healthy
}

// checkerRegions are those from which Route 53 checks by default.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_HealthCheckConfig.html#Route53-Type-HealthCheckConfig-Regions
func checkerRegions(c types.HealthCheckConfig) []types.HealthCheckRegion {
	if len(c.Regions) > 0 {
		return c.Regions
	}
	return slices.Sorted(slices.Values(types.HealthCheckRegion("").Values()))
}
