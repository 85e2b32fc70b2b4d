package cloudwatch

import (
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// deleteAlarms deletes all given alarms or none. A composite alarm goes alone, a
// child or suppressor only after its composite alarm, and nothing in a cycle.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DeleteAlarms.html
func (c *CloudWatch) deleteAlarms(r *wire.Request, in *api.DeleteAlarmsInput) (*api.DeleteAlarmsOutput, error) {
	if len(in.AlarmNames) > maxNames {
		return nil, invalid("AlarmNames must have at most %d names.", maxNames)
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	var doomed []*record
	for _, name := range in.AlarmNames {
		x := t.alarms[name]
		switch {
		case x == nil:
			return nil, noAlarm(name)
		case x.composite != nil && len(in.AlarmNames) > 1:
			return nil, invalid("A composite alarm can only be deleted alone: %s", name)
		case x.cyclic:
			return nil, invalid("The composite alarm %s is part of a dependency cycle: set the rule of one alarm in it to FALSE first.", name)
		}
		doomed = append(doomed, x)
	}
	for _, p := range t.composites() {
		for _, x := range doomed {
			if p != x && (p.suppressor == x.Name || p.rule.Refers(x.Name)) {
				return nil, invalid("Cannot delete %s as there are composite alarm(s) depending on it: %s", x.Name, p.Name)
			}
		}
	}
	for _, x := range doomed {
		c.dismiss(x)
		delete(t.alarms, x.Name)
		t.note(x, configured(x, now, "deleted", nil))
	}
	t.findCycles()
	return &api.DeleteAlarmsOutput{}, nil
}
