// Package cloudwatch is the sandbox's CloudWatch: metrics, metric math, metric
// and composite alarms with their history and actions. What an alarm sees and
// decides is modelled by internal/alarm; this package stores data, keeps the
// time and runs the actions.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/Welcome.html
package cloudwatch

import (
	"context"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// CloudWatch holds the metrics and alarms of all accounts and Regions. It
// implements world.Metrics.
type CloudWatch struct {
	w        *world.World
	log      *slog.Logger
	phase    func(arn string) time.Duration
	schedule func(period time.Duration, n int, expression bool) alarm.Schedule
	delay    func(metric string, at time.Time) time.Duration // nil = none

	mu      sync.Mutex
	tenants map[owner]*tenant
	pending []arrival // published, not visible yet; in order of becoming so
	agenda  agenda

	wake    chan struct{}
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup // scheduler and actions
}

var _ world.Metrics = (*CloudWatch)(nil)

// owner is an account in a Region: alarms and metrics of others are not seen.
type owner struct{ region, account string }

// tenant is what one owner has.
type tenant struct {
	owner
	metrics map[string]*metric // by metric key
	alarms  map[string]*record // by name
	history map[string][]event // by alarm name, oldest first; outlives the alarm
}

// Option changes how CloudWatch behaves where AWS says nothing or promises
// nothing.
type Option func(*CloudWatch)

// WithPhase sets when within its minute (or ten seconds) an alarm is evaluated.
// The default is a hash of the ARN: fixed for an alarm, uniform over alarms.
func WithPhase(phase func(arn string) time.Duration) Option {
	return func(c *CloudWatch) { c.phase = phase }
}

// WithSchedule sets evaluation range and cut-off of alarms, which AWS does not
// publish. The default is alarm.NewSchedule.
func WithSchedule(schedule func(period time.Duration, n int, expression bool) alarm.Schedule) Option {
	return func(c *CloudWatch) { c.schedule = schedule }
}

// WithIngestionDelay sets how long published data stays invisible.
func WithIngestionDelay(d time.Duration) Option {
	return WithIngestion(func(string, time.Time) time.Duration { return d })
}

// WithIngestion sets how long a value stays invisible that was published at a
// time, by its metric: namespace, name and dimensions.
func WithIngestion(delay func(metric string, at time.Time) time.Duration) Option {
	return func(c *CloudWatch) { c.delay = delay }
}

// WithLog sets where failed actions are reported.
func WithLog(l *slog.Logger) Option {
	return func(c *CloudWatch) { c.log = l }
}

// New returns a CloudWatch without data. Alarms are evaluated after Start.
func New(w *world.World, options ...Option) *CloudWatch {
	c := &CloudWatch{
		w: w, log: slog.New(slog.DiscardHandler), phase: hashedPhase, schedule: alarm.NewSchedule,
		tenants: map[owner]*tenant{}, wake: make(chan struct{}, 1),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for _, o := range options {
		o(c)
	}
	return c
}

func hashedPhase(arn string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(arn)) // never fails: https://pkg.go.dev/hash#Hash
	return time.Duration(h.Sum32()%60_000) * time.Millisecond
}

// Start begins to evaluate alarms.
func (c *CloudWatch) Start() {
	c.running.Go(c.keepAgenda)
}

// Close ends evaluation and pending actions, and waits for both.
func (c *CloudWatch) Close() {
	c.mu.Lock() // actions start under it: none begins after this
	c.stop()
	c.mu.Unlock()
	c.running.Wait()
}

// tenant returns what an owner has. The caller holds mu.
func (c *CloudWatch) tenant(region, account string) *tenant {
	o := owner{region, account}
	t := c.tenants[o]
	if t == nil {
		t = &tenant{owner: o, metrics: map[string]*metric{}, alarms: map[string]*record{}, history: map[string][]event{}}
		c.tenants[o] = t
	}
	return t
}

// enter locks, makes visible what has arrived, and returns the caller's tenant
// and the time. The caller unlocks.
func (c *CloudWatch) enter(r *wire.Request) (*tenant, time.Time) {
	c.mu.Lock()
	now := c.w.Clock.Now()
	c.arrive(now)
	return c.tenant(r.Region, r.Account), now
}

// Service returns the CloudWatch API.
func (c *CloudWatch) Service() *wire.Service {
	s := &wire.Service{
		Name: "monitoring", Target: "GraniteServiceVersion20100801", Version: "2010-08-01",
		Namespace: "http://monitoring.amazonaws.com/doc/2010-08-01/", Default: wire.CBOR,
		Schema: schemas.GraniteServiceVersion20100801, Types: api.TypeRegistry,
	}
	wire.Handle(s, "PutMetricData", nil, nil, c.putMetricData)
	wire.Handle(s, "GetMetricData", nil, nil, c.getMetricData)
	wire.Handle(s, "GetMetricStatistics", nil, nil, c.getMetricStatistics)
	wire.Handle(s, "ListMetrics", nil, nil, c.listMetrics)

	wire.Handle(s, "PutMetricAlarm", nil, nil, c.putMetricAlarm)
	wire.Handle(s, "PutCompositeAlarm", nil, nil, c.putCompositeAlarm)
	wire.Handle(s, "DescribeAlarms", nil, nil, c.describeAlarms)
	wire.Handle(s, "DescribeAlarmsForMetric", nil, nil, c.describeAlarmsForMetric)
	wire.Handle(s, "DescribeAlarmHistory", nil, nil, c.describeAlarmHistory)
	wire.Handle(s, "DeleteAlarms", nil, nil, c.deleteAlarms)
	wire.Handle(s, "SetAlarmState", nil, nil, c.setAlarmState)
	wire.Handle(s, "EnableAlarmActions", nil, nil, c.enableAlarmActions)
	wire.Handle(s, "DisableAlarmActions", nil, nil, c.disableAlarmActions)

	wire.Handle(s, "TagResource", nil, nil, c.tagResource)
	wire.Handle(s, "UntagResource", nil, nil, c.untagResource)
	wire.Handle(s, "ListTagsForResource", nil, nil, c.listTagsForResource)
	return s
}
