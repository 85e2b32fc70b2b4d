package iam

import "github.com/aws/aws-sdk-go-v2/aws"

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var iamRules = map[string]rule{
	"CreateRole":                    by(newEntity("iam:CreateRole", "role", "RoleName")).with(bounded).and(taggingEntity("iam:TagRole", "role", "RoleName")),
	"GetRole":                       by(onRole("iam:GetRole")),
	"ListRoles":                     on(),
	"UpdateRole":                    by(onRole("iam:UpdateRole")),
	"UpdateRoleDescription":         by(onRole("iam:UpdateRoleDescription")),
	"UpdateAssumeRolePolicy":        by(onRole("iam:UpdateAssumeRolePolicy")),
	"DeleteRole":                    by(onRole("iam:DeleteRole")).with(bounded),
	"TagRole":                       by(onRole("iam:TagRole")),
	"UntagRole":                     by(onRole("iam:UntagRole")),
	"ListRoleTags":                  by(onRole("iam:ListRoleTags")),
	"PutRolePermissionsBoundary":    by(onRole("iam:PutRolePermissionsBoundary")).with(key("iam:PermissionsBoundary", "PermissionsBoundary")),
	"DeleteRolePermissionsBoundary": by(onRole("iam:DeleteRolePermissionsBoundary")).with(bounded),
	"PutRolePolicy":                 by(onRole("iam:PutRolePolicy")).with(bounded),
	"GetRolePolicy":                 by(onRole("iam:GetRolePolicy")),
	"ListRolePolicies":              by(onRole("iam:ListRolePolicies")),
	"DeleteRolePolicy":              by(onRole("iam:DeleteRolePolicy")).with(bounded),
	"AttachRolePolicy":              by(onRole("iam:AttachRolePolicy")).with(bounded, key("iam:PolicyARN", "PolicyArn")),
	"DetachRolePolicy":              by(onRole("iam:DetachRolePolicy")).with(bounded, key("iam:PolicyARN", "PolicyArn")),
	"ListAttachedRolePolicies":      by(onRole("iam:ListAttachedRolePolicies")),
	"ListInstanceProfilesForRole":   by(onRole("iam:ListInstanceProfilesForRole")),

	"CreatePolicy":            by(newEntity("iam:CreatePolicy", "policy", "PolicyName")).and(taggingEntity("iam:TagPolicy", "policy", "PolicyName")),
	"GetPolicy":               on("{PolicyArn}"),
	"ListPolicies":            on(),
	"DeletePolicy":            on("{PolicyArn}"),
	"CreatePolicyVersion":     on("{PolicyArn}"),
	"GetPolicyVersion":        on("{PolicyArn}"),
	"ListPolicyVersions":      on("{PolicyArn}"),
	"SetDefaultPolicyVersion": on("{PolicyArn}"),
	"DeletePolicyVersion":     on("{PolicyArn}"),
	"ListEntitiesForPolicy":   on("{PolicyArn}"),
	"TagPolicy":               on("{PolicyArn}"),
	"UntagPolicy":             on("{PolicyArn}"),
	"ListPolicyTags":          on("{PolicyArn}"),

	"CreateInstanceProfile":         by(newEntity("iam:CreateInstanceProfile", "instance-profile", "InstanceProfileName")).and(taggingEntity("iam:TagInstanceProfile", "instance-profile", "InstanceProfileName")),
	"GetInstanceProfile":            by(onProfile("iam:GetInstanceProfile")),
	"ListInstanceProfiles":          on(),
	"AddRoleToInstanceProfile":      by(onProfile("iam:AddRoleToInstanceProfile")).and(passingAdded),
	"RemoveRoleFromInstanceProfile": by(onProfile("iam:RemoveRoleFromInstanceProfile")),
	"DeleteInstanceProfile":         by(onProfile("iam:DeleteInstanceProfile")),
	"TagInstanceProfile":            by(onProfile("iam:TagInstanceProfile")),
	"UntagInstanceProfile":          by(onProfile("iam:UntagInstanceProfile")),
	"ListInstanceProfileTags":       by(onProfile("iam:ListInstanceProfileTags")),

	"GetUser":                 on("user/{UserName}"),
	"SimulatePrincipalPolicy": on("{PolicySourceArn}"),
}

// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecuritytokenservice.html
var stsRules = map[string]rule{
	"GetCallerIdentity": free(), // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
	"AssumeRole":        free(), // the role's trust policy has its say: see IAM.AssumeRole
}

// newEntity asks for the ARN that the entity is going to have.
func newEntity(action, kind, name string) func(*call) []permission {
	return func(c *call) []permission { return want(action, c.newEntity(kind, name)) }
}

func (c *call) newEntity(kind, name string) string {
	path := field(c.input, "Path")
	if path == "" {
		path = "/"
	}
	return c.base() + kind + path + field(c.input, name)
}

func taggingEntity(action, kind, name string) func(*call) []permission {
	return func(c *call) []permission {
		if len(pairs(c.input, "Tags")) == 0 {
			return nil
		}
		return want(action, c.newEntity(kind, name))
	}
}

// onRole asks for the role's ARN, which has the role's path.
func onRole(action string) func(*call) []permission {
	return func(c *call) []permission { return want(action, c.roleARN()) }
}

func (c *call) roleARN() string {
	i, name := c.auth.iam, field(c.input, "RoleName")
	i.mu.Lock()
	defer i.mu.Unlock()
	if r, err := i.account(c.Account).role(aws.String(name)); err == nil {
		return r.arn
	}
	return c.base() + "role/" + name
}

func onProfile(action string) func(*call) []permission {
	return func(c *call) []permission {
		i, name := c.auth.iam, field(c.input, "InstanceProfileName")
		i.mu.Lock()
		defer i.mu.Unlock()
		if p, err := i.account(c.Account).profile(aws.String(name)); err == nil {
			return want(action, p.arn)
		}
		return want(action, c.base()+"instance-profile/"+name)
	}
}

// passingAdded needs iam:PassRole for a role that goes into a profile.
func passingAdded(c *call) []permission { return want("iam:PassRole", c.roleARN()) }

// bounded adds the boundary that the role has or is going to have.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html#access_policies_boundaries-delegate
func bounded(c *call, p *permission) {
	if b := field(c.input, "PermissionsBoundary"); b != "" {
		p.keys.Set("iam:PermissionsBoundary", b)
		return
	}
	i := c.auth.iam
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, r, ok := i.roleByARN(p.resource); ok && r.boundary != "" {
		p.keys.Set("iam:PermissionsBoundary", r.boundary)
	}
}
