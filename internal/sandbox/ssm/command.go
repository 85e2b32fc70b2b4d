package ssm

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Limits of SendCommand:
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html
const (
	maxInstances   = 50
	maxComment     = 100
	minTimeout     = 30
	maxTimeout     = 2592000
	defaultTimeout = 3600
)

// command is one SendCommand call.
type command struct {
	id, document, version string
	comment               string
	given                 map[string][]string
	instances             []string // as named by the caller
	targets               []types.Target
	timeout               time.Duration // of the delivery
	total                 time.Duration // of delivery and execution
	requested             time.Time
	visible               time.Time
	invocations           []*invocation
	cancelling            bool
}

// invocation is a command on one instance.
type invocation struct {
	command  *command
	instance string
	status   types.CommandInvocationStatus
	details  string
	started  time.Time // zero until it was delivered
	ended    time.Time
	plugins  []*plugin
	cancel   context.CancelCauseFunc
}

// plugin is a step of the document on an instance.
type plugin struct {
	name    string
	status  types.CommandPluginStatus
	details string
	run     world.CommandResult // Code -1 until it ended
}

// work is what is run: a step with its parameters put in.
type work struct {
	name, script, onFailure string
	env                     map[string]string
	timeout                 time.Duration
	skipped                 bool
}

// SendCommand runs a document on managed instances. It is not idempotent.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html
func (s *SSM) SendCommand(r *wire.Request, in *ssm.SendCommandInput) (*ssm.SendCommandOutput, error) {
	if err := checkSend(in); err != nil {
		return nil, err
	}
	s.survey()
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, err := s.find(reg, in.DocumentName)
	if err != nil {
		return nil, err
	}
	v, err := d.version(aws.ToString(in.DocumentVersion))
	if err != nil {
		return nil, err
	}
	if in.DocumentHash != nil && *in.DocumentHash != v.hash() {
		return nil, wire.Errorf("InvalidDocument", "The hash of version %d of document %s is %s", v.number, d.name, v.hash())
	}
	values, err := v.content.bind(in.Parameters)
	if err != nil {
		return nil, err
	}
	todo, err := v.content.prepare(values)
	if err != nil {
		return nil, err
	}
	instances, err := reg.targeted(in)
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(defaultTimeout) * time.Second
	if in.TimeoutSeconds != nil {
		timeout = time.Duration(*in.TimeoutSeconds) * time.Second
	}
	now := s.world.Clock.Now()
	c := &command{
		id: s.world.UUID(), document: d.name, version: aws.ToString(in.DocumentVersion), comment: aws.ToString(in.Comment), given: in.Parameters,
		instances: in.InstanceIds, targets: in.Targets, timeout: timeout, total: timeout, requested: now, visible: now.Add(s.delays.Visibility),
	}
	for _, w := range todo {
		c.total += w.timeout
	}
	for _, id := range instances {
		s.dispatch(reg, c, id, todo)
	}
	reg.commands = append(reg.commands, c)
	reg.retain(now)
	shown := c.show()
	return &ssm.SendCommandOutput{Command: &shown}, nil
}

func checkSend(in *ssm.SendCommandInput) error {
	switch {
	case aws.ToString(in.DocumentName) == "":
		return validation("DocumentName is required")
	case len(in.InstanceIds) == 0 && len(in.Targets) == 0:
		return validation("Either InstanceIds or Targets is required")
	case len(in.InstanceIds) > 0 && len(in.Targets) > 0:
		return validation("InstanceIds and Targets cannot be used together")
	case len(in.InstanceIds) > maxInstances:
		return validation("1 validation error detected: Value at 'instanceIds' failed to satisfy constraint: Member must have length less than or equal to %d", maxInstances)
	case utf8.RuneCountInString(aws.ToString(in.Comment)) > maxComment:
		return validation("1 validation error detected: Value at 'comment' failed to satisfy constraint: Member must have length less than or equal to %d", maxComment)
	case in.TimeoutSeconds != nil && (*in.TimeoutSeconds < minTimeout || *in.TimeoutSeconds > maxTimeout):
		return validation("1 validation error detected: Value '%d' at 'timeoutSeconds' failed to satisfy constraint: Member must be between %d and %d", *in.TimeoutSeconds, minTimeout, maxTimeout)
	}
	for n, id := range in.InstanceIds {
		if slices.Contains(in.InstanceIds[:n], id) {
			return wire.Errorf("DuplicateInstanceId", "The instance ID %s is named twice", id)
		}
	}
	return nil
}

// targeted returns the managed instances of a call. Named ones must be
// registered, though their agents need not answer.
func (reg *region) targeted(in *ssm.SendCommandInput) ([]string, error) {
	var missing []string
	for _, id := range in.InstanceIds {
		if reg.agents[id] == nil {
			missing = append(missing, id)
		}
	}
	if missing != nil {
		return nil, invalidInstance(missing...)
	}
	if len(in.Targets) == 0 {
		return in.InstanceIds, nil
	}
	var found []string
	for id, a := range reg.agents {
		all := true
		for _, t := range in.Targets {
			key := aws.ToString(t.Key)
			switch tag, isTag := strings.CutPrefix(key, "tag:"); {
			case isTag:
				v, ok := a.machine.Tags[tag]
				all = all && ok && slices.Contains(t.Values, v)
			case strings.EqualFold(key, "InstanceIds"):
				all = all && slices.Contains(t.Values, id)
			default:
				return nil, wire.Errorf("InvalidTarget", "The target key %q is not supported by the sandbox", key)
			}
		}
		if all {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found, nil
}

// prepare puts values into the steps.
func (c *content) prepare(values map[string]any) ([]work, error) {
	env := c.environment(values)
	var todo []work
	for _, s := range c.MainSteps {
		w := work{name: s.Name, onFailure: s.OnFailure, env: env}
		if !applies(s, values) {
			w.skipped = true
			todo = append(todo, w)
			continue
		}
		inputs, _ := substitute(s.Inputs, values).(map[string]any)
		w.script = strings.Join(lines(inputs["runCommand"]), "\n") + "\n"
		if dir, ok := inputs["workingDirectory"].(string); ok && dir != "" {
			w.script = "cd '" + strings.ReplaceAll(dir, "'", `'\''`) + "' || exit 1\n" + w.script
		}
		seconds := 3600
		if t, ok := inputs["timeoutSeconds"]; ok {
			var err error
			if seconds, err = strconv.Atoi(pasted(t)); err != nil || seconds < 1 {
				return nil, badParameters("Step %q: timeoutSeconds is %s, want a number of seconds", s.Name, pasted(t))
			}
		}
		w.timeout = time.Duration(seconds) * time.Second
		todo = append(todo, w)
	}
	return todo, nil
}

// applies evaluates the precondition of a step on a Linux host.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-schemas-features.html#documents-schema-twox-precondition
func applies(s step, values map[string]any) bool {
	if s.Action != actionShell {
		return false
	}
	pair, ok := s.Precondition["StringEquals"].([]any)
	if !ok {
		return s.Precondition == nil
	}
	if len(pair) != 2 {
		return false
	}
	operand := func(v any) string {
		if text := pasted(substitute(v, values)); text != "platformType" {
			return text
		}
		return "Linux"
	}
	return operand(pair[0]) == operand(pair[1])
}
