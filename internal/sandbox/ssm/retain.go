package ssm

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// historyKept is how long Systems Manager knows of a command; historyMost is a
// bound of the sandbox, so that one that runs for long does not grow.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html
const (
	historyKept = 30 * 24 * time.Hour
	historyMost = 5000
)

// retain forgets commands that are too old or too many. One that is not over is
// never forgotten.
func (reg *region) retain(now time.Time) {
	surplus := len(reg.commands) - historyMost
	reg.commands = slices.DeleteFunc(reg.commands, func(c *command) bool {
		if !c.over() || surplus <= 0 && now.Sub(c.requested) <= historyKept {
			return false
		}
		surplus--
		return true
	})
}

// over reports whether a command has ended on all instances.
func (c *command) over() bool {
	return !slices.ContainsFunc(c.invocations, func(i *invocation) bool {
		switch i.status {
		case types.CommandInvocationStatusPending, types.CommandInvocationStatusInProgress, types.CommandInvocationStatusDelayed, types.CommandInvocationStatusCancelling:
			return true
		}
		return false
	})
}
