package ssm

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// TestRetain: commands are forgotten after 30 days, or when they are too many,
// but not while they run.
func TestRetain(t *testing.T) {
	now := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	sent := func(id string, age time.Duration, status types.CommandInvocationStatus) *command {
		return &command{id: id, requested: now.Add(-age), invocations: []*invocation{{status: status}}}
	}
	reg := &region{commands: []*command{
		sent("old", historyKept+1, types.CommandInvocationStatusSuccess), sent("old, and runs", historyKept+1, types.CommandInvocationStatusInProgress),
		sent("young", historyKept, types.CommandInvocationStatusFailed),
	}}
	reg.retain(now)
	if got := fmt.Sprintf("%d: %s; %s", len(reg.commands), reg.commands[0].id, reg.commands[1].id); got != "2: old, and runs; young" {
		t.Errorf("kept: %s", got)
	}
	for n := range historyMost + 10 {
		reg.commands = append(reg.commands, sent(fmt.Sprint(n), time.Minute, types.CommandInvocationStatusSuccess))
	}
	reg.retain(now)
	if n := len(reg.commands); n != historyMost || reg.commands[0].id != "old, and runs" || reg.commands[1].id != "11" {
		t.Errorf("%d commands are kept, the oldest are %s and %s", n, reg.commands[0].id, reg.commands[1].id)
	}
}
