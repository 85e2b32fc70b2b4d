package iam

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	maxManagedPolicy  = 6144
	maxPolicyVersions = 5
)

// managedPolicy is a policy with a life of its own.
type managedPolicy struct {
	arn, id, name, path string
	description         *string
	created, updated    time.Time
	byAWS               bool
	versions            []*version
	current, latest     int
	tags                []types.Tag
}

// version is one document of a managed policy.
type version struct {
	stored
	number  int
	created time.Time
}

func (v *version) id() *string { return aws.String(fmt.Sprintf("v%d", v.number)) }

// version finds a version by its identifier such as v2.
func (p *managedPolicy) version(id string) *version {
	for _, v := range p.versions {
		if *v.id() == id {
			return v
		}
	}
	return nil
}

// document is the default version's.
func (p *managedPolicy) document() *policy.Document {
	return p.version(fmt.Sprintf("v%d", p.current)).doc
}

// managed finds a policy of the account or of AWS; nil if there is none. The
// caller holds mu.
func (a *account) managed(arn string) *managedPolicy {
	if p := a.policies[arn]; p != nil {
		return p
	}
	return awsManaged[arn]
}

// holders returns the roles that carry a policy, or are bounded by it.
func (a *account) holders(arn string) (attached, bounded []*role) {
	for _, r := range a.roles {
		if slices.Contains(r.attached, arn) {
			attached = append(attached, r)
		}
		if r.boundary == arn {
			bounded = append(bounded, r)
		}
	}
	return attached, bounded
}

func (a *account) view(p *managedPolicy) types.Policy {
	attached, bounded := a.holders(p.arn)
	return types.Policy{
		Arn: &p.arn, PolicyId: &p.id, PolicyName: &p.name, Path: &p.path, Description: p.description,
		CreateDate: &p.created, UpdateDate: aws.Time(p.updated), DefaultVersionId: aws.String(fmt.Sprintf("v%d", p.current)), IsAttachable: true,
		AttachmentCount: aws.Int32(int32(len(attached))), PermissionsBoundaryUsageCount: aws.Int32(int32(len(bounded))),
		Tags: append([]types.Tag(nil), p.tags...),
	}
}

func (i *IAM) createPolicy(r *wire.Request, in *api.CreatePolicyInput) (*api.CreatePolicyOutput, error) {
	if err := validName("policyName", aws.ToString(in.PolicyName), 128); err != nil {
		return nil, err
	}
	path, err := validPath(in.Path)
	if err != nil {
		return nil, err
	}
	doc, err := parse(policy.Identity, aws.ToString(in.PolicyDocument), "PolicySize", maxManagedPolicy)
	if err != nil {
		return nil, err
	}
	tags, err := setTags(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.account(r.Account)
	for _, p := range a.policies { // unique in the account, whatever the path
		if strings.EqualFold(p.name, *in.PolicyName) {
			return nil, alreadyExists("A policy called %s already exists. Duplicate names are not allowed.", *in.PolicyName)
		}
	}
	now := i.w.Clock.Now().Truncate(time.Second)
	made := &managedPolicy{
		arn: "arn:aws:iam::" + a.id + ":policy" + path + *in.PolicyName, id: i.uniqueID("ANPA"), name: *in.PolicyName, path: path,
		description: in.Description, created: now, updated: now, current: 1, latest: 1, tags: tags,
		versions: []*version{{stored: doc, number: 1, created: now}},
	}
	a.policies[made.arn] = made
	view := a.view(made)
	return &api.CreatePolicyOutput{Policy: &view}, nil
}

func (i *IAM) getPolicy(r *wire.Request, in *api.GetPolicyInput) (*api.GetPolicyOutput, error) {
	out := &api.GetPolicyOutput{}
	return out, i.readPolicy(r, in.PolicyArn, func(a *account, p *managedPolicy) error {
		view := a.view(p)
		out.Policy = &view
		return nil
	})
}

func (i *IAM) listPolicies(r *wire.Request, in *api.ListPoliciesInput) (*api.ListPoliciesOutput, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.account(r.Account)
	var all []types.Policy
	add := func(p *managedPolicy) {
		view := a.view(p)
		view.Tags, view.Description = nil, nil
		if strings.HasPrefix(p.path, aws.ToString(in.PathPrefix)) && (!in.OnlyAttached || *view.AttachmentCount > 0) {
			all = append(all, view)
		}
	}
	if in.Scope != types.PolicyScopeTypeAws {
		for _, p := range a.policies {
			add(p)
		}
	}
	if in.Scope != types.PolicyScopeTypeLocal {
		for _, p := range awsManaged {
			add(p)
		}
	}
	out := &api.ListPoliciesOutput{}
	out.Policies, out.Marker, out.IsTruncated = page(all, func(v types.Policy) string { return *v.Arn }, in.Marker, in.MaxItems)
	return out, nil
}

func (i *IAM) deletePolicy(r *wire.Request, in *api.DeletePolicyInput) (*api.DeletePolicyOutput, error) {
	return &api.DeletePolicyOutput{}, i.changePolicy(r, in.PolicyArn, func(a *account, p *managedPolicy) error {
		attached, bounded := a.holders(p.arn)
		switch {
		case len(attached)+len(bounded) > 0:
			return deleteConflict("Cannot delete a policy attached to entities.")
		case len(p.versions) > 1:
			return deleteConflict("This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.")
		}
		delete(a.policies, p.arn)
		return nil
	})
}

func (i *IAM) listEntitiesForPolicy(r *wire.Request, in *api.ListEntitiesForPolicyInput) (*api.ListEntitiesForPolicyOutput, error) {
	out := &api.ListEntitiesForPolicyOutput{}
	return out, i.readPolicy(r, in.PolicyArn, func(a *account, p *managedPolicy) error {
		attached, bounded := a.holders(p.arn)
		roles := attached
		if in.PolicyUsageFilter == types.PolicyUsageTypePermissionsBoundary {
			roles = bounded
		}
		var all []types.PolicyRole
		if f := in.EntityFilter; f == "" || f == types.EntityTypeRole {
			for _, one := range roles {
				all = append(all, types.PolicyRole{RoleId: &one.id, RoleName: &one.name})
			}
		}
		out.PolicyRoles, out.Marker, out.IsTruncated = page(all, func(v types.PolicyRole) string { return *v.RoleName }, in.Marker, in.MaxItems)
		return nil
	})
}

func (i *IAM) tagPolicy(r *wire.Request, in *api.TagPolicyInput) (*api.TagPolicyOutput, error) {
	return &api.TagPolicyOutput{}, i.changePolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		tags, err := setTags(p.tags, in.Tags)
		if err == nil {
			p.tags = tags
		}
		return err
	})
}

func (i *IAM) untagPolicy(r *wire.Request, in *api.UntagPolicyInput) (*api.UntagPolicyOutput, error) {
	return &api.UntagPolicyOutput{}, i.changePolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		p.tags = dropTags(p.tags, in.TagKeys)
		return nil
	})
}

func (i *IAM) listPolicyTags(r *wire.Request, in *api.ListPolicyTagsInput) (*api.ListPolicyTagsOutput, error) {
	out := &api.ListPolicyTagsOutput{}
	return out, i.readPolicy(r, in.PolicyArn, func(_ *account, p *managedPolicy) error {
		out.Tags, out.Marker, out.IsTruncated = pageTags(p.tags, in.Marker, in.MaxItems)
		return nil
	})
}

// readPolicy calls f with a policy of the caller's account or of AWS.
func (i *IAM) readPolicy(r *wire.Request, arn *string, f func(*account, *managedPolicy) error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.account(r.Account)
	p := a.managed(aws.ToString(arn))
	if p == nil {
		return noSuchEntity("Policy %s was not found.", aws.ToString(arn))
	}
	return f(a, p)
}

// changePolicy is readPolicy for changes, which AWS refuses on its own policies.
func (i *IAM) changePolicy(r *wire.Request, arn *string, f func(*account, *managedPolicy) error) error {
	return i.readPolicy(r, arn, func(a *account, p *managedPolicy) error {
		if p.byAWS {
			return wire.Errorf("AccessDenied", "Policies managed by AWS cannot be changed: %s", p.arn).WithStatus(403)
		}
		return f(a, p)
	})
}
