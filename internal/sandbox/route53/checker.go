package route53

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
)

// metricInterval is how often the data behind an alarm is read, so that the
// last known status is one that was there.
const metricInterval = 30 * time.Second

// startCheckers begins to check an endpoint or an alarm. A disabled check sends
// no requests. The caller holds mu.
func (r *Route53) startCheckers(c *check) {
	interval := metricInterval
	switch {
	case c.config.Type == types.HealthCheckTypeCloudwatchMetric:
	case probes(c.config.Type) && !aws.ToBool(c.config.Disabled):
		interval = time.Duration(aws.ToInt32(c.config.RequestInterval)) * time.Second
	default:
		return
	}
	ctx, stop := context.WithCancel(r.ctx)
	c.stop = stop
	config := c.config
	r.group.Go(func() {
		defer stop()
		for {
			started := r.now()
			r.checkOnce(ctx, c, config)
			if r.world.Clock.Sleep(ctx, interval-r.now().Sub(started)) != nil {
				return
			}
		}
	})
}

// checkOnce looks once, and forgets what it saw if the settings have changed
// meanwhile.
func (r *Route53) checkOnce(ctx context.Context, c *check, config types.HealthCheckConfig) {
	if config.Type == types.HealthCheckTypeCloudwatchMetric {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watch(c, r.now())
		return
	}
	o := r.probe(ctx, config)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	c.report = o.report(config.Type, r.now())
	c.streak.add(o.passes(config.Type), aws.ToInt32(config.FailureThreshold))
}
