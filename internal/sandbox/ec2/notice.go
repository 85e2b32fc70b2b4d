package ec2

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// notice is the event about a new state of an instance.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html
type notice struct {
	Version    string       `json:"version"`
	ID         string       `json:"id"`
	DetailType string       `json:"detail-type"`
	Source     string       `json:"source"`
	Account    string       `json:"account"`
	Time       string       `json:"time"`
	Region     string       `json:"region"`
	Resources  []string     `json:"resources"`
	Detail     noticeDetail `json:"detail"`
}

type noticeDetail struct {
	InstanceID string                  `json:"instance-id"`
	State      types.InstanceStateName `json:"state"`
}

// become puts an instance into another state and tells EventBridge. The lock
// is held.
func (e *EC2) become(reg *region, i *instance, state types.InstanceStateName, reason *types.StateReason) {
	changed := i.state != state
	i.state, i.reason = state, reason
	if !changed || e.world.Events == nil {
		return
	}
	event, err := json.Marshal(notice{
		Version: "0", ID: e.world.UUID(), DetailType: "EC2 Instance State-change Notification", Source: "aws.ec2",
		Account: reg.account, Time: e.world.Clock.Now().UTC().Format(time.RFC3339), Region: reg.name(),
		Resources: []string{reg.arn("instance/" + i.id)}, Detail: noticeDetail{InstanceID: i.id, State: state},
	})
	if err != nil {
		slog.Error("cannot write an event", "instance", i.id, "error", err)
		return
	}
	e.world.Events.Emit(reg.name(), reg.account, event)
}
