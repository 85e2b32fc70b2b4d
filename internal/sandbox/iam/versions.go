package iam

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (p *managedPolicy) summary(v *version) types.PolicyVersion {
	return types.PolicyVersion{VersionId: v.id(), CreateDate: &v.created, IsDefaultVersion: v.number == p.current}
}

func (i *IAM) createPolicyVersion(r *wire.Request, in *api.CreatePolicyVersionInput) (*api.CreatePolicyVersionOutput, error) {
	doc, err := parse(policy.Identity, aws.ToString(in.PolicyDocument), "PolicySize", maxManagedPolicy)
	if err != nil {
		return nil, err
	}
	out := &api.CreatePolicyVersionOutput{}
	return out, i.changePolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		if len(p.versions) >= maxPolicyVersions {
			return limitExceeded("A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.", maxPolicyVersions)
		}
		p.latest++
		v := &version{stored: doc, number: p.latest, created: i.w.Clock.Now().Truncate(time.Second)}
		p.versions = append(p.versions, v)
		if in.SetAsDefault {
			p.current = v.number
		}
		p.updated = v.created
		summary := p.summary(v)
		out.PolicyVersion = &summary
		return nil
	})
}

func (i *IAM) getPolicyVersion(r *wire.Request, in *api.GetPolicyVersionInput) (*api.GetPolicyVersionOutput, error) {
	out := &api.GetPolicyVersionOutput{}
	return out, i.readPolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		v := p.version(aws.ToString(in.VersionId))
		if v == nil {
			return missingVersion(in.PolicyArn, in.VersionId)
		}
		full := p.summary(v)
		full.Document = encode(v.text)
		out.PolicyVersion = &full
		return nil
	})
}

func (i *IAM) listPolicyVersions(r *wire.Request, in *api.ListPolicyVersionsInput) (*api.ListPolicyVersionsOutput, error) {
	out := &api.ListPolicyVersionsOutput{}
	return out, i.readPolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		for _, v := range slices.Backward(p.versions) { // newest first
			out.Versions = append(out.Versions, p.summary(v))
		}
		return nil
	})
}

func (i *IAM) setDefaultPolicyVersion(r *wire.Request, in *api.SetDefaultPolicyVersionInput) (*api.SetDefaultPolicyVersionOutput, error) {
	return &api.SetDefaultPolicyVersionOutput{}, i.changePolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		v := p.version(aws.ToString(in.VersionId))
		if v == nil {
			return missingVersion(in.PolicyArn, in.VersionId)
		}
		p.current, p.updated = v.number, i.w.Clock.Now().Truncate(time.Second)
		return nil
	})
}

func (i *IAM) deletePolicyVersion(r *wire.Request, in *api.DeletePolicyVersionInput) (*api.DeletePolicyVersionOutput, error) {
	return &api.DeletePolicyVersionOutput{}, i.changePolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		v := p.version(aws.ToString(in.VersionId))
		switch {
		case v == nil:
			return missingVersion(in.PolicyArn, in.VersionId)
		case v.number == p.current:
			return deleteConflict("Cannot delete the default version of a policy.")
		}
		p.versions = slices.DeleteFunc(slices.Clone(p.versions), func(o *version) bool { return o == v })
		return nil
	})
}

func missingVersion(arn, id *string) error {
	return noSuchEntity("Policy %s version %s does not exist or is not attachable.", aws.ToString(arn), aws.ToString(id))
}
