// Package iam is the sandbox's Identity and Access Management: roles, policies
// and instance profiles, the credentials of role sessions, and the decision
// whether a caller may do what it asks for.
//
// https://docs.aws.amazon.com/IAM/latest/APIReference/welcome.html
package iam

import (
	"strings"
	"sync"

	api "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/schemas"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// IAM holds the identities of all accounts. It implements world.Identity.
type IAM struct {
	w *world.World

	mu       sync.Mutex
	accounts map[string]*account
	sessions map[string]*session // by access key
}

var _ world.Identity = (*IAM)(nil)

// account is what one AWS account has in IAM, which is global.
type account struct {
	id       string
	roles    map[string]*role          // by name
	policies map[string]*managedPolicy // customer managed, by ARN
	profiles map[string]*profile       // by name
}

// New returns an IAM without roles.
func New(w *world.World) *IAM {
	return &IAM{w: w, accounts: map[string]*account{}, sessions: map[string]*session{}}
}

// account returns the account with the given number. The caller holds mu.
func (i *IAM) account(id string) *account {
	a := i.accounts[id]
	if a == nil {
		a = &account{id: id, roles: map[string]*role{}, policies: map[string]*managedPolicy{}, profiles: map[string]*profile{}}
		i.accounts[id] = a
	}
	return a
}

// uniqueID makes an identifier such as AROA... for a role.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
func (i *IAM) uniqueID(prefix string) string { return prefix + strings.ToUpper(i.w.Hex(17)) }

// Service returns the IAM API.
func (i *IAM) Service() *wire.Service {
	s := &wire.Service{
		Name: "iam", Version: "2010-05-08", Namespace: "https://iam.amazonaws.com/doc/2010-05-08/",
		Default: wire.Query, Schema: schemas.AWSIdentityManagementV20100508, Types: api.TypeRegistry,
	}
	wire.Handle(s, "CreateRole", nil, nil, i.createRole)
	wire.Handle(s, "GetRole", nil, nil, i.getRole)
	wire.Handle(s, "ListRoles", nil, nil, i.listRoles)
	wire.Handle(s, "UpdateRole", nil, nil, i.updateRole)
	wire.Handle(s, "UpdateRoleDescription", nil, nil, i.updateRoleDescription)
	wire.Handle(s, "UpdateAssumeRolePolicy", nil, nil, i.updateAssumeRolePolicy)
	wire.Handle(s, "DeleteRole", nil, nil, i.deleteRole)
	wire.Handle(s, "TagRole", nil, nil, i.tagRole)
	wire.Handle(s, "UntagRole", nil, nil, i.untagRole)
	wire.Handle(s, "ListRoleTags", nil, nil, i.listRoleTags)
	wire.Handle(s, "PutRolePermissionsBoundary", nil, nil, i.putRolePermissionsBoundary)
	wire.Handle(s, "DeleteRolePermissionsBoundary", nil, nil, i.deleteRolePermissionsBoundary)

	wire.Handle(s, "PutRolePolicy", nil, nil, i.putRolePolicy)
	wire.Handle(s, "GetRolePolicy", nil, nil, i.getRolePolicy)
	wire.Handle(s, "ListRolePolicies", nil, nil, i.listRolePolicies)
	wire.Handle(s, "DeleteRolePolicy", nil, nil, i.deleteRolePolicy)
	wire.Handle(s, "AttachRolePolicy", nil, nil, i.attachRolePolicy)
	wire.Handle(s, "DetachRolePolicy", nil, nil, i.detachRolePolicy)
	wire.Handle(s, "ListAttachedRolePolicies", nil, nil, i.listAttachedRolePolicies)

	wire.Handle(s, "CreatePolicy", nil, nil, i.createPolicy)
	wire.Handle(s, "GetPolicy", nil, nil, i.getPolicy)
	wire.Handle(s, "ListPolicies", nil, nil, i.listPolicies)
	wire.Handle(s, "DeletePolicy", nil, nil, i.deletePolicy)
	wire.Handle(s, "CreatePolicyVersion", nil, nil, i.createPolicyVersion)
	wire.Handle(s, "GetPolicyVersion", nil, nil, i.getPolicyVersion)
	wire.Handle(s, "ListPolicyVersions", nil, nil, i.listPolicyVersions)
	wire.Handle(s, "SetDefaultPolicyVersion", nil, nil, i.setDefaultPolicyVersion)
	wire.Handle(s, "DeletePolicyVersion", nil, nil, i.deletePolicyVersion)
	wire.Handle(s, "ListEntitiesForPolicy", nil, nil, i.listEntitiesForPolicy)
	wire.Handle(s, "TagPolicy", nil, nil, i.tagPolicy)
	wire.Handle(s, "UntagPolicy", nil, nil, i.untagPolicy)
	wire.Handle(s, "ListPolicyTags", nil, nil, i.listPolicyTags)

	wire.Handle(s, "CreateInstanceProfile", nil, nil, i.createInstanceProfile)
	wire.Handle(s, "GetInstanceProfile", nil, nil, i.getInstanceProfile)
	wire.Handle(s, "ListInstanceProfiles", nil, nil, i.listInstanceProfiles)
	wire.Handle(s, "ListInstanceProfilesForRole", nil, nil, i.listInstanceProfilesForRole)
	wire.Handle(s, "AddRoleToInstanceProfile", nil, nil, i.addRoleToInstanceProfile)
	wire.Handle(s, "RemoveRoleFromInstanceProfile", nil, nil, i.removeRoleFromInstanceProfile)
	wire.Handle(s, "DeleteInstanceProfile", nil, nil, i.deleteInstanceProfile)
	wire.Handle(s, "TagInstanceProfile", nil, nil, i.tagInstanceProfile)
	wire.Handle(s, "UntagInstanceProfile", nil, nil, i.untagInstanceProfile)
	wire.Handle(s, "ListInstanceProfileTags", nil, nil, i.listInstanceProfileTags)

	wire.Handle(s, "GetUser", nil, nil, i.getUser)
	wire.Handle(s, "SimulatePrincipalPolicy", nil, nil, i.simulatePrincipalPolicy)
	return s
}
