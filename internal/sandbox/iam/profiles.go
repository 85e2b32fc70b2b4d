package iam

import (
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// profile is an instance profile: the wrapping in which EC2 takes a role.
type profile struct {
	arn, id, name, path string
	created             time.Time
	role                *role // nil for none
	tags                []types.Tag
}

func (p *profile) view() types.InstanceProfile {
	v := types.InstanceProfile{
		Arn: &p.arn, InstanceProfileId: &p.id, InstanceProfileName: &p.name, Path: &p.path, CreateDate: &p.created,
		Roles: []types.Role{}, Tags: append([]types.Tag(nil), p.tags...),
	}
	if p.role != nil {
		v.Roles = append(v.Roles, p.role.summary())
	}
	return v
}

func (a *account) profile(name *string) (*profile, error) {
	if p := a.profiles[aws.ToString(name)]; p != nil {
		return p, nil
	}
	return nil, noSuchEntity("Instance Profile %s cannot be found.", aws.ToString(name))
}

// profilesOf returns the instance profiles that hold r, by name.
func (a *account) profilesOf(r *role) (out []*profile) {
	for _, p := range a.profiles {
		if p.role == r {
			out = append(out, p)
		}
	}
	sort.Slice(out, func(x, y int) bool { return out[x].name < out[y].name })
	return out
}

func (i *IAM) createInstanceProfile(r *wire.Request, in *api.CreateInstanceProfileInput) (*api.CreateInstanceProfileOutput, error) {
	if err := validName("instanceProfileName", aws.ToString(in.InstanceProfileName), 128); err != nil {
		return nil, err
	}
	path, err := validPath(in.Path)
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
	for name := range a.profiles {
		if strings.EqualFold(name, *in.InstanceProfileName) {
			return nil, alreadyExists("Instance Profile %s already exists.", *in.InstanceProfileName)
		}
	}
	made := &profile{
		arn: "arn:aws:iam::" + a.id + ":instance-profile" + path + *in.InstanceProfileName, id: i.uniqueID("AIPA"),
		name: *in.InstanceProfileName, path: path, created: i.w.Clock.Now().Truncate(time.Second), tags: tags,
	}
	a.profiles[made.name] = made
	view := made.view()
	return &api.CreateInstanceProfileOutput{InstanceProfile: &view}, nil
}

func (i *IAM) getInstanceProfile(r *wire.Request, in *api.GetInstanceProfileInput) (*api.GetInstanceProfileOutput, error) {
	out := &api.GetInstanceProfileOutput{}
	return out, i.changeProfile(r, in.InstanceProfileName, func(_ *account, p *profile) error {
		view := p.view()
		out.InstanceProfile = &view
		return nil
	})
}

func (i *IAM) listInstanceProfiles(r *wire.Request, in *api.ListInstanceProfilesInput) (*api.ListInstanceProfilesOutput, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []types.InstanceProfile
	for _, p := range i.account(r.Account).profiles {
		if strings.HasPrefix(p.path, aws.ToString(in.PathPrefix)) {
			all = append(all, p.view())
		}
	}
	out := &api.ListInstanceProfilesOutput{}
	out.InstanceProfiles, out.Marker, out.IsTruncated = page(all, profileName, in.Marker, in.MaxItems)
	return out, nil
}

func profileName(v types.InstanceProfile) string { return *v.InstanceProfileName }

func (i *IAM) listInstanceProfilesForRole(r *wire.Request, in *api.ListInstanceProfilesForRoleInput) (*api.ListInstanceProfilesForRoleOutput, error) {
	out := &api.ListInstanceProfilesForRoleOutput{}
	return out, i.changeRole(r, in.RoleName, func(a *account, found *role) error {
		var all []types.InstanceProfile
		for _, p := range a.profilesOf(found) {
			all = append(all, p.view())
		}
		out.InstanceProfiles, out.Marker, out.IsTruncated = page(all, profileName, in.Marker, in.MaxItems)
		return nil
	})
}

func (i *IAM) addRoleToInstanceProfile(r *wire.Request, in *api.AddRoleToInstanceProfileInput) (*api.AddRoleToInstanceProfileOutput, error) {
	return &api.AddRoleToInstanceProfileOutput{}, i.changeProfile(r, in.InstanceProfileName, func(a *account, p *profile) error {
		found, err := a.role(in.RoleName)
		if err != nil {
			return err
		}
		if p.role != nil {
			return limitExceeded("Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
		}
		p.role = found
		return nil
	})
}

func (i *IAM) removeRoleFromInstanceProfile(r *wire.Request, in *api.RemoveRoleFromInstanceProfileInput) (*api.RemoveRoleFromInstanceProfileOutput, error) {
	return &api.RemoveRoleFromInstanceProfileOutput{}, i.changeProfile(r, in.InstanceProfileName, func(_ *account, p *profile) error {
		if p.role == nil || p.role.name != aws.ToString(in.RoleName) {
			return noSuchEntity("The role with name %s cannot be found.", aws.ToString(in.RoleName))
		}
		p.role = nil
		return nil
	})
}

func (i *IAM) deleteInstanceProfile(r *wire.Request, in *api.DeleteInstanceProfileInput) (*api.DeleteInstanceProfileOutput, error) {
	return &api.DeleteInstanceProfileOutput{}, i.changeProfile(r, in.InstanceProfileName, func(a *account, p *profile) error {
		if p.role != nil {
			return deleteConflict("Cannot delete entity, must remove roles from instance profile first.")
		}
		delete(a.profiles, p.name)
		return nil
	})
}

func (i *IAM) tagInstanceProfile(r *wire.Request, in *api.TagInstanceProfileInput) (*api.TagInstanceProfileOutput, error) {
	return &api.TagInstanceProfileOutput{}, i.changeProfile(r, in.InstanceProfileName, func(_ *account, p *profile) error {
		tags, err := setTags(p.tags, in.Tags)
		if err == nil {
			p.tags = tags
		}
		return err
	})
}

func (i *IAM) untagInstanceProfile(r *wire.Request, in *api.UntagInstanceProfileInput) (*api.UntagInstanceProfileOutput, error) {
	return &api.UntagInstanceProfileOutput{}, i.changeProfile(r, in.InstanceProfileName, func(_ *account, p *profile) error {
		p.tags = dropTags(p.tags, in.TagKeys)
		return nil
	})
}

func (i *IAM) listInstanceProfileTags(r *wire.Request, in *api.ListInstanceProfileTagsInput) (*api.ListInstanceProfileTagsOutput, error) {
	out := &api.ListInstanceProfileTagsOutput{}
	return out, i.changeProfile(r, in.InstanceProfileName, func(_ *account, p *profile) error {
		out.Tags, out.Marker, out.IsTruncated = pageTags(p.tags, in.Marker, in.MaxItems)
		return nil
	})
}

// changeProfile calls f with an instance profile of the caller's account.
func (i *IAM) changeProfile(r *wire.Request, name *string, f func(*account, *profile) error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.account(r.Account)
	p, err := a.profile(name)
	if err != nil {
		return err
	}
	return f(a, p)
}
