package ssm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// StatusDetails. The API reference writes them with spaces, its examples
// without: readers must not depend on either.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html
const (
	detailPending      = "Pending"
	detailInProgress   = "InProgress"
	detailDelayed      = "Delayed"
	detailSuccess      = "Success"
	detailFailed       = "Failed"
	detailCancelled    = "Cancelled"
	detailCancelling   = "Cancelling"
	detailDelivery     = "DeliveryTimedOut"
	detailExecution    = "ExecutionTimedOut"
	detailUndelivered  = "Undeliverable"
	detailNotSupported = "NotSupported"
)

// retryInterval is how often a command is offered to an agent that does not
// answer.
const retryInterval = time.Second

// stoppedCode is the exit code of a script that the agent killed.
// https://github.com/aws/amazon-ssm-agent/blob/mainline/agent/appconfig/constants.go (CommandStoppedPreemptivelyExitCode)
const stoppedCode = 137

var (
	errCancelled = errors.New("the command was cancelled")
	errGone      = errors.New("the instance is not managed any more")
)

// dispatch begins a command on an instance. The lock is held.
func (s *SSM) dispatch(reg *region, c *command, instance string, todo []work) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	i := &invocation{command: c, instance: instance, status: types.CommandInvocationStatusPending, details: detailPending, cancel: cancel}
	for _, w := range todo {
		i.plugins = append(i.plugins, &plugin{name: w.name, status: types.CommandPluginStatusPending, details: detailPending, run: world.CommandResult{Code: -1}})
	}
	c.invocations = append(c.invocations, i)
	delay := s.delays.Delivery + s.world.Faults.CommandDelay(world.Delivery{Region: reg.scope.region, Account: reg.scope.account, InstanceID: instance, Document: c.document})
	s.spawn(func() {
		defer cancel(nil)
		status, details := s.deliver(ctx, reg, i, delay, todo)
		s.mu.Lock()
		defer s.mu.Unlock()
		if status == "" {
			return // the service was closed
		}
		i.status, i.details = status, details
		i.ended = s.world.Clock.Now()
		for _, p := range i.plugins {
			if p.status == types.CommandPluginStatusPending || p.status == types.CommandPluginStatusInProgress {
				p.status, p.details = types.CommandPluginStatus(status), details
			}
		}
	})
}

// deliver waits for the agent, runs the steps and returns the final status.
func (s *SSM) deliver(ctx context.Context, reg *region, i *invocation, delay time.Duration, todo []work) (types.CommandInvocationStatus, string) {
	err := s.offer(ctx, reg, i, delay)
	if err == nil {
		bounded, cancel := clock.WithTimeout(ctx, s.world.Clock, i.command.requested.Add(i.command.total).Sub(s.world.Clock.Now()))
		defer cancel()
		err = s.execute(bounded, reg, i, todo)
	}
	switch {
	case err == nil:
		return i.outcome()
	case errors.Is(err, errCancelled):
		return types.CommandInvocationStatusCancelled, detailCancelled
	case errors.Is(err, context.DeadlineExceeded):
		// Neither a delivery nor an answer in time: what the machine did
		// meanwhile is not known.
		return types.CommandInvocationStatusTimedOut, detailDelivery
	case s.ctx.Err() != nil:
		return "", ""
	}
	slog.Debug("command not delivered", "command", i.command.id, "instance", i.instance, "error", err)
	return types.CommandInvocationStatusFailed, detailUndelivered
}

// offer returns when the agent takes the command. A command that nobody took
// within its TimeoutSeconds never runs.
func (s *SSM) offer(ctx context.Context, reg *region, i *invocation, delay time.Duration) error {
	deadline := i.command.requested.Add(i.command.timeout)
	for wait := delay; ; wait = retryInterval {
		left := deadline.Sub(s.world.Clock.Now())
		if err := s.world.Clock.Sleep(ctx, min(wait, max(left, 0))); err != nil {
			return err
		}
		if wait >= left {
			return context.DeadlineExceeded
		}
		online := s.world.Hosts.AgentOnline(i.instance)
		s.mu.Lock()
		registered := reg.agents[i.instance] != nil
		if online && registered && ctx.Err() == nil {
			i.started = s.world.Clock.Now()
			i.status, i.details = types.CommandInvocationStatusInProgress, detailInProgress
		} else if ctx.Err() == nil {
			i.status, i.details = types.CommandInvocationStatusDelayed, detailDelayed
		}
		s.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !registered:
			return errGone
		case online:
			return nil
		}
	}
}

// execute runs the steps in their order. A failed step does not keep the
// following ones from running unless the document says so.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html (onFailure)
func (s *SSM) execute(ctx context.Context, reg *region, i *invocation, todo []work) error {
	for n, w := range todo {
		p := i.plugins[n]
		if w.skipped {
			s.note(p, types.CommandPluginStatusSuccess, detailNotSupported, world.CommandResult{})
			continue
		}
		s.note(p, types.CommandPluginStatusInProgress, detailInProgress, world.CommandResult{Code: -1, Started: s.world.Clock.Now()})
		env := map[string]string{"AWS_SSM_INSTANCE_ID": i.instance, "AWS_SSM_REGION_NAME": reg.scope.region}
		maps.Copy(env, w.env)
		result, err := s.world.Hosts.Run(ctx, world.Command{
			ID: i.command.id, InstanceID: i.instance, Document: i.command.document, Script: w.script, Env: env, Timeout: w.timeout,
		})
		if err != nil {
			if errors.Is(err, errCancelled) {
				result.Code = stoppedCode
				s.note(p, types.CommandPluginStatusCancelled, detailCancelled, result)
			}
			return err
		}
		failed := true
		switch {
		case result.TimedOut:
			result.Code = stoppedCode
			s.note(p, types.CommandPluginStatusTimedOut, detailExecution, result)
		case result.Code != 0:
			result.Stderr += fmt.Sprintf("failed to run commands: exit status %d", result.Code)
			s.note(p, types.CommandPluginStatusFailed, detailFailed, result)
		default:
			failed = false
			s.note(p, types.CommandPluginStatusSuccess, detailSuccess, result)
		}
		if failed && w.onFailure != "" {
			if w.onFailure == "successAndExit" {
				s.note(p, types.CommandPluginStatusSuccess, detailSuccess, result)
			}
			for _, rest := range i.plugins[n+1:] {
				s.note(rest, types.CommandPluginStatusSuccess, "Skipped", world.CommandResult{})
			}
			return nil
		}
	}
	return nil
}

func (s *SSM) note(p *plugin, status types.CommandPluginStatus, details string, result world.CommandResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.status, p.details, p.run = status, details, result
}

// outcome is the status of an invocation whose steps have ended.
func (i *invocation) outcome() (types.CommandInvocationStatus, string) {
	status, details := types.CommandInvocationStatusSuccess, detailSuccess
	for _, p := range i.plugins {
		switch p.status {
		case types.CommandPluginStatusFailed:
			return types.CommandInvocationStatusFailed, detailFailed
		case types.CommandPluginStatusTimedOut:
			status, details = types.CommandInvocationStatusTimedOut, detailExecution
		}
	}
	return status, details
}
