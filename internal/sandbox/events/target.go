package events

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

// The limits of targets.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
const (
	maxTargets  = 5   // of a rule
	maxInCall   = 100 // entries
	maxInput    = 8192
	maxTemplate = 8192
)

var (
	targetID = regexp.MustCompile(`^[\.\-_A-Za-z0-9]{1,64}$`)
	roleARN  = regexp.MustCompile(`^arn:aws:iam::\d{12}:role/[\w+=,.@/-]+$`)
)

// target is where a rule sends events. It does not change.
type target struct {
	given types.Target
	retry delivery.Retry
	input input
}

// readTarget checks a target of a rule.
func readTarget(t types.Target) (*target, error) {
	id := aws.ToString(t.Id)
	switch {
	case !targetID.MatchString(id):
		return nil, invalid("1 validation error detected: Value '%s' at 'targets.member.id' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+", id)
	case !delivery.Reachable(aws.ToString(t.Arn)):
		return nil, invalid("Parameter %s is not valid. Reason: the sandbox sends to Lambda functions, standard SQS queues and standard SNS topics.", aws.ToString(t.Arn))
	case t.RoleArn != nil && !roleARN.MatchString(*t.RoleArn):
		return nil, invalid("Parameter RoleArn of target %s is not valid. Reason: Provided Arn is not in correct format.", id)
	case t.DeadLetterConfig != nil && t.DeadLetterConfig.Arn != nil && !delivery.Queue(*t.DeadLetterConfig.Arn):
		return nil, invalid("Parameter DeadLetterConfig of target %s is not valid. Reason: it is not the ARN of a standard SQS queue.", id)
	case t.AppSyncParameters != nil || t.BatchParameters != nil || t.EcsParameters != nil || t.HttpParameters != nil || t.KinesisParameters != nil ||
		t.RedshiftDataParameters != nil || t.RunCommandParameters != nil || t.SageMakerPipelineParameters != nil || t.SqsParameters != nil:
		return nil, invalid("The parameters of target %s do not apply to %s.", id, aws.ToString(t.Arn))
	}
	x := &target{given: t}
	var err error
	if p := t.RetryPolicy; p != nil {
		x.retry, err = delivery.NewRetry(p.MaximumRetryAttempts, p.MaximumEventAgeInSeconds)
	} else {
		x.retry, err = delivery.NewRetry(nil, nil)
	}
	if err != nil {
		return nil, invalid("RetryPolicy of target %s: %v", id, err)
	}
	x.input, err = readInput(t)
	return x, err
}

// readInput checks what a target is to receive.
func readInput(t types.Target) (input, error) {
	id, given := aws.ToString(t.Id), 0
	for _, set := range []bool{t.Input != nil, t.InputPath != nil, t.InputTransformer != nil} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return input{}, invalid("Only one of Input, InputPath, or InputTransformer must be provided for target %s.", id)
	case t.Input != nil:
		if len(*t.Input) > maxInput || !json.Valid([]byte(*t.Input)) {
			return input{}, invalid("JSON syntax error in input for target %s", id)
		}
		return input{constant: []byte(*t.Input)}, nil
	case t.InputPath != nil:
		p, err := parsePath(*t.InputPath)
		if err != nil {
			return input{}, invalid("Invalid InputPath for target %s: %v", id, err)
		}
		return input{path: p}, nil
	case t.InputTransformer != nil:
		x, err := parseTransformer(t.InputTransformer)
		if err != nil {
			return input{}, invalid("Invalid InputTransformer for target %s : %v", id, err)
		}
		return input{transformer: x}, nil
	}
	return input{}, nil
}

// putTargets adds targets to a rule, or replaces those with the same ID.
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html
func (e *Events) putTargets(r *wire.Request, in *api.PutTargetsInput) (*api.PutTargetsOutput, error) {
	if n := len(in.Targets); n == 0 || n > maxInCall {
		return nil, invalid("1 validation error detected: Value at 'targets' failed to satisfy constraint: Member must have between 1 and %d elements, not %d", maxInCall, n)
	}
	read := map[string]*target{}
	for _, t := range in.Targets {
		x, err := readTarget(t)
		if err != nil {
			return nil, err
		}
		read[*t.Id] = x
	}
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	x, err := e.rule(all, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	merged := maps.Clone(x.targets)
	maps.Copy(merged, read)
	if len(merged) > maxTargets {
		return nil, wire.Errorf("LimitExceededException", "The requested resource exceeds the maximum number allowed.")
	}
	x.targets = merged
	return &api.PutTargetsOutput{FailedEntries: []types.PutTargetsResultEntry{}}, nil
}

func (e *Events) removeTargets(r *wire.Request, in *api.RemoveTargetsInput) (*api.RemoveTargetsOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	x, err := e.rule(all, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	out := &api.RemoveTargetsOutput{FailedEntries: []types.RemoveTargetsResultEntry{}}
	left := maps.Clone(x.targets)
	for _, id := range in.Ids {
		if left[id] == nil {
			out.FailedEntryCount++
			out.FailedEntries = append(out.FailedEntries, types.RemoveTargetsResultEntry{
				TargetId: aws.String(id), ErrorCode: aws.String("ResourceNotFoundException"), ErrorMessage: aws.String("Rule " + x.name + " does not have target " + id + "."),
			})
		}
		delete(left, id)
	}
	x.targets = left
	return out, nil
}

func (e *Events) listTargetsByRule(r *wire.Request, in *api.ListTargetsByRuleInput) (*api.ListTargetsByRuleOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	x, err := e.rule(all, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	found := []types.Target{}
	for _, id := range slices.Sorted(maps.Keys(x.targets)) {
		found = append(found, x.targets[id].given)
	}
	some, next, err := page(found, in.Limit, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListTargetsByRuleOutput{Targets: some, NextToken: next}, nil
}

func (e *Events) listRuleNamesByTarget(r *wire.Request, in *api.ListRuleNamesByTargetInput) (*api.ListRuleNamesByTargetOutput, error) {
	all, _ := e.enter(r)
	defer e.mu.Unlock()
	b, err := find(all, in.EventBusName)
	if err != nil {
		return nil, err
	}
	found := []string{}
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		for _, t := range b.rules[name].targets {
			if *t.given.Arn == aws.ToString(in.TargetArn) {
				found = append(found, name)
				break
			}
		}
	}
	some, next, err := page(found, in.Limit, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &api.ListRuleNamesByTargetOutput{RuleNames: some, NextToken: next}, nil
}
