package iam

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Quotas of a role, in characters.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	maxTrustPolicy    = 2048
	maxInlinePolicies = 10240 // all inline policies of a role together
	maxAttached       = 10
)

// role is a role with everything that hangs on it.
type role struct {
	arn, id, name, path string
	description         *string
	created             time.Time
	maxSession          int32 // seconds
	trust               stored
	inline              map[string]stored // by name
	attached            []string          // ARNs of managed policies
	boundary            string            // ARN of the permissions boundary, "" for none
	tags                []types.Tag
}

// view is the role as GetRole shows it.
func (r *role) view() *types.Role {
	v := r.summary()
	v.Tags = append([]types.Tag(nil), r.tags...)
	v.RoleLastUsed = &types.RoleLastUsed{}
	if r.boundary != "" {
		v.PermissionsBoundary = &types.AttachedPermissionsBoundary{PermissionsBoundaryArn: aws.String(r.boundary), PermissionsBoundaryType: types.PermissionsBoundaryAttachmentTypePolicy}
	}
	return &v
}

// summary is the role as lists show it: without boundary, tags and last use.
func (r *role) summary() types.Role {
	return types.Role{
		Arn: &r.arn, RoleId: &r.id, RoleName: &r.name, Path: &r.path, CreateDate: &r.created, Description: r.description,
		MaxSessionDuration: aws.Int32(r.maxSession), AssumeRolePolicyDocument: encode(r.trust.text),
	}
}

// role finds a role by name. The caller holds mu.
func (a *account) role(name *string) (*role, error) {
	if r := a.roles[aws.ToString(name)]; r != nil {
		return r, nil
	}
	return nil, noSuchEntity("The role with name %s cannot be found.", aws.ToString(name))
}

func (i *IAM) createRole(r *wire.Request, in *api.CreateRoleInput) (*api.CreateRoleOutput, error) {
	if err := validName("roleName", aws.ToString(in.RoleName), 64); err != nil {
		return nil, err
	}
	path, err := validPath(in.Path)
	if err != nil {
		return nil, err
	}
	duration, err := sessionDuration(in.MaxSessionDuration)
	if err != nil {
		return nil, err
	}
	trust, err := parse(policy.Trust, aws.ToString(in.AssumeRolePolicyDocument), "ACLSizePerRole", maxTrustPolicy)
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
	for name := range a.roles { // names are unique without regard to case
		if strings.EqualFold(name, *in.RoleName) {
			return nil, alreadyExists("Role with name %s already exists.", *in.RoleName)
		}
	}
	boundary := aws.ToString(in.PermissionsBoundary)
	if boundary != "" && a.managed(boundary) == nil {
		return nil, noSuchEntity("Scope ARN: %s does not exist or is not attachable.", boundary)
	}
	made := &role{
		arn: "arn:aws:iam::" + a.id + ":role" + path + *in.RoleName, id: i.uniqueID("AROA"), name: *in.RoleName, path: path,
		description: in.Description, created: i.w.Clock.Now().Truncate(time.Second), maxSession: duration,
		trust: trust, inline: map[string]stored{}, boundary: boundary, tags: tags,
	}
	a.roles[made.name] = made
	return &api.CreateRoleOutput{Role: made.view()}, nil
}

// sessionDuration is the longest session of a role, one hour by default.
func sessionDuration(seconds *int32) (int32, error) {
	if seconds == nil {
		return 3600, nil
	}
	if *seconds < 3600 || *seconds > 43200 {
		return 0, invalid("1 validation error detected: Value '%d' at 'maxSessionDuration' failed to satisfy constraint: Member must have value between 3600 and 43200", *seconds)
	}
	return *seconds, nil
}

func (i *IAM) getRole(r *wire.Request, in *api.GetRoleInput) (*api.GetRoleOutput, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	found, err := i.account(r.Account).role(in.RoleName)
	if err != nil {
		return nil, err
	}
	return &api.GetRoleOutput{Role: found.view()}, nil
}

func (i *IAM) listRoles(r *wire.Request, in *api.ListRolesInput) (*api.ListRolesOutput, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []types.Role
	for _, one := range i.account(r.Account).roles {
		if strings.HasPrefix(one.path, aws.ToString(in.PathPrefix)) {
			all = append(all, one.summary())
		}
	}
	out := &api.ListRolesOutput{}
	out.Roles, out.Marker, out.IsTruncated = page(all, func(v types.Role) string { return *v.RoleName }, in.Marker, in.MaxItems)
	return out, nil
}

func (i *IAM) updateRole(r *wire.Request, in *api.UpdateRoleInput) (*api.UpdateRoleOutput, error) {
	duration, err := sessionDuration(in.MaxSessionDuration)
	if err != nil {
		return nil, err
	}
	return &api.UpdateRoleOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		if in.Description != nil {
			found.description = in.Description
		}
		if in.MaxSessionDuration != nil {
			found.maxSession = duration
		}
		return nil
	})
}

func (i *IAM) updateRoleDescription(r *wire.Request, in *api.UpdateRoleDescriptionInput) (*api.UpdateRoleDescriptionOutput, error) {
	out := &api.UpdateRoleDescriptionOutput{}
	return out, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		found.description = in.Description
		out.Role = found.view()
		return nil
	})
}

func (i *IAM) updateAssumeRolePolicy(r *wire.Request, in *api.UpdateAssumeRolePolicyInput) (*api.UpdateAssumeRolePolicyOutput, error) {
	trust, err := parse(policy.Trust, aws.ToString(in.PolicyDocument), "ACLSizePerRole", maxTrustPolicy)
	if err != nil {
		return nil, err
	}
	return &api.UpdateAssumeRolePolicyOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		found.trust = trust
		return nil
	})
}

func (i *IAM) deleteRole(r *wire.Request, in *api.DeleteRoleInput) (*api.DeleteRoleOutput, error) {
	return &api.DeleteRoleOutput{}, i.changeRole(r, in.RoleName, func(a *account, found *role) error {
		switch {
		case len(a.profilesOf(found)) > 0:
			return deleteConflict("Cannot delete entity, must remove roles from instance profile first.")
		case len(found.attached) > 0:
			return deleteConflict("Cannot delete entity, must detach all policies first.")
		case len(found.inline) > 0:
			return deleteConflict("Cannot delete entity, must delete policies first.")
		}
		delete(a.roles, found.name)
		return nil
	})
}

func (i *IAM) tagRole(r *wire.Request, in *api.TagRoleInput) (*api.TagRoleOutput, error) {
	return &api.TagRoleOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		tags, err := setTags(found.tags, in.Tags)
		if err == nil {
			found.tags = tags
		}
		return err
	})
}

func (i *IAM) untagRole(r *wire.Request, in *api.UntagRoleInput) (*api.UntagRoleOutput, error) {
	return &api.UntagRoleOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		found.tags = dropTags(found.tags, in.TagKeys)
		return nil
	})
}

func (i *IAM) listRoleTags(r *wire.Request, in *api.ListRoleTagsInput) (*api.ListRoleTagsOutput, error) {
	out := &api.ListRoleTagsOutput{}
	return out, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		out.Tags, out.Marker, out.IsTruncated = pageTags(found.tags, in.Marker, in.MaxItems)
		return nil
	})
}

func (i *IAM) putRolePermissionsBoundary(r *wire.Request, in *api.PutRolePermissionsBoundaryInput) (*api.PutRolePermissionsBoundaryOutput, error) {
	return &api.PutRolePermissionsBoundaryOutput{}, i.changeRole(r, in.RoleName, func(a *account, found *role) error {
		if a.managed(aws.ToString(in.PermissionsBoundary)) == nil {
			return noSuchEntity("Scope ARN: %s does not exist or is not attachable.", aws.ToString(in.PermissionsBoundary))
		}
		found.boundary = *in.PermissionsBoundary
		return nil
	})
}

func (i *IAM) deleteRolePermissionsBoundary(r *wire.Request, in *api.DeleteRolePermissionsBoundaryInput) (*api.DeleteRolePermissionsBoundaryOutput, error) {
	return &api.DeleteRolePermissionsBoundaryOutput{}, i.changeRole(r, in.RoleName, func(_ *account, found *role) error {
		if found.boundary == "" {
			return noSuchEntity("Role %s does not have a permissions boundary.", found.name)
		}
		found.boundary = ""
		return nil
	})
}

// changeRole calls f with a role of the caller's account under the lock.
func (i *IAM) changeRole(r *wire.Request, name *string, f func(*account, *role) error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.account(r.Account)
	found, err := a.role(name)
	if err != nil {
		return err
	}
	return f(a, found)
}
