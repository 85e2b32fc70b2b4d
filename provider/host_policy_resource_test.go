package provider

import (
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

const hostPolicyAddress = "hadr_host_policy.this"

func hostPolicyConfig(role, rest string) string {
	return sprintf(`
resource "hadr_host_policy" "this" {
  name      = "hadr-agent"
  role_name = %q
  table_arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"
  %s
}`, role, rest)
}

// The policy is put beside whatever else the hosts' role allows, set right
// when it was changed or deleted behind Terraform's back, and goes alone.
func TestHostPolicy(t *testing.T) {
	a := startAWS(t)
	role := aws.String("db2-hosts")
	_, err := a.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: aws.String(assumeByLambda().String())})
	must(t, err)
	other := &iam.PutRolePolicyInput{RoleName: role, PolicyName: aws.String("theirs"), PolicyDocument: aws.String(schedulePolicy("arn:aws:lambda:eu-central-1:123456789012:function:other").String())}
	_, err = a.iam.PutRolePolicy(t.Context(), other)
	must(t, err)
	own := ownRole{clients: a.clients, name: "db2-hosts", policyName: "hadr-agent"}
	config := hostPolicyConfig("db2-hosts", `groups = ["orders"]`)
	allows := func(what string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(hostPolicyAddress, tfjsonpath.New("policy"), knownvalue.StringRegexp(regexp.MustCompile(regexp.QuoteMeta(what))))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{allows("GROUP#orders")}},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
			{
				ResourceName: hostPolicyAddress, ImportState: true, ImportStateId: "db2-hosts/hadr-agent", ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"groups", "namespace", "cloudwatch_agent_namespace", "table_arn"}, // they are only in the policy
			},
			{
				PreConfig: func() { must(t, own.allow(t.Context(), aws.ToString(other.PolicyDocument))) },
				Config:    config, ConfigPlanChecks: updates(hostPolicyAddress),
				ConfigStateChecks: []statecheck.StateCheck{allows("GROUP#orders")},
			},
			{
				PreConfig: func() {
					_, err := a.iam.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: aws.String("hadr-agent")})
					must(t, err)
				},
				Config:            hostPolicyConfig("db2-hosts", `groups = ["orders", "stock"]`),
				ConfigStateChecks: []statecheck.StateCheck{allows("GROUP#stock")},
			},
			{Config: hostPolicyConfig("nobody", `groups = ["orders"]`), ExpectError: regexp.MustCompile(`NoSuchEntity`)},
		},
	})
	left, err := a.iam.ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: role})
	must(t, err)
	if len(left.PolicyNames) != 1 || left.PolicyNames[0] != "theirs" {
		t.Errorf("the role has the policies %v, want only theirs", left.PolicyNames)
	}
}
