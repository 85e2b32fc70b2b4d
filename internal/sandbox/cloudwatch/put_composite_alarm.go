package cloudwatch

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxParents is how many composite alarms may refer to one alarm.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
const maxParents = 150

func (c *CloudWatch) putCompositeAlarm(r *wire.Request, in *api.PutCompositeAlarmInput) (*api.PutCompositeAlarmOutput, error) {
	s := settings{
		description: in.AlarmDescription, enabled: in.ActionsEnabled == nil || *in.ActionsEnabled,
		onAlarm: listed(in.AlarmActions), onOK: listed(in.OKActions), onInsufficient: listed(in.InsufficientDataActions),
	}
	a := &types.CompositeAlarm{
		AlarmRule: in.AlarmRule, ActionsSuppressor: in.ActionsSuppressor,
		ActionsSuppressorWaitPeriod: in.ActionsSuppressorWaitPeriod, ActionsSuppressorExtensionPeriod: in.ActionsSuppressorExtensionPeriod,
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	name := aws.ToString(in.AlarmName)
	if err := t.checkSettings(name, &s, actionsOfEC2, workflowsOfEC2, actionsOfAutoScaling); err != nil {
		return nil, err
	}
	rule, err := t.parseRule(name, aws.ToString(in.AlarmRule))
	if err != nil {
		return nil, err
	}
	suppressor, err := t.checkSuppressor(name, a)
	if err != nil {
		return nil, err
	}
	x := t.alarms[name]
	if x != nil && x.composite == nil {
		return nil, invalid("The alarm %s is a metric alarm.", name)
	}
	s.updated = now
	what, before := "updated", any(nil)
	if x == nil {
		what, x = "created", t.create(name, now, in.Tags)
	} else {
		before = x.describeComposite()
	}
	x.rule, x.composite, x.settings = rule, a, s
	c.setSuppressor(x, suppressor)
	t.note(x, configured(x, now, what, before))
	t.findCycles()
	c.setUp(x, what, now)
	return &api.PutCompositeAlarmOutput{}, nil
}

func (t *tenant) parseRule(name, text string) (*alarm.Rule, error) {
	rule, err := alarm.ParseRule(text)
	if err == nil {
		err = rule.Check(name, t.account, t.region, func(child string) bool { return t.alarms[child] != nil })
	}
	if err != nil {
		return nil, invalid("AlarmRule is invalid: %v", err)
	}
	for _, child := range rule.Children() {
		parents := 0
		for _, p := range t.composites() {
			if p.Name != name && p.rule.Refers(child.Name) {
				parents++
			}
		}
		if parents >= maxParents {
			return nil, invalid("The alarm %s is a child of %d composite alarms already.", child.Name, maxParents)
		}
	}
	return rule, nil
}

// checkSuppressor returns the name of the suppressor alarm, "" if there is none.
func (t *tenant) checkSuppressor(name string, a *types.CompositeAlarm) (string, error) {
	wait, extension := a.ActionsSuppressorWaitPeriod, a.ActionsSuppressorExtensionPeriod
	if aws.ToString(a.ActionsSuppressor) == "" {
		if wait != nil || extension != nil {
			return "", invalid("ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod need ActionsSuppressor.")
		}
		return "", nil
	}
	ref := alarm.ParseReference(*a.ActionsSuppressor)
	switch {
	case wait == nil || extension == nil:
		return "", invalid("ActionsSuppressor needs ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod.")
	case *wait < 0 || *extension < 0:
		return "", invalid("ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod must not be negative.")
	case ref.Account != "" && (ref.Account != t.account || ref.Region != t.region):
		return "", invalid("ActionsSuppressor %s is not of this account and Region.", *a.ActionsSuppressor)
	case ref.Name == name:
		return "", invalid("A composite alarm cannot suppress itself.")
	case t.alarms[ref.Name] == nil:
		return "", invalid("ActionsSuppressor %s does not exist.", ref.Name)
	}
	return ref.Name, nil
}

// setSuppressor configures suppression. Replacing the suppressor discards a
// running period.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-suppression.html
func (c *CloudWatch) setSuppressor(r *record, suppressor string) {
	if r.suppressor != suppressor {
		r.suppressor, r.suppression = suppressor, alarm.Suppression{}
	}
	r.suppression.Wait = time.Duration(aws.ToInt32(r.composite.ActionsSuppressorWaitPeriod)) * time.Second
	r.suppression.Extension = time.Duration(aws.ToInt32(r.composite.ActionsSuppressorExtensionPeriod)) * time.Second
	c.hold(r)
}
