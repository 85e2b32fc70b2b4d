package events

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/events/pattern"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/schedule"
)

// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html
var ruleName = regexp.MustCompile(`^[\.\-_A-Za-z0-9]{1,64}$`)

const (
	maxPattern     = 4096
	maxDescription = 512
)

// rule is a rule of a bus. Its pattern and its targets are replaced, never
// changed.
type rule struct {
	bus     *bus
	name    string
	set     settings
	tags    map[string]string
	targets map[string]*target // by ID
	due     time.Time          // next time of a schedule that is enabled
}

// settings are what PutRule replaces.
type settings struct {
	description, pattern, schedule, role *string
	enabled                              bool

	matches    pattern.Pattern
	expression schedule.Expression
	since      time.Time // a rate counts from here
}

func (r *rule) arn() string { return r.bus.ruleARN(r.name) }

func (r *rule) state() types.RuleState {
	if r.set.enabled {
		return types.RuleStateEnabled
	}
	return types.RuleStateDisabled
}

func badPattern(err error) error {
	return wire.Errorf("InvalidEventPatternException", "Event pattern is not valid. Reason: %v", err)
}

// read checks the settings of a rule.
func read(in *api.PutRuleInput, now time.Time) (s settings, err error) {
	s = settings{description: in.Description, pattern: in.EventPattern, schedule: in.ScheduleExpression, role: in.RoleArn, since: now}
	switch in.State {
	case "", types.RuleStateEnabled, types.RuleStateEnabledWithAllCloudtrailManagementEvents:
		s.enabled = true
	case types.RuleStateDisabled:
	default:
		return s, invalid("1 validation error detected: Value '%s' at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]", in.State)
	}
	if aws.ToString(s.pattern) == "" {
		s.pattern = nil
	}
	if aws.ToString(s.schedule) == "" {
		s.schedule = nil
	}
	switch {
	case !ruleName.MatchString(aws.ToString(in.Name)):
		return s, invalid("1 validation error detected: Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+", aws.ToString(in.Name))
	case len(aws.ToString(in.Description)) > maxDescription:
		return s, invalid("1 validation error detected: Value at 'description' failed to satisfy constraint: Member must have length less than or equal to %d", maxDescription)
	case s.pattern == nil && s.schedule == nil:
		return s, invalid("Parameter(s) EventPattern or ScheduleExpression must be specified.")
	case len(aws.ToString(s.pattern)) > maxPattern:
		return s, invalid("1 validation error detected: Value at 'eventPattern' failed to satisfy constraint: Member must have length less than or equal to %d", maxPattern)
	}
	if s.pattern != nil {
		if s.matches, err = pattern.Parse(*s.pattern); err != nil {
			return s, badPattern(err)
		}
	}
	if s.schedule != nil {
		s.expression, err = schedule.Parse(*s.schedule)
		if err != nil || s.expression.Kind == schedule.At || s.expression.Kind == schedule.Rate && !s.expression.Grammatical {
			return s, invalid("Parameter ScheduleExpression is not valid.")
		}
	}
	return s, nil
}

// putRule creates a rule or replaces its settings; its targets stay, and its
// tags.
func (e *Events) putRule(r *wire.Request, in *api.PutRuleInput) (*api.PutRuleOutput, error) {
	all, now := e.enter(r)
	defer e.mu.Unlock()
	set, err := read(in, now)
	if err != nil {
		return nil, err
	}
	b, err := find(all, in.EventBusName)
	if err != nil {
		return nil, err
	}
	if set.schedule != nil && b.name != defaultBus {
		return nil, invalid("ScheduleExpression is supported only on the default event bus.")
	}
	x := b.rules[*in.Name]
	if x == nil {
		x = &rule{bus: b, name: *in.Name, tags: map[string]string{}, targets: map[string]*target{}}
		if err := tag(&x.tags, in.Tags); err != nil {
			return nil, err
		}
		b.rules[x.name] = x
	}
	x.set = set
	e.appoint(x, now)
	e.keeper.Ring()
	return &api.PutRuleOutput{RuleArn: aws.String(x.arn())}, nil
}

// rule finds a rule. The caller holds mu.
func (e *Events) rule(all map[string]*bus, busName, name *string) (*rule, error) {
	b, err := find(all, busName)
	if err != nil {
		return nil, err
	}
	if x := b.rules[aws.ToString(name)]; x != nil {
		return x, nil
	}
	return nil, noRule(aws.ToString(name), b)
}

func (e *Events) describeRule(r *wire.Request, in *api.DescribeRuleInput) (*api.DescribeRuleOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	x, err := e.rule(all, in.EventBusName, in.Name)
	if err != nil {
		return nil, err
	}
	return &api.DescribeRuleOutput{
		Arn: aws.String(x.arn()), Name: aws.String(x.name), EventBusName: aws.String(x.bus.name), State: x.state(), CreatedBy: aws.String(x.bus.account),
		Description: x.set.description, EventPattern: x.set.pattern, ScheduleExpression: x.set.schedule, RoleArn: x.set.role,
	}, nil
}

func (e *Events) enableRule(r *wire.Request, in *api.EnableRuleInput) (*api.EnableRuleOutput, error) {
	return nil, e.enable(r, in.EventBusName, in.Name, true)
}

func (e *Events) disableRule(r *wire.Request, in *api.DisableRuleInput) (*api.DisableRuleOutput, error) {
	return nil, e.enable(r, in.EventBusName, in.Name, false)
}

func (e *Events) enable(r *wire.Request, busName, name *string, enabled bool) error {
	all, now := e.enter(r)
	defer e.mu.Unlock()
	x, err := e.rule(all, busName, name)
	if err != nil {
		return err
	}
	if x.set.enabled != enabled {
		x.set.enabled, x.set.since = enabled, now
		e.appoint(x, now)
		e.keeper.Ring()
	}
	return nil
}

func (e *Events) deleteRule(r *wire.Request, in *api.DeleteRuleInput) (*api.DeleteRuleOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	b, err := find(all, in.EventBusName)
	if err != nil {
		return nil, err
	}
	x := b.rules[aws.ToString(in.Name)]
	if x != nil && len(x.targets) > 0 {
		return nil, invalid("Rule can't be deleted since it has targets.")
	}
	delete(b.rules, aws.ToString(in.Name)) // deleting nothing is no error
	return nil, nil
}

func (e *Events) listRules(r *wire.Request, in *api.ListRulesInput) (*api.ListRulesOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	b, err := find(all, in.EventBusName)
	if err != nil {
		return nil, err
	}
	found := []types.Rule{}
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		if x := b.rules[name]; strings.HasPrefix(name, aws.ToString(in.NamePrefix)) {
			found = append(found, types.Rule{
				Arn: aws.String(x.arn()), Name: aws.String(name), EventBusName: aws.String(b.name), State: x.state(),
				Description: x.set.description, EventPattern: x.set.pattern, ScheduleExpression: x.set.schedule, RoleArn: x.set.role,
			})
		}
	}
	some, next, err := page(found, in.Limit, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListRulesOutput{Rules: some, NextToken: next}, nil
}
