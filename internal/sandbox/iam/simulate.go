package iam

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// simulatePrincipalPolicy decides every action on every resource for a role,
// with the condition keys that the caller gives and no others.
//
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
func (i *IAM) simulatePrincipalPolicy(r *wire.Request, in *api.SimulatePrincipalPolicyInput) (*api.SimulatePrincipalPolicyOutput, error) {
	if len(in.ActionNames) == 0 {
		return nil, invalid("1 validation error detected: Value at 'actionNames' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	l, err := i.simulated(in)
	if err != nil {
		return nil, err
	}
	ctx := policy.Context{}
	for _, e := range in.ContextEntries {
		ctx.Set(aws.ToString(e.ContextKeyName), e.ContextKeyValues...)
	}
	resources := in.ResourceArns
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	out := &api.SimulatePrincipalPolicyOutput{}
	for _, action := range in.ActionNames {
		for _, resource := range resources {
			q := policy.Request{Action: action, Resource: resource, Context: ctx}
			decision, _ := l.decide(q)
			result := types.EvaluationResult{
				EvalActionName: aws.String(action), EvalResourceName: aws.String(resource),
				EvalDecision: types.PolicyEvaluationDecisionType(decision.String()),
			}
			if l.boundary != nil {
				bound, _ := l.bounds(q)
				result.PermissionsBoundaryDecisionDetail = &types.PermissionsBoundaryDecisionDetail{AllowedByPermissionsBoundary: bound == policy.Allowed}
			}
			out.EvaluationResults = append(out.EvaluationResults, result)
		}
	}
	return out, nil
}

// simulated collects the policies of the role and those that the caller adds.
func (i *IAM) simulated(in *api.SimulatePrincipalPolicyInput) (limits, error) {
	var l limits
	i.mu.Lock()
	a, found, ok := i.roleByARN(aws.ToString(in.PolicySourceArn))
	if ok {
		l.identity, l.boundary = a.policiesOf(found)
	}
	i.mu.Unlock()
	if !ok {
		return l, noSuchEntity("The role with ARN %s cannot be found.", aws.ToString(in.PolicySourceArn))
	}
	for _, text := range in.PolicyInputList {
		s, err := parse(policy.Identity, text, "", 0)
		if err != nil {
			return l, err
		}
		l.identity = append(l.identity, s.doc)
	}
	for _, text := range in.PermissionsBoundaryPolicyInputList {
		s, err := parse(policy.Identity, text, "", 0)
		if err != nil {
			return l, err
		}
		l.boundary = s.doc
	}
	return l, nil
}

// getUser knows the root user only: the sandbox has no other.
func (i *IAM) getUser(r *wire.Request, in *api.GetUserInput) (*api.GetUserOutput, error) {
	switch {
	case in.UserName != nil:
		return nil, noSuchEntity("The user with name %s cannot be found.", *in.UserName)
	case !r.Caller.Root:
		return nil, invalid("Must specify userName when calling with non-User credentials")
	}
	return &api.GetUserOutput{User: &types.User{
		Arn: aws.String(rootARN(r.Account)), UserId: aws.String(r.Account), Path: aws.String("/"), CreateDate: aws.Time(beforeAll),
	}}, nil
}
