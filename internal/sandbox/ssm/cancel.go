package ssm

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// CancelCommand asks to end a command. What has run, has run.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CancelCommand.html
func (s *SSM) CancelCommand(r *wire.Request, in *ssm.CancelCommandInput) (*ssm.CancelCommandOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	n := slices.IndexFunc(reg.commands, func(c *command) bool { return c.id == aws.ToString(in.CommandId) })
	if n < 0 {
		return nil, wire.Errorf("InvalidCommandId", "There is no command %s", aws.ToString(in.CommandId))
	}
	c := reg.commands[n]
	for _, id := range in.InstanceIds {
		if !slices.ContainsFunc(c.invocations, func(i *invocation) bool { return i.instance == id }) {
			return nil, invalidInstance(id)
		}
	}
	for _, i := range c.invocations {
		if i.done() || len(in.InstanceIds) > 0 && !slices.Contains(in.InstanceIds, i.instance) {
			continue
		}
		c.cancelling = true
		i.status, i.details = types.CommandInvocationStatusCancelling, detailCancelling
		i.cancel(errCancelled)
	}
	return &ssm.CancelCommandOutput{}, nil
}
