package ssm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Lengths of output, in characters.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CommandPlugin.html
const (
	maxStdout       = 24000
	maxStderr       = 8000
	maxPluginOutput = 2500
)

func first(text string, n int) string {
	r := []rune(text)
	return string(r[:min(n, len(r))])
}

func (i *invocation) done() bool { return !i.ended.IsZero() }

// status is that of the whole command.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_Command.html
func (c *command) status() (types.CommandStatus, string) {
	count := map[string]int{}
	open := 0
	for _, i := range c.invocations {
		count[i.details]++
		if !i.done() {
			open++
		}
	}
	switch {
	case len(c.invocations) == 0:
		return types.CommandStatusSuccess, "NoInstancesInTag"
	case open > 0 && c.cancelling:
		return types.CommandStatusCancelling, detailCancelling
	case count[detailPending] == len(c.invocations):
		return types.CommandStatusPending, detailPending
	case open > 0 && count[detailDelayed] == open:
		return types.CommandStatusInProgress, detailDelayed
	case open > 0:
		return types.CommandStatusInProgress, detailInProgress
	case count[detailFailed]+count[detailUndelivered] > 0:
		return types.CommandStatusFailed, detailFailed
	case count[detailExecution] > 0:
		return types.CommandStatusTimedOut, detailExecution
	case count[detailDelivery] > 0:
		return types.CommandStatusTimedOut, detailDelivery
	case count[detailCancelled] > 0:
		return types.CommandStatusCancelled, detailCancelled
	}
	return types.CommandStatusSuccess, detailSuccess
}

func (c *command) show() types.Command {
	status, details := c.status()
	shown := types.Command{
		CommandId: aws.String(c.id), DocumentName: aws.String(c.document), DocumentVersion: aws.String(c.version), Comment: aws.String(c.comment),
		Parameters: c.given, InstanceIds: c.instances, Targets: c.targets, Status: status, StatusDetails: aws.String(details),
		RequestedDateTime: aws.Time(c.requested), ExpiresAfter: aws.Time(c.requested.Add(c.total)), TimeoutSeconds: aws.Int32(int32(c.timeout / time.Second)),
		TargetCount: int32(len(c.invocations)), MaxConcurrency: aws.String("50"), MaxErrors: aws.String("0"),
		OutputS3BucketName: aws.String(""), OutputS3KeyPrefix: aws.String(""), ServiceRole: aws.String(""),
	}
	for _, i := range c.invocations {
		if !i.done() {
			continue
		}
		shown.CompletedCount++
		switch i.details {
		case detailFailed, detailExecution:
			shown.ErrorCount++
		case detailDelivery:
			shown.DeliveryTimedOutCount++
		}
	}
	return shown
}

// visible returns the commands that a reader may see, the newest first.
func (s *SSM) visible(reg *region, id *string) []*command {
	now := s.world.Clock.Now()
	var all []*command
	for _, c := range slices.Backward(reg.commands) {
		if (id == nil || *id == c.id) && !now.Before(c.visible) {
			all = append(all, c)
		}
	}
	return all
}

// GetCommandInvocation shows a command on one instance. For a moment after
// SendCommand there is none yet.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html
func (s *SSM) GetCommandInvocation(r *wire.Request, in *ssm.GetCommandInvocationInput) (*ssm.GetCommandInvocationOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	for _, c := range s.visible(reg, aws.String(aws.ToString(in.CommandId))) {
		for _, i := range c.invocations {
			if i.instance == aws.ToString(in.InstanceId) {
				return i.show(in.PluginName)
			}
		}
	}
	return nil, wire.Errorf("InvocationDoesNotExist", "An error occurred (InvocationDoesNotExist): command %s has no invocation on %s", aws.ToString(in.CommandId), aws.ToString(in.InstanceId))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

func (i *invocation) show(name *string) (*ssm.GetCommandInvocationOutput, error) {
	plugins := i.plugins
	if name != nil {
		n := slices.IndexFunc(plugins, func(p *plugin) bool { return p.name == *name })
		if n < 0 {
			return nil, wire.Errorf("InvalidPluginName", "The plugin %s is not in the document %s", *name, i.command.document)
		}
		plugins = plugins[n : n+1]
	}
	out := &ssm.GetCommandInvocationOutput{
		CommandId: aws.String(i.command.id), InstanceId: aws.String(i.instance), Comment: aws.String(i.command.comment),
		DocumentName: aws.String(i.command.document), DocumentVersion: aws.String(i.command.version), PluginName: aws.String(i.plugins[0].name),
		Status: i.status, StatusDetails: aws.String(i.details), ResponseCode: -1,
		ExecutionStartDateTime: aws.String(stamp(i.started)), ExecutionEndDateTime: aws.String(""), ExecutionElapsedTime: aws.String(""),
		StandardOutputUrl: aws.String(""), StandardErrorUrl: aws.String(""),
	}
	if name != nil {
		out.PluginName = name
		out.Status, out.StatusDetails = types.CommandInvocationStatus(plugins[0].status), aws.String(plugins[0].details)
	}
	if i.done() && !i.started.IsZero() {
		out.ExecutionEndDateTime = aws.String(stamp(i.ended))
		out.ExecutionElapsedTime = aws.String(fmt.Sprintf("PT%.3fS", i.ended.Sub(i.started).Seconds()))
	}
	var stdout, stderr strings.Builder
	code := 0
	for _, p := range plugins {
		stdout.WriteString(p.run.Stdout)
		stderr.WriteString(p.run.Stderr)
		if code == 0 {
			code = p.run.Code
		}
	}
	if i.done() {
		out.ResponseCode = int32(code)
	}
	out.StandardOutputContent, out.StandardErrorContent = aws.String(first(stdout.String(), maxStdout)), aws.String(first(stderr.String(), maxStderr))
	return out, nil
}

// ListCommands lists commands, the newest first.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListCommands.html
func (s *SSM) ListCommands(r *wire.Request, in *ssm.ListCommandsInput) (*ssm.ListCommandsOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	var all []types.Command
	for _, c := range s.visible(reg, in.CommandId) {
		if in.InstanceId != nil && !slices.ContainsFunc(c.invocations, func(i *invocation) bool { return i.instance == *in.InstanceId }) {
			continue
		}
		status, _ := c.status()
		ok, err := c.passes(in.Filters, string(status))
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, c.show())
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.ListCommandsOutput{Commands: shown, NextToken: next}, err
}

// passes applies the filters of both lists.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CommandFilter.html
func (c *command) passes(filters []types.CommandFilter, status string) (bool, error) {
	for _, f := range filters {
		v := aws.ToString(f.Value)
		var ok bool
		switch f.Key {
		case types.CommandFilterKeyInvokedAfter, types.CommandFilterKeyInvokedBefore:
			at, err := time.Parse(time.RFC3339, v)
			if err != nil {
				return false, wire.Errorf("InvalidFilterKey", "%s: %q is not a time such as 2024-07-07T00:00:00Z", f.Key, v)
			}
			if f.Key == types.CommandFilterKeyInvokedAfter {
				ok = c.requested.After(at)
			} else {
				ok = c.requested.Before(at)
			}
		case types.CommandFilterKeyStatus:
			ok = status == v
		case types.CommandFilterKeyDocumentName:
			ok = c.document == v
		case types.CommandFilterKeyExecutionStage:
			complete := !slices.ContainsFunc(c.invocations, func(i *invocation) bool { return !i.done() })
			ok = v == "Complete" && complete || v == "Executing" && !complete
		default:
			return false, wire.Errorf("InvalidFilterKey", "The filter %s is not valid", f.Key)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// ListCommandInvocations lists commands by instance, the newest first, with
// their steps if Details are asked for.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListCommandInvocations.html
func (s *SSM) ListCommandInvocations(r *wire.Request, in *ssm.ListCommandInvocationsInput) (*ssm.ListCommandInvocationsOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	var all []types.CommandInvocation
	for _, c := range s.visible(reg, in.CommandId) {
		for _, i := range c.invocations {
			if in.InstanceId != nil && i.instance != *in.InstanceId {
				continue
			}
			ok, err := c.passes(in.Filters, string(i.status))
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, i.listed(in.Details))
			}
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.ListCommandInvocationsOutput{CommandInvocations: shown, NextToken: next}, err
}

func (i *invocation) listed(details bool) types.CommandInvocation {
	shown := types.CommandInvocation{
		CommandId: aws.String(i.command.id), InstanceId: aws.String(i.instance), InstanceName: aws.String(""), Comment: aws.String(i.command.comment),
		DocumentName: aws.String(i.command.document), DocumentVersion: aws.String(i.command.version), RequestedDateTime: aws.Time(i.command.requested),
		Status: i.status, StatusDetails: aws.String(i.details), StandardOutputUrl: aws.String(""), StandardErrorUrl: aws.String(""),
	}
	if !details {
		return shown
	}
	for _, p := range i.plugins {
		output := p.run.Stdout
		if p.run.Stderr != "" {
			output += "\n----------ERROR-------\n" + p.run.Stderr
		}
		plugin := types.CommandPlugin{
			Name: aws.String(p.name), Status: p.status, StatusDetails: aws.String(p.details), ResponseCode: int32(p.run.Code),
			Output: aws.String(first(output, maxPluginOutput)), OutputS3BucketName: aws.String(""), OutputS3KeyPrefix: aws.String(""),
		}
		if !p.run.Started.IsZero() {
			plugin.ResponseStartDateTime = aws.Time(p.run.Started)
		}
		if !p.run.Ended.IsZero() {
			plugin.ResponseFinishDateTime = aws.Time(p.run.Ended)
		}
		shown.CommandPlugins = append(shown.CommandPlugins, plugin)
	}
	return shown
}
