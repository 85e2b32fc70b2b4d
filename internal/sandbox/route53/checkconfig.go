package route53

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// maxSearchString bounds the string that an endpoint's body must hold.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_HealthCheckConfig.html
const maxSearchString = 255

// maxChildren is how many health checks one can combine.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/dns-failover-determining-health-of-endpoints.html
const maxChildren = 255

// probes reports whether a health check of this type sends requests.
func probes(kind types.HealthCheckType) bool {
	return kind != types.HealthCheckTypeCalculated && kind != types.HealthCheckTypeCloudwatchMetric && kind != types.HealthCheckTypeRecoveryControl
}

// searches reports whether a health check of this type reads the body.
func searches(kind types.HealthCheckType) bool {
	return kind == types.HealthCheckTypeHttpStrMatch || kind == types.HealthCheckTypeHttpsStrMatch
}

func encrypted(kind types.HealthCheckType) bool {
	return kind == types.HealthCheckTypeHttps || kind == types.HealthCheckTypeHttpsStrMatch
}

// withDefaults fills in what Route 53 shows for settings that were left out.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_HealthCheckConfig.html
func withDefaults(c types.HealthCheckConfig) types.HealthCheckConfig {
	orElse := func(p **bool) {
		if *p == nil {
			*p = aws.Bool(false)
		}
	}
	number := func(p **int32, v int32) {
		if *p == nil {
			*p = aws.Int32(v)
		}
	}
	orElse(&c.Inverted)
	orElse(&c.Disabled)
	if !probes(c.Type) {
		return c
	}
	orElse(&c.MeasureLatency)
	number(&c.RequestInterval, 30)
	number(&c.FailureThreshold, 3)
	switch {
	case encrypted(c.Type):
		number(&c.Port, 443)
		if c.EnableSNI == nil {
			c.EnableSNI = aws.Bool(true)
		}
	case c.Type != types.HealthCheckTypeTcp:
		number(&c.Port, 80)
	}
	if c.EnableSNI == nil {
		c.EnableSNI = aws.Bool(false)
	}
	return c
}

// updated returns c with what in sets.
func updated(c types.HealthCheckConfig, in *api.UpdateHealthCheckInput) types.HealthCheckConfig {
	for _, reset := range in.ResetElements {
		switch reset {
		case types.ResettableElementNameFullyQualifiedDomainName:
			c.FullyQualifiedDomainName = nil
		case types.ResettableElementNameRegions:
			c.Regions = nil
		case types.ResettableElementNameResourcePath:
			c.ResourcePath = nil
		case types.ResettableElementNameChildHealthChecks:
			c.ChildHealthChecks = nil
		}
	}
	take(&c.AlarmIdentifier, in.AlarmIdentifier)
	take(&c.Disabled, in.Disabled)
	take(&c.EnableSNI, in.EnableSNI)
	take(&c.FailureThreshold, in.FailureThreshold)
	take(&c.FullyQualifiedDomainName, in.FullyQualifiedDomainName)
	take(&c.HealthThreshold, in.HealthThreshold)
	take(&c.IPAddress, in.IPAddress)
	take(&c.Inverted, in.Inverted)
	take(&c.Port, in.Port)
	take(&c.ResourcePath, in.ResourcePath)
	take(&c.SearchString, in.SearchString)
	if in.InsufficientDataHealthStatus != "" {
		c.InsufficientDataHealthStatus = in.InsufficientDataHealthStatus
	}
	if in.ChildHealthChecks != nil {
		c.ChildHealthChecks = in.ChildHealthChecks
	}
	if in.Regions != nil {
		c.Regions = in.Regions
	}
	return c
}

func take[T any](to **T, from *T) {
	if from != nil {
		*to = from
	}
}

// checkConfig says what is wrong with settings. The caller holds mu.
func (r *Route53) checkConfig(self *check, c types.HealthCheckConfig) error {
	switch {
	case !slices.Contains(c.Type.Values(), c.Type):
		return invalid("Type %q is unknown.", c.Type)
	case c.Type == types.HealthCheckTypeCalculated:
		return r.checkCalculated(self, c)
	case c.Type == types.HealthCheckTypeCloudwatchMetric:
		if c.AlarmIdentifier == nil || aws.ToString(c.AlarmIdentifier.Name) == "" || c.AlarmIdentifier.Region == "" {
			return invalid("A health check of type CLOUDWATCH_METRIC needs an AlarmIdentifier.")
		}
		return nil
	case c.Type == types.HealthCheckTypeRecoveryControl:
		if aws.ToString(c.RoutingControlArn) == "" {
			return invalid("A health check of type RECOVERY_CONTROL needs a RoutingControlArn.")
		}
		return nil
	}
	return checkEndpoint(c)
}

func checkEndpoint(c types.HealthCheckConfig) error {
	search := len(aws.ToString(c.SearchString))
	interval, threshold := aws.ToInt32(c.RequestInterval), aws.ToInt32(c.FailureThreshold)
	switch {
	case c.IPAddress == nil && aws.ToString(c.FullyQualifiedDomainName) == "":
		return invalid("A health check needs an IPAddress or a FullyQualifiedDomainName.")
	case c.Type == types.HealthCheckTypeTcp && c.Port == nil:
		return invalid("A health check of type TCP needs a Port.")
	case c.Port != nil && (*c.Port < 1 || *c.Port > 65535):
		return invalid("Port %d is not between 1 and 65535.", *c.Port)
	case interval != 10 && interval != 30:
		return invalid("RequestInterval must be 10 or 30, not %d.", interval)
	case threshold < 1 || threshold > 10:
		return invalid("FailureThreshold must be between 1 and 10, not %d.", threshold)
	case searches(c.Type) && search == 0:
		return invalid("A health check of type %s needs a SearchString.", c.Type)
	case search > maxSearchString:
		return invalid("SearchString has %d characters, more than %d.", search, maxSearchString)
	case search > 0 && !searches(c.Type):
		return invalid("SearchString does not belong to a health check of type %s.", c.Type)
	case len(c.Regions) > 0 && len(c.Regions) < 3:
		return invalid("Regions must hold at least three Regions.")
	}
	if c.IPAddress == nil {
		return nil
	}
	ip, err := netip.ParseAddr(*c.IPAddress)
	switch {
	case err != nil:
		return invalid("IPAddress %q is not an address.", *c.IPAddress)
	case !public(ip):
		return invalid("Route 53 cannot check IPAddress %s: it is local, private, nonroutable or multicast.", ip)
	}
	return nil
}

// public reports whether checkers can reach an address. Loopback stands for
// the Internet in the sandbox; on AWS it is refused like the others.
func public(ip netip.Addr) bool {
	return ip.IsLoopback() || ip.IsGlobalUnicast() && !ip.IsPrivate()
}

func (r *Route53) checkCalculated(self *check, c types.HealthCheckConfig) error {
	threshold := aws.ToInt32(c.HealthThreshold)
	switch {
	case c.HealthThreshold == nil || threshold < 0 || threshold > 256:
		return invalid("A health check of type CALCULATED needs a HealthThreshold between 0 and 256.")
	case len(c.ChildHealthChecks) > maxChildren:
		return invalid("A health check of type CALCULATED has at most %d children.", maxChildren)
	}
	for _, id := range c.ChildHealthChecks {
		child, err := r.check(self.account, &id)
		if err != nil {
			return err
		}
		if child.config.Type == types.HealthCheckTypeCalculated {
			return invalid("A calculated health check cannot watch %s, which is calculated itself.", id)
		}
	}
	return nil
}

// stream returns the data of an alarm, if Route 53 can watch it.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/health-checks-creating-values.html#health-checks-creating-values-cloudwatch
func (r *Route53) stream(account string, a *types.AlarmIdentifier) (world.AlarmStream, error) {
	none := world.AlarmStream{}
	if r.world.Alarms == nil {
		return none, invalid("There is no CloudWatch.")
	}
	s, ok := r.world.Alarms.AlarmStream(string(a.Region), account, *a.Name)
	switch {
	case !ok:
		return none, invalid("There is no metric alarm %s in %s of this account.", *a.Name, a.Region)
	case s.Metric == "":
		return none, invalid("Route 53 cannot watch an alarm on an expression.")
	case s.Period.Seconds() < 60:
		return none, invalid("Route 53 cannot watch a high-resolution alarm (period %s).", s.Period)
	case s.ToAlarm != s.Periods:
		return none, invalid("Route 53 cannot watch an alarm on M out of N datapoints (%d of %d).", s.ToAlarm, s.Periods)
	case !slices.Contains(types.Statistic("").Values(), types.Statistic(s.Statistic)):
		return none, invalid("Route 53 cannot watch an alarm on the statistic %s.", s.Statistic)
	}
	return s, nil
}
