package iam

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (i *IAM) putRolePolicy(r *wire.Request, in *api.PutRolePolicyInput) (*api.PutRolePolicyOutput, error) {
	if err := validName("policyName", aws.ToString(in.PolicyName), 128); err != nil {
		return nil, err
	}
	doc, err := parse(policy.Identity, aws.ToString(in.PolicyDocument), "", 0)
	if err != nil {
		return nil, err
	}
	return &api.PutRolePolicyOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		total := size(doc.text)
		for name, other := range found.inline {
			if name != *in.PolicyName {
				total += size(other.text)
			}
		}
		if total > maxInlinePolicies {
			return limitExceeded("Maximum policy size of %d bytes exceeded for role %s", maxInlinePolicies, found.name)
		}
		found.inline[*in.PolicyName] = doc
		return nil
	})
}

func (i *IAM) getRolePolicy(r *wire.Request, in *api.GetRolePolicyInput) (*api.GetRolePolicyOutput, error) {
	out := &api.GetRolePolicyOutput{RoleName: in.RoleName, PolicyName: in.PolicyName}
	return out, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		doc, ok := found.inline[aws.ToString(in.PolicyName)]
		if !ok {
			return noSuchEntity("The role policy with name %s cannot be found.", aws.ToString(in.PolicyName))
		}
		out.PolicyDocument = encode(doc.text)
		return nil
	})
}

func (i *IAM) listRolePolicies(r *wire.Request, in *api.ListRolePoliciesInput) (*api.ListRolePoliciesOutput, error) {
	out := &api.ListRolePoliciesOutput{}
	return out, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		out.PolicyNames, out.Marker, out.IsTruncated = page(keysOf(found.inline), func(s string) string { return s }, in.Marker, in.MaxItems)
		return nil
	})
}

func (i *IAM) deleteRolePolicy(r *wire.Request, in *api.DeleteRolePolicyInput) (*api.DeleteRolePolicyOutput, error) {
	return &api.DeleteRolePolicyOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		if _, ok := found.inline[aws.ToString(in.PolicyName)]; !ok {
			return noSuchEntity("The role policy with name %s cannot be found.", aws.ToString(in.PolicyName))
		}
		delete(found.inline, *in.PolicyName)
		return nil
	})
}

func (i *IAM) attachRolePolicy(r *wire.Request, in *api.AttachRolePolicyInput) (*api.AttachRolePolicyOutput, error) {
	return &api.AttachRolePolicyOutput{}, i.changeRole(r, in.RoleName, func(a *account, found *role) error {
		arn := aws.ToString(in.PolicyArn)
		if a.managed(arn) == nil {
			return noSuchEntity("Policy %s does not exist or is not attachable.", arn)
		}
		if slices.Contains(found.attached, arn) {
			return nil
		}
		if len(found.attached) >= maxAttached {
			return limitExceeded("Cannot exceed quota for PoliciesPerRole: %d", maxAttached)
		}
		found.attached = append(found.attached, arn)
		return nil
	})
}

func (i *IAM) detachRolePolicy(r *wire.Request, in *api.DetachRolePolicyInput) (*api.DetachRolePolicyOutput, error) {
	return &api.DetachRolePolicyOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		n := slices.Index(found.attached, aws.ToString(in.PolicyArn))
		if n < 0 {
			return noSuchEntity("Policy %s was not found.", aws.ToString(in.PolicyArn))
		}
		found.attached = slices.Delete(slices.Clone(found.attached), n, n+1)
		return nil
	})
}

func (i *IAM) listAttachedRolePolicies(r *wire.Request, in *api.ListAttachedRolePoliciesInput) (*api.ListAttachedRolePoliciesOutput, error) {
	out := &api.ListAttachedRolePoliciesOutput{}
	return out, i.changeRole(r, in.RoleName, func(a *account, found *role) error {
		var all []types.AttachedPolicy
		for _, arn := range found.attached {
			if p := a.managed(arn); strings.HasPrefix(p.path, aws.ToString(in.PathPrefix)) {
				all = append(all, types.AttachedPolicy{PolicyArn: &p.arn, PolicyName: &p.name})
			}
		}
		out.AttachedPolicies, out.Marker, out.IsTruncated = page(all, func(v types.AttachedPolicy) string { return *v.PolicyArn }, in.Marker, in.MaxItems)
		return nil
	})
}
