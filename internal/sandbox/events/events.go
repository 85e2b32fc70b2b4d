// Package events is the sandbox's EventBridge: event buses, rules with event
// patterns or schedules, and the delivery of events to their targets.
//
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/Welcome.html
package events

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/schedule"
)

const principal = "events.amazonaws.com"

// Events holds the event buses of all accounts and Regions. It implements
// world.Events.
type Events struct {
	w       *world.World
	courier delivery.Courier
	log     *slog.Logger
	keeper  *schedule.Keeper

	mu    sync.Mutex
	buses map[owner]map[string]*bus // by name

	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup // keeper and deliveries
}

var _ world.Events = (*Events)(nil)

// owner is an account in a Region: buses of others are not seen.
type owner struct{ region, account string }

func (o owner) arn(resource string) string {
	return "arn:aws:events:" + o.region + ":" + o.account + ":" + resource
}

// New returns an EventBridge without rules, which reports failed deliveries to
// log. Scheduled rules run after Start.
func New(w *world.World, ports delivery.Ports, log *slog.Logger) *Events {
	e := &Events{
		w: w, log: log, keeper: schedule.NewKeeper(w.Clock), buses: map[owner]map[string]*bus{},
		courier: delivery.Courier{Clock: w.Clock, Ports: ports, Principal: principal},
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// Start begins to run scheduled rules.
func (e *Events) Start() {
	e.running.Go(func() { e.keeper.Run(e.ctx, e.work) })
}

// Close ends deliveries and waits for those under way.
func (e *Events) Close() {
	e.mu.Lock() // deliveries start under it: none begins after this
	e.stop()
	e.mu.Unlock()
	e.running.Wait()
}

// enter locks and returns the caller's buses. The caller unlocks.
func (e *Events) enter(r *wire.Request) (all map[string]*bus, now time.Time) {
	e.mu.Lock()
	return e.of(owner{r.Region, r.Account}), e.w.Clock.Now()
}

// of returns the buses of an owner, of which the default one always exists.
// The caller holds mu.
func (e *Events) of(o owner) map[string]*bus {
	if e.buses[o] == nil {
		e.buses[o] = map[string]*bus{defaultBus: newBus(o, defaultBus, e.w.Clock.Now())}
	}
	return e.buses[o]
}

// Service returns the API of EventBridge.
func (e *Events) Service() *wire.Service {
	s := &wire.Service{Name: "events", Target: "AWSEvents", Version: "2015-10-07", Default: wire.JSON11, Schema: schemas.AWSEvents, Types: api.TypeRegistry}
	wire.Handle(s, "CreateEventBus", nil, nil, e.createEventBus)
	wire.Handle(s, "DescribeEventBus", nil, nil, e.describeEventBus)
	wire.Handle(s, "DeleteEventBus", nil, nil, e.deleteEventBus)
	wire.Handle(s, "ListEventBuses", nil, nil, e.listEventBuses)

	wire.Handle(s, "PutRule", nil, nil, e.putRule)
	wire.Handle(s, "DescribeRule", nil, nil, e.describeRule)
	wire.Handle(s, "EnableRule", nil, nil, e.enableRule)
	wire.Handle(s, "DisableRule", nil, nil, e.disableRule)
	wire.Handle(s, "DeleteRule", nil, nil, e.deleteRule)
	wire.Handle(s, "ListRules", nil, nil, e.listRules)

	wire.Handle(s, "PutTargets", nil, nil, e.putTargets)
	wire.Handle(s, "RemoveTargets", nil, nil, e.removeTargets)
	wire.Handle(s, "ListTargetsByRule", nil, nil, e.listTargetsByRule)
	wire.Handle(s, "ListRuleNamesByTarget", nil, nil, e.listRuleNamesByTarget)

	wire.Handle(s, "PutEvents", nil, nil, e.putEvents)
	wire.Handle(s, "TestEventPattern", nil, nil, e.testEventPattern)

	wire.Handle(s, "TagResource", nil, nil, e.tagResource)
	wire.Handle(s, "UntagResource", nil, nil, e.untagResource)
	wire.Handle(s, "ListTagsForResource", nil, nil, e.listTagsForResource)
	return s
}

// The errors of the API.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/CommonErrors.html

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationException", format, args...)
}

func missing(format string, args ...any) *wire.Error {
	return wire.Errorf("ResourceNotFoundException", format, args...)
}

func noRule(name string, b *bus) *wire.Error {
	return missing("Rule %s does not exist on EventBus %s.", name, b.name)
}

func exists(what, name string) *wire.Error {
	return wire.Errorf("ResourceAlreadyExistsException", "%s %s already exists.", what, name).WithStatus(http.StatusBadRequest)
}
