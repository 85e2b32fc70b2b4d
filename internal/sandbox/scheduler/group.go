package scheduler

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// defaultGroup is where schedules without a group are. It cannot be deleted.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-group.html
const defaultGroup = "default"

// group is a schedule group.
type group struct {
	owner
	name      string
	token     string // of its creation
	created   time.Time
	modified  time.Time
	tags      map[string]string
	schedules map[string]*entry // by name
}

func newGroup(o owner, name string, now time.Time) *group {
	return &group{owner: o, name: name, created: now, modified: now, tags: map[string]string{}, schedules: map[string]*entry{}}
}

func (g *group) groupARN() string { return g.arn("schedule-group/" + g.name) }

// find returns a group; without a name the default one.
func find(groups map[string]*group, name *string) (*group, error) {
	n := aws.ToString(name)
	if n == "" {
		n = defaultGroup
	}
	if g := groups[n]; g != nil {
		return g, nil
	}
	return nil, missing("Schedule group %s does not exist.", n)
}

func (s *Scheduler) createGroup(r *wire.Request, in *api.CreateScheduleGroupInput) (*api.CreateScheduleGroupOutput, error) {
	if err := checkName("name", in.Name); err != nil {
		return nil, err
	}
	if err := checkToken(in.ClientToken); err != nil {
		return nil, err
	}
	groups, o, now := s.enter(r)
	defer s.mu.Unlock()
	if g := groups[*in.Name]; g != nil {
		if g.token == "" || g.token != aws.ToString(in.ClientToken) {
			return nil, conflict("Schedule group %s already exists.", g.name)
		}
		return &api.CreateScheduleGroupOutput{ScheduleGroupArn: aws.String(g.groupARN())}, nil
	}
	g := newGroup(o, *in.Name, now)
	g.token = aws.ToString(in.ClientToken)
	if err := g.tag(in.Tags); err != nil {
		return nil, err
	}
	groups[g.name] = g
	return &api.CreateScheduleGroupOutput{ScheduleGroupArn: aws.String(g.groupARN())}, nil
}

func (s *Scheduler) getGroup(r *wire.Request, in *api.GetScheduleGroupInput) (*api.GetScheduleGroupOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := find(groups, in.Name)
	if err != nil {
		return nil, err
	}
	return &api.GetScheduleGroupOutput{
		Arn: aws.String(g.groupARN()), Name: aws.String(g.name), State: types.ScheduleGroupStateActive, CreationDate: aws.Time(g.created), LastModificationDate: aws.Time(g.modified),
	}, nil
}

// deleteGroup deletes the group with its schedules. On AWS this takes a while,
// in which the group is DELETING; here it is done at once.
func (s *Scheduler) deleteGroup(r *wire.Request, in *api.DeleteScheduleGroupInput) (*api.DeleteScheduleGroupOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	g, err := find(groups, in.Name)
	if err != nil {
		return nil, err
	}
	if g.name == defaultGroup {
		return nil, invalid("The default schedule group cannot be deleted.")
	}
	delete(groups, g.name)
	return nil, nil
}

func (s *Scheduler) listGroups(r *wire.Request, in *api.ListScheduleGroupsInput) (*api.ListScheduleGroupsOutput, error) {
	groups, _, _ := s.enter(r)
	defer s.mu.Unlock()
	all := []types.ScheduleGroupSummary{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[name]; strings.HasPrefix(name, aws.ToString(in.NamePrefix)) {
			all = append(all, types.ScheduleGroupSummary{
				Arn: aws.String(g.groupARN()), Name: aws.String(name), State: types.ScheduleGroupStateActive, CreationDate: aws.Time(g.created), LastModificationDate: aws.Time(g.modified),
			})
		}
	}
	some, next, err := page(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListScheduleGroupsOutput{ScheduleGroups: some, NextToken: next}, nil
}
