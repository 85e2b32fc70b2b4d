package scheduler

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// entry is a schedule. An update replaces it as a whole.
type entry struct {
	group    *group
	settings *api.CreateScheduleInput // checked and complete
	plan     plan
	created  time.Time
	modified time.Time

	occurrence time.Time // next, zero if there is none
	due        time.Time // when it is acted upon: within the flexible window
}

func (e *entry) name() string { return *e.settings.Name }
func (e *entry) arn() string  { return e.group.arn("schedule/" + e.group.name + "/" + e.name()) }

// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
func (s *Scheduler) createSchedule(r *wire.Request, in *api.CreateScheduleInput) (*api.CreateScheduleOutput, error) {
	groups, _, now := s.enter(r)
	defer s.mu.Unlock()
	e, err := s.draft(groups, in, now)
	if err != nil {
		return nil, err
	}
	if old := e.group.schedules[e.name()]; old != nil {
		// The same request again, whose first answer was lost, is no error.
		if in.ClientToken == nil || !reflect.DeepEqual(old.settings, e.settings) {
			return nil, conflict("Schedule %s already exists.", e.name())
		}
		return &api.CreateScheduleOutput{ScheduleArn: aws.String(old.arn())}, nil
	}
	s.put(e)
	return &api.CreateScheduleOutput{ScheduleArn: aws.String(e.arn())}, nil
}

// updateSchedule replaces all settings: what the call leaves out returns to
// its default.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_UpdateSchedule.html
func (s *Scheduler) updateSchedule(r *wire.Request, in *api.UpdateScheduleInput) (*api.UpdateScheduleOutput, error) {
	groups, _, now := s.enter(r)
	defer s.mu.Unlock()
	settings := api.CreateScheduleInput(*in)
	e, err := s.draft(groups, &settings, now)
	if err != nil {
		return nil, err
	}
	old, err := e.group.schedule(in.Name)
	if err != nil {
		return nil, err
	}
	if in.ClientToken != nil && reflect.DeepEqual(old.settings, e.settings) {
		return &api.UpdateScheduleOutput{ScheduleArn: aws.String(old.arn())}, nil
	}
	e.created = old.created
	s.put(e)
	return &api.UpdateScheduleOutput{ScheduleArn: aws.String(e.arn())}, nil
}

// draft checks the settings of a schedule. The caller holds mu.
func (s *Scheduler) draft(groups map[string]*group, in *api.CreateScheduleInput, now time.Time) (*entry, error) {
	p, err := read(in, now)
	if err != nil {
		return nil, err
	}
	g, err := find(groups, in.GroupName)
	if err != nil {
		return nil, err
	}
	if err := s.roles.Assumable(*in.Target.RoleArn, principal, g.groupARN()); err != nil {
		return nil, invalid("The execution role you provide must allow AWS EventBridge Scheduler to assume the role. (%v)", err)
	}
	return &entry{group: g, settings: in, plan: p, created: now, modified: now}, nil
}

// put makes e the schedule of its name. The caller holds mu.
func (s *Scheduler) put(e *entry) {
	e.group.schedules[e.name()] = e
	s.arrange(e, e.modified.Add(-1))
	s.keeper.Ring()
}

func (g *group) schedule(name *string) (*entry, error) {
	if e := g.schedules[aws.ToString(name)]; e != nil {
		return e, nil
	}
	return nil, missing("Schedule %s does not exist.", aws.ToString(name))
}

func (s *Scheduler) getSchedule(r *wire.Request, in *api.GetScheduleInput) (*api.GetScheduleOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := find(groups, in.GroupName)
	if err != nil {
		return nil, err
	}
	e, err := g.schedule(in.Name)
	if err != nil {
		return nil, err
	}
	x := e.settings
	return &api.GetScheduleOutput{
		Arn: aws.String(e.arn()), Name: x.Name, GroupName: aws.String(g.name), CreationDate: aws.Time(e.created), LastModificationDate: aws.Time(e.modified),
		ScheduleExpression: x.ScheduleExpression, ScheduleExpressionTimezone: x.ScheduleExpressionTimezone, StartDate: x.StartDate, EndDate: x.EndDate,
		State: x.State, ActionAfterCompletion: x.ActionAfterCompletion, FlexibleTimeWindow: x.FlexibleTimeWindow, Target: x.Target,
		Description: x.Description, KmsKeyArn: x.KmsKeyArn,
	}, nil
}

func (s *Scheduler) deleteSchedule(r *wire.Request, in *api.DeleteScheduleInput) (*api.DeleteScheduleOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := find(groups, in.GroupName)
	if err != nil {
		return nil, err
	}
	e, err := g.schedule(in.Name)
	if err != nil {
		return nil, err
	}
	delete(g.schedules, e.name())
	return nil, nil
}

func (s *Scheduler) listSchedules(r *wire.Request, in *api.ListSchedulesInput) (*api.ListSchedulesOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	if in.GroupName != nil {
		g, err := find(groups, in.GroupName)
		if err != nil {
			return nil, err
		}
		groups = map[string]*group{g.name: g}
	}
	all := []types.ScheduleSummary{}
	for _, groupName := range slices.Sorted(maps.Keys(groups)) {
		g := groups[groupName]
		for _, name := range slices.Sorted(maps.Keys(g.schedules)) {
			e := g.schedules[name]
			if !strings.HasPrefix(name, aws.ToString(in.NamePrefix)) || in.State != "" && in.State != e.settings.State {
				continue
			}
			all = append(all, types.ScheduleSummary{
				Arn: aws.String(e.arn()), Name: aws.String(name), GroupName: aws.String(g.name), State: e.settings.State,
				CreationDate: aws.Time(e.created), LastModificationDate: aws.Time(e.modified), Target: &types.TargetSummary{Arn: e.settings.Target.Arn},
			})
		}
	}
	some, next, err := page(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListSchedulesOutput{Schedules: some, NextToken: next}, nil
}
