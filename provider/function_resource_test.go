package provider

import (
	"fmt"
	"regexp"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

const functionAddress = "hadr_function.this"

func functionConfig(rest string) string {
	return sprintf(`
resource "hadr_state_table" "this" {
  name                = "hadr"
  deletion_protection = false
}
resource "hadr_function" "this" {
  name      = "orders-takeover"
  kind      = "takeover"
  table_arn = hadr_state_table.this.arn
  %s
}`, rest)
}

func TestFunction(t *testing.T) {
	a := startAWS(t)
	invokers := func(want ...string) func() {
		return func() {
			got, err := functionParts{a.clients}.invokers(t.Context(), "orders-takeover")
			must(t, err)
			if len(got) != len(want) {
				t.Errorf("%v may invoke, want %v", got, want)
			}
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: functionConfig(`alarm_names = ["orders-a-failed", "orders-b-failed"]`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(functionAddress, tfjsonpath.New("maximum_event_age_seconds"), knownvalue.Int64Exact(360)),
					statecheck.ExpectKnownValue(functionAddress, tfjsonpath.New("architecture"), knownvalue.StringExact("arm64")),
					statecheck.ExpectKnownValue(functionAddress, tfjsonpath.New("role_arn"), knownvalue.StringExact("arn:aws:iam::123456789012:role/orders-takeover")),
				},
			},
			{
				ResourceName: functionAddress, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"policy"},
			},
			{
				PreConfig: invokers("orders-a-failed", "orders-b-failed"),
				Config: functionConfig(`
  alarm_names             = ["orders-b-failed"]
  instance_ids            = ["i-0123456789abcdef0"]
  architecture            = "amd64"
  memory_mb               = 512
  table_kms_key_arn       = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"
  volume_kms_key_arns     = ["arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000002"]
  log_retention_days      = 30
  failure_destination_arn = "arn:aws:sns:eu-central-1:123456789012:lost"
  tags                    = { app = "orders" }`),
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(functionAddress, plancheck.ResourceActionUpdate)}},
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(functionAddress, tfjsonpath.New("policy"), knownvalue.StringRegexp(regexp.MustCompile(`instance/i-0123456789abcdef0.*key/\S+1".*key/\S+2"`)))},
			},
			{
				PreConfig: func() {
					invokers("orders-b-failed")()
					_, err := a.lambda.RemovePermission(t.Context(), &lambda.RemovePermissionInput{
						FunctionName: aws.String("orders-takeover"), StatementId: aws.String(statementID("orders-b-failed"))})
					must(t, err)
				},
				Config: functionConfig(`alarm_names = ["orders-b-failed"]`),
			},
		},
	})
}

func TestFunctionWithoutCode(t *testing.T) {
	startAWS(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"hadr": providerserver.NewProtocol6WithError(&hadrProvider{version: "test", code: fstest.MapFS{}}),
		},
		Steps: []resource.TestStep{{
			Config:      functionConfig(""),
			ExpectError: regexp.MustCompile(`(?s)does\s+not\s+contain\s+the\s+function\s+code.*make\s+build`),
		}},
	})
}

func TestFunctionRefusesAShortEventAge(t *testing.T) {
	startAWS(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: functionConfig(`maximum_event_age_seconds = 60`), ExpectError: regexp.MustCompile(`between\s+180\s+and\s+21600`)}},
	})
}

// Lambda learns late of a new role, of its policy and of a new destination:
// that is waited for. What is wrong for good is not.
func TestFunctionWaitsForPropagation(t *testing.T) {
	a := startAWSAt(t, clock.NewScaled(time.Now(), pairSpeed))
	to := func(queue string) string {
		return functionConfig(`failure_destination_arn = "arn:aws:sqs:eu-central-1:123456789012:` + queue + `"`)
	}
	const (
		role        = "The role defined for the function cannot be assumed by Lambda."
		key         = "Lambda was unable to configure access to your environment variables because the KMS key is invalid for CreateGrant. KMS Exception: InvalidArnException"
		permission  = "The function's execution role does not have permissions to call SendMessage on arn:aws:sqs:eu-central-1:123456789012:lost"
		destination = "The destination ARN arn:aws:sqs:eu-central-1:123456789012:lost is invalid."
	)
	step := func(operation, message, config string) resource.TestStep {
		return resource.TestStep{
			PreConfig: func() { a.disturb(t, answered(operation, "InvalidParameterValueException", message, 2)) },
			Config:    config,
			Check: func(*terraform.State) error {
				if left := a.sb.Faults.List(); len(left) > 0 {
					return fmt.Errorf("%s did not end twice with %q", operation, message)
				}
				return nil
			},
		}
	}
	wrong := step("PutFunctionEventInvokeConfig", "Value '7' at 'maximumRetryAttempts' failed to satisfy constraint", to("other"))
	wrong.ExpectError, wrong.Check = regexp.MustCompile(`failed\s+to\s+satisfy`), nil
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			step("CreateFunction", role, functionConfig("")),
			step("PutFunctionEventInvokeConfig", permission, to("lost")),
			step("PutFunctionEventInvokeConfig", destination, to("found")),
			step("UpdateFunctionConfiguration", key, functionConfig("memory_mb = 512")),
			wrong,
		},
	})
}
