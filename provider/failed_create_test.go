package provider

import (
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// disturb lets calls meet a fault.
func (a *testAWS) disturb(t *testing.T, f fault.Fault) {
	t.Helper()
	if a.sb == nil {
		t.Skip("only the sandbox has faults: unset " + endpointVar)
	}
	_, err := a.sb.Faults.Inject(t.Context(), f)
	must(t, err)
}

// deniedOnce refuses the next call of an operation on a resource, or on any.
func deniedOnce(operation, resource string) fault.Fault {
	return fault.Fault{Kind: fault.Denied, Selector: fault.Selector{Operation: operation, Resource: resource}, Limits: fault.Limits{Count: 1}}
}

// answered lets some calls of an operation end with an error of its service.
func answered(operation, code, message string, times int) fault.Fault {
	return fault.Fault{Kind: fault.Failure, Selector: fault.Selector{Operation: operation}, Limits: fault.Limits{Count: times},
		Effect: fault.Effect{Code: code, Message: message, Status: 400}}
}

// parts are the names of all roles and log groups.
func (a *testAWS) parts(t *testing.T) (names []string) {
	t.Helper()
	roles, err := a.iam.ListRoles(t.Context(), &iam.ListRolesInput{})
	must(t, err)
	for _, r := range roles.Roles {
		names = append(names, aws.ToString(r.RoleName))
	}
	groups, err := a.logs.DescribeLogGroups(t.Context(), &cloudwatchlogs.DescribeLogGroupsInput{})
	must(t, err)
	for _, g := range groups.LogGroups {
		names = append(names, aws.ToString(g.LogGroupName))
	}
	slices.Sort(names)
	return names
}

// A create that ends half way leaves nothing behind that no state knows: the
// next apply succeeds.
func TestAFailedCreateIsNotInTheWay(t *testing.T) {
	ofWatch := []string{"/aws/lambda/orders-watch", "orders-watch"}
	tests := map[string]struct {
		config string
		fault  fault.Fault
		says   string
		left   []string
	}{
		"function: the policy of its role is refused":   {functionConfig(""), deniedOnce("PutRolePolicy", ""), `AccessDenied`, nil},
		"function: it is refused":                       {functionConfig(""), deniedOnce("CreateFunction", ""), `AccessDenied`, nil},
		"function: it cannot be awaited":                {functionConfig(""), deniedOnce("GetFunction", ""), `AccessDenied`, []string{"/aws/lambda/orders-takeover", "orders-takeover"}},
		"schedule: it is refused":                       {scheduleConfig(""), deniedOnce("CreateSchedule", ""), `AccessDenied`, ofWatch},
		"metric alarm: whether there is one is refused": {latencyAlarm, deniedOnce("DescribeAlarms", ""), `AccessDenied`, nil},
		"document: the account is not told": {`resource "hadr_command_document" "this" {
  name = "orders-status"
  kind = "db2_status"
}`, deniedOnce("GetCallerIdentity", ""), `AccessDenied`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{
					{PreConfig: func() { a.disturb(t, tt.fault) }, Config: tt.config, ExpectError: regexp.MustCompile(tt.says)},
					{
						PreConfig: func() {
							if d := cmp.Diff(tt.left, a.parts(t)); d != "" {
								t.Errorf("after the failure there are other parts than wanted (-want +got):\n%s", d)
							}
						},
						Config: tt.config,
					},
				},
			})
		})
	}
}
