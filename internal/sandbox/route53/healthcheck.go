package route53

import (
	"context"
	"net/http"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// maxChecks is the quota of health checks for an account.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html#limits-api-entities-health-checks
const maxChecks = 200

// check is a health check. Its config is never changed: an update replaces it.
type check struct {
	id, account, reference string
	version                int64
	config                 types.HealthCheckConfig
	tags                   map[string]string

	stop   context.CancelFunc // of the checkers
	report *report            // of the newest probe; nil without data
	streak streak
	alarm  world.AlarmStream // of CLOUDWATCH_METRIC, with the settings of its alarm at the last update
	last   *bool             // of CLOUDWATCH_METRIC: the last status that data decided
}

func (c *check) identity() string { return c.id }

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_CreateHealthCheck.html
func (r *Route53) createHealthCheck(req *wire.Request, in *api.CreateHealthCheckInput) (*api.CreateHealthCheckOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reference := aws.ToString(in.CallerReference)
	switch {
	case reference == "":
		return nil, invalid("CallerReference must not be empty.")
	case in.HealthCheckConfig == nil:
		return nil, invalid("HealthCheckConfig must not be empty.")
	case r.used[req.Account+"/"+reference]:
		return nil, alreadyExists()
	}
	config := withDefaults(*in.HealthCheckConfig)
	for _, other := range r.checks {
		if other.account != req.Account || other.reference != reference {
			continue
		}
		if !reflect.DeepEqual(other.config, config) {
			return nil, alreadyExists()
		}
		return r.createdCheck(other), nil
	}
	c := &check{id: r.world.UUID(), account: req.Account, reference: reference, version: 1, tags: map[string]string{}}
	if len(r.ownedBy(req.Account)) >= maxChecks {
		return nil, wire.Errorf("TooManyHealthChecks", "This account has %d health checks already.", maxChecks)
	}
	if err := r.configure(c, config); err != nil {
		return nil, err
	}
	r.checks[c.id] = c
	return r.createdCheck(c), nil
}

func (r *Route53) createdCheck(c *check) *api.CreateHealthCheckOutput {
	return &api.CreateHealthCheckOutput{HealthCheck: c.show(), Location: aws.String("https://route53.amazonaws.com/2013-04-01/healthcheck/" + c.id)}
}

func alreadyExists() error {
	return wire.Errorf("HealthCheckAlreadyExists", "A health check with the same caller reference exists or existed, with other settings.").WithStatus(http.StatusConflict)
}

func (r *Route53) ownedBy(account string) []*check {
	return sorted(r.checks, func(c *check) bool { return c.account == account }, compareIDs)
}

// configure checks settings, takes them over and starts the checkers anew. The
// caller holds mu.
func (r *Route53) configure(c *check, config types.HealthCheckConfig) error {
	if err := r.checkConfig(c, config); err != nil {
		return err
	}
	if config.Type == types.HealthCheckTypeCloudwatchMetric {
		alarm, err := r.stream(c.account, config.AlarmIdentifier)
		if err != nil {
			return err
		}
		c.alarm = alarm
	}
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.config = config
	r.startCheckers(c)
	return nil
}

func (c *check) show() *types.HealthCheck {
	config := c.config
	shown := &types.HealthCheck{Id: aws.String(c.id), CallerReference: aws.String(c.reference), HealthCheckVersion: aws.Int64(c.version), HealthCheckConfig: &config}
	if config.Type != types.HealthCheckTypeCloudwatchMetric {
		return shown
	}
	a := c.alarm
	shown.CloudWatchAlarmConfiguration = &types.CloudWatchAlarmConfiguration{
		ComparisonOperator: types.ComparisonOperator(a.Comparison), EvaluationPeriods: aws.Int32(int32(a.Periods)), MetricName: aws.String(a.Metric), Namespace: aws.String(a.Namespace),
		Period: aws.Int32(int32(a.Period.Seconds())), Statistic: types.Statistic(a.Statistic), Threshold: aws.Float64(a.Threshold),
	}
	for name, value := range a.Dimensions {
		shown.CloudWatchAlarmConfiguration.Dimensions = append(shown.CloudWatchAlarmConfiguration.Dimensions, types.Dimension{Name: &name, Value: &value})
	}
	return shown
}

// check finds a health check of the caller. The caller holds mu.
func (r *Route53) check(account string, id *string) (*check, error) {
	c := r.checks[bare(aws.ToString(id))]
	if c == nil || c.account != account {
		return nil, wire.Errorf("NoSuchHealthCheck", "No health check exists with the specified ID %s", bare(aws.ToString(id))).WithStatus(http.StatusNotFound)
	}
	return c, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetHealthCheck.html
func (r *Route53) getHealthCheck(req *wire.Request, in *api.GetHealthCheckInput) (*api.GetHealthCheckOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.check(req.Account, in.HealthCheckId)
	if err != nil {
		return nil, err
	}
	return &api.GetHealthCheckOutput{HealthCheck: c.show()}, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_UpdateHealthCheck.html
func (r *Route53) updateHealthCheck(req *wire.Request, in *api.UpdateHealthCheckInput) (*api.UpdateHealthCheckOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.check(req.Account, in.HealthCheckId)
	if err != nil {
		return nil, err
	}
	if in.HealthCheckVersion != nil && *in.HealthCheckVersion != c.version {
		return nil, wire.Errorf("HealthCheckVersionMismatch", "The health check has version %d, not %d.", c.version, *in.HealthCheckVersion).WithStatus(http.StatusConflict)
	}
	if err := r.configure(c, updated(c.config, in)); err != nil {
		return nil, err
	}
	c.version++
	return &api.UpdateHealthCheckOutput{HealthCheck: c.show()}, nil
}

// deleteHealthCheck also deletes a health check that records use, as AWS does.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DeleteHealthCheck.html
func (r *Route53) deleteHealthCheck(req *wire.Request, in *api.DeleteHealthCheckInput) (*api.DeleteHealthCheckOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.check(req.Account, in.HealthCheckId)
	if err != nil {
		return nil, err
	}
	if c.stop != nil {
		c.stop()
	}
	delete(r.checks, c.id)
	r.used[c.account+"/"+c.reference] = true
	return nil, nil
}

// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListHealthChecks.html
func (r *Route53) listHealthChecks(req *wire.Request, in *api.ListHealthChecksInput) (*api.ListHealthChecksOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit, err := pageSize(in.MaxItems, 1000)
	if err != nil {
		return nil, err
	}
	out := &api.ListHealthChecksOutput{Marker: aws.String(aws.ToString(in.Marker)), MaxItems: aws.Int32(int32(limit))}
	for _, c := range r.ownedBy(req.Account) {
		if c.id < aws.ToString(in.Marker) {
			continue
		}
		if len(out.HealthChecks) == limit {
			out.IsTruncated, out.NextMarker = true, aws.String(c.id)
			break
		}
		out.HealthChecks = append(out.HealthChecks, *c.show())
	}
	return out, nil
}
