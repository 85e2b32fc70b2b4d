// Package scheduler is the sandbox's EventBridge Scheduler: schedules in
// groups, which invoke functions, queues and topics with the permissions of a
// role.
//
// https://docs.aws.amazon.com/scheduler/latest/APIReference/Welcome.html
package scheduler

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/schedule"
)

const principal = "scheduler.amazonaws.com"

// Scheduler holds the schedules of all accounts and Regions.
type Scheduler struct {
	w       *world.World
	roles   delivery.Roles
	courier delivery.Courier
	log     *slog.Logger
	keeper  *schedule.Keeper

	mu     sync.Mutex
	groups map[owner]map[string]*group // by name

	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup // keeper and deliveries
}

// owner is an account in a Region: groups of others are not seen.
type owner struct{ region, account string }

func (o owner) arn(resource string) string {
	return "arn:aws:scheduler:" + o.region + ":" + o.account + ":" + resource
}

// New returns a Scheduler without schedules, which reports failed invocations
// to log. Targets are invoked after Start.
func New(w *world.World, ports delivery.Ports, log *slog.Logger) *Scheduler {
	s := &Scheduler{
		w: w, roles: ports.Roles, log: log, keeper: schedule.NewKeeper(w.Clock), groups: map[owner]map[string]*group{},
		courier: delivery.Courier{Clock: w.Clock, Ports: ports, Principal: principal},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Start begins to invoke targets.
func (s *Scheduler) Start() {
	s.running.Go(func() { s.keeper.Run(s.ctx, s.work) })
}

// Close ends invocations and waits for those under way.
func (s *Scheduler) Close() {
	s.mu.Lock() // deliveries start under it: none begins after this
	s.stop()
	s.mu.Unlock()
	s.running.Wait()
}

// enter locks and returns the caller's groups, of which the default one always
// exists. The caller unlocks.
func (s *Scheduler) enter(r *wire.Request) (groups map[string]*group, o owner, now time.Time) {
	s.mu.Lock()
	o, now = owner{r.Region, r.Account}, s.w.Clock.Now()
	if s.groups[o] == nil {
		s.groups[o] = map[string]*group{defaultGroup: newGroup(o, defaultGroup, now)}
	}
	return s.groups[o], o, now
}

// Service returns the API of the EventBridge Scheduler.
func (s *Scheduler) Service() *wire.Service {
	v := &wire.Service{Name: "scheduler", Version: "2021-06-30", Default: wire.RestJSON}
	one := func(method string) wire.Route {
		return wire.Route{Method: method, Path: "/schedules/{Name}", Query: map[string]string{"groupName": "GroupName", "clientToken": "ClientToken"}}
	}
	wire.HandleRoute(v, "CreateSchedule", wire.Route{Method: http.MethodPost, Path: "/schedules/{Name}"}, s.createSchedule)
	wire.HandleRoute(v, "UpdateSchedule", wire.Route{Method: http.MethodPut, Path: "/schedules/{Name}"}, s.updateSchedule)
	wire.HandleRoute(v, "GetSchedule", one(http.MethodGet), s.getSchedule)
	wire.HandleRoute(v, "DeleteSchedule", one(http.MethodDelete), s.deleteSchedule)
	wire.HandleRoute(v, "ListSchedules", wire.Route{Method: http.MethodGet, Path: "/schedules", Query: map[string]string{
		"ScheduleGroup": "GroupName", "NamePrefix": "NamePrefix", "State": "State", "MaxResults": "MaxResults", "NextToken": "NextToken",
	}}, s.listSchedules)

	wire.HandleRoute(v, "CreateScheduleGroup", wire.Route{Method: http.MethodPost, Path: "/schedule-groups/{Name}"}, s.createGroup)
	wire.HandleRoute(v, "GetScheduleGroup", wire.Route{Method: http.MethodGet, Path: "/schedule-groups/{Name}"}, s.getGroup)
	wire.HandleRoute(v, "DeleteScheduleGroup", wire.Route{Method: http.MethodDelete, Path: "/schedule-groups/{Name}", Query: map[string]string{"clientToken": "ClientToken"}}, s.deleteGroup)
	wire.HandleRoute(v, "ListScheduleGroups", wire.Route{Method: http.MethodGet, Path: "/schedule-groups", Query: map[string]string{
		"NamePrefix": "NamePrefix", "MaxResults": "MaxResults", "NextToken": "NextToken",
	}}, s.listGroups)

	wire.HandleRoute(v, "TagResource", wire.Route{Method: http.MethodPost, Path: "/tags/{ResourceArn}"}, s.tagResource)
	wire.HandleRoute(v, "UntagResource", wire.Route{Method: http.MethodDelete, Path: "/tags/{ResourceArn}", Query: map[string]string{"TagKeys": "TagKeys"}}, s.untagResource)
	wire.HandleRoute(v, "ListTagsForResource", wire.Route{Method: http.MethodGet, Path: "/tags/{ResourceArn}"}, s.listTags)
	return v
}

// The errors of the API.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/CommonErrors.html

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationException", format, args...)
}

func conflict(format string, args ...any) *wire.Error {
	return wire.Errorf("ConflictException", format, args...).WithStatus(http.StatusConflict)
}

func missing(format string, args ...any) *wire.Error {
	return wire.Errorf("ResourceNotFoundException", format, args...).WithStatus(http.StatusNotFound)
}
