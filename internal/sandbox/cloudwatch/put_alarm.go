package cloudwatch

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
const (
	maxAlarmName        = 255
	maxAlarmDescription = 1024
	maxActions          = 5
)

// checkSettings verifies what both kinds of alarms have. refused are the services
// whose actions the kind does not support.
func (t *tenant) checkSettings(name string, s *settings, refused ...string) error {
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxAlarmName:
		return invalid("AlarmName must have 1 to %d characters.", maxAlarmName)
	case utf8.RuneCountInString(aws.ToString(s.description)) > maxAlarmDescription:
		return invalid("AlarmDescription must have at most %d characters.", maxAlarmDescription)
	}
	for _, list := range [][]string{s.onAlarm, s.onOK, s.onInsufficient} {
		if len(list) > maxActions {
			return invalid("An alarm can have at most %d actions for each state, not %d.", maxActions, len(list))
		}
		for _, action := range list {
			if err := t.checkAction(action, refused); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tenant) checkAction(action string, refused []string) error {
	f := strings.SplitN(action, ":", 6)
	if len(f) != 6 || f[0] != "arn" {
		return invalid("Invalid arn syntax: %s", action)
	}
	if slices.Contains(refused, f[2]) {
		return invalid("The action %s is not supported for this kind of alarm.", action)
	}
	if f[2] == "sns" && f[3] != t.region {
		return invalid("Invalid region %s specified. Only %s is supported.", f[3], t.region)
	}
	return nil
}

// Services in the ARNs of actions on instances and Auto Scaling groups, which
// are refused where AWS does not run them.
const (
	actionsOfEC2         = "automate"
	workflowsOfEC2       = "swf"
	actionsOfAutoScaling = "autoscaling"
)

func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// create registers a new alarm in INSUFFICIENT_DATA.
func (t *tenant) create(name string, now time.Time, tags []types.Tag) *record {
	r := &record{
		Identity: alarm.Identity{Name: name, ARN: alarm.ARN(t.region, t.account, name), Account: t.account, Region: t.region},
		tenant:   t, tags: map[string]string{}, transitioned: now, place: -1,
		state: alarm.Condition{State: alarm.InsufficientData, Reason: alarm.CreationReason, At: now},
	}
	for _, tag := range tags {
		r.tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	t.alarms[name] = r
	return r
}
