package provider

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// nothing is a policy of a role that somebody else made.
const nothing = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`

// ownRoleCase is a resource that makes its own role where none is given.
type ownRoleCase struct {
	address   string
	config    func(rest string) string
	own       ownRole
	operation string                 // that gives the resource a role
	use       func(arn string) error // the same by hand
}

func ownRoleCases(t *testing.T, a *testAWS) map[string]ownRoleCase {
	ctx := t.Context()
	return map[string]ownRoleCase{
		"function": {functionAddress, functionConfig, functionParts{a.clients}.role("orders-takeover"), "UpdateFunctionConfiguration", func(arn string) error {
			return functionParts{a.clients}.configure(ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: aws.String("orders-takeover"), Role: &arn})
		}},
		"schedule": {scheduleAddress, scheduleConfig, ownRole{clients: a.clients, name: "orders-watch" + ownScheduleRole, policyName: ownSchedulePolicy, trust: assumeByScheduler("123456789012")},
			"UpdateSchedule", func(arn string) error {
				s, err := a.scheduler.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String("orders-watch")})
				if err != nil {
					return err
				}
				s.Target.RoleArn = &arn
				_, err = a.scheduler.UpdateSchedule(ctx, &scheduler.UpdateScheduleInput{Name: s.Name, ScheduleExpression: s.ScheduleExpression, FlexibleTimeWindow: s.FlexibleTimeWindow, Target: s.Target})
				return err
			}},
	}
}

// The own role follows role_arn: it comes and goes with the configuration, is
// set right and made anew, and no role of somebody else is touched.
func TestOwnRole(t *testing.T) {
	for _, name := range []string{"function", "schedule"} {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t)
			c := ownRoleCases(t, a)[name]
			theirs := ownRole{clients: a.clients, name: "theirs", policyName: "theirs", trust: c.own.trust}
			arn, diags := theirs.create(t.Context(), nothing, nil)
			if diags.HasError() {
				t.Fatal(diags)
			}
			before := theirs.shape(t)
			withTheirs := c.config(sprintf("role_arn = %q", arn))
			is := func(arn string, own bool) resource.TestCheckFunc {
				return func(s *terraform.State) error {
					text, err := c.own.effective(t.Context())
					if got := s.RootModule().Resources[c.address].Primary.Attributes["role_arn"]; got != arn || (text != "") != own {
						err = errors.Join(err, fmt.Errorf("role_arn is %s, want %s; the own role is there: %t, want %t", got, arn, text != "", own))
					}
					return err
				}
			}
			ownARN := "arn:aws:iam::123456789012:role/" + c.own.name
			updated := func(behind func(), config string, check resource.TestCheckFunc) resource.TestStep {
				return resource.TestStep{PreConfig: behind, Config: config, ConfigPlanChecks: updates(c.address), Check: check}
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{
					{Config: c.config(""), Check: is(ownARN, true)},
					updated(func() { must(t, c.own.delete(t.Context())) }, c.config(""), is(ownARN, true)),
					updated(func() { must(t, c.use(arn)) }, c.config(""), is(ownARN, true)),
					{Config: c.config(sprintf("role_arn = %q", ownARN)), ExpectError: regexp.MustCompile(`has\s+the\s+name\s+of\s+the\s+role(?s:.*)Leave\s+role_arn\s+away`)},
					updated(nil, withTheirs, is(arn, false)),
					{PreConfig: func() { a.disturb(t, deniedOnce(c.operation, "")) }, Config: c.config(""), ExpectError: regexp.MustCompile(`AccessDenied`)},
					{Config: withTheirs, Check: is(arn, false)}, // nothing is left of the role that was refused
					updated(nil, c.config(""), is(ownARN, true)),
				},
			})
			if after := theirs.shape(t); after != before {
				t.Errorf("the role of somebody else was %s and is %s", before, after)
			}
		})
	}
}

// shape is what makes out a role.
func (o ownRole) shape(t *testing.T) string {
	t.Helper()
	role, err := o.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: &o.name})
	must(t, err)
	text, err := o.policy(t.Context())
	must(t, err)
	return aws.ToString(role.Role.RoleId) + aws.ToString(role.Role.AssumeRolePolicyDocument) + text
}

// A role of the name that the own one would have is nobody's but its maker's.
func TestOwnRoleOfAnotherIsLeftAlone(t *testing.T) {
	for _, name := range []string{"function", "schedule"} {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t)
			c := ownRoleCases(t, a)[name]
			other := c.own
			other.policyName, other.description = "other", "of somebody else"
			arn, diags := other.create(t.Context(), nothing, nil)
			if diags.HasError() {
				t.Fatal(diags)
			}
			before := other.shape(t)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{
					{Config: c.config(sprintf("role_arn = %q", arn)), ExpectError: regexp.MustCompile(`has\s+the\s+name`)},
					{Config: c.config(""), ExpectError: regexp.MustCompile(`EntityAlreadyExists`)},
				},
			})
			if after := other.shape(t); after != before {
				t.Errorf("the role of somebody else was %s and is %s", before, after)
			}
		})
	}
}
