package cloudwatch

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// setAlarmState sets a state for a while: a metric alarm returns to what its data
// says at its next evaluation, a composite alarm when a child changes.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_SetAlarmState.html
func (c *CloudWatch) setAlarmState(r *wire.Request, in *api.SetAlarmStateInput) (*api.SetAlarmStateOutput, error) {
	state := alarm.State(in.StateValue)
	data := aws.ToString(in.StateReasonData)
	switch {
	case !state.Valid():
		return nil, invalid("1 validation error detected: Value '%s' at 'stateValue' failed to satisfy constraint: Member must satisfy enum value set: [INSUFFICIENT_DATA, ALARM, OK]", in.StateValue)
	case in.StateReason == nil:
		return nil, missing("StateReason")
	case len(*in.StateReason) > 1023:
		return nil, invalid("StateReason must have at most 1023 characters.")
	case len(data) > 4000:
		return nil, invalid("StateReasonData must have at most 4000 characters.")
	case data != "" && !json.Valid([]byte(data)):
		return nil, wire.Errorf("InvalidFormat", "StateReasonData is not JSON.")
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	x := t.alarms[aws.ToString(in.AlarmName)]
	if x == nil {
		return nil, noAlarm(aws.ToString(in.AlarmName))
	}
	if x.state.State != state {
		c.change(x, alarm.Condition{State: state, Reason: *in.StateReason, ReasonData: data, At: now}, now)
	}
	return &api.SetAlarmStateOutput{}, nil
}

func (c *CloudWatch) enableAlarmActions(r *wire.Request, in *api.EnableAlarmActionsInput) (*api.EnableAlarmActionsOutput, error) {
	return &api.EnableAlarmActionsOutput{}, c.switchActions(r, in.AlarmNames, true)
}

func (c *CloudWatch) disableAlarmActions(r *wire.Request, in *api.DisableAlarmActionsInput) (*api.DisableAlarmActionsOutput, error) {
	return &api.DisableAlarmActionsOutput{}, c.switchActions(r, in.AlarmNames, false)
}

// switchActions ignores unknown names, as the service does.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DisableAlarmActions.html
func (c *CloudWatch) switchActions(r *wire.Request, names []string, enabled bool) error {
	if len(names) > maxNames {
		return invalid("AlarmNames must have at most %d names.", maxNames)
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	for _, name := range names {
		x := t.alarms[name]
		if x == nil || x.settings.enabled == enabled {
			continue
		}
		before := x.describe()
		x.settings.enabled, x.settings.updated = enabled, now
		t.note(x, configured(x, now, "updated", before))
	}
	return nil
}
