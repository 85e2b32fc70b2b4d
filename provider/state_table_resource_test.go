package provider

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

func TestStateTable(t *testing.T) {
	startAWS(t)
	const name = "hadr_state_table.this"
	var differs []string
	if os.Getenv(endpointVar) != "" { // see internal/sandbox/README.md
		differs = []string{"kms_key_arn"}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: `
provider "hadr" { default_tags = { tags = { team = "db" } } }
resource "hadr_state_table" "this" {
  name = "hadr-orders"
  tags = { app = "orders" }
}`,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("arn"), knownvalue.StringExact("arn:aws:dynamodb:eu-central-1:123456789012:table/hadr-orders")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("deletion_protection"), knownvalue.Bool(true)),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("point_in_time_recovery"), knownvalue.Bool(true)),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("tags_all"), knownvalue.MapExact(map[string]knownvalue.Check{
						"team": knownvalue.StringExact("db"), "app": knownvalue.StringExact("orders"),
					})),
				},
			},
			{ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: differs},
			{
				Config:      `resource "hadr_state_table" "this" { name = "hadr-orders" }`,
				Destroy:     true,
				ExpectError: regexp.MustCompile(`(?s)deletion_protection is true.*Next step.*terraform\s+untaint`),
			},
			{
				Config: `
resource "hadr_state_table" "this" {
  name                   = "hadr-orders"
  deletion_protection    = false
  point_in_time_recovery = false
}`,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("tags_all"), knownvalue.MapSizeExact(0)),
				},
			},
		},
	})
}

// A table that is half made is made anew by the next apply, and protected as
// the last step.
func TestStateTableIsMadeAnewAfterAFailure(t *testing.T) {
	for _, operation := range []string{"UpdateContinuousBackups", "UpdateTable"} {
		t.Run(operation, func(t *testing.T) {
			a := startAWS(t)
			config := func(rest string) string {
				return `resource "hadr_state_table" "this" {` + "\n" + `name = "hadr"` + "\n" + rest + "}"
			}
			isProtected := func(*terraform.State) error {
				out, err := a.dynamodb.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("hadr")})
				if err == nil && !aws.ToBool(out.Table.DeletionProtectionEnabled) {
					err = errors.New("the table is not protected against deletion")
				}
				return err
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{
					{PreConfig: func() { a.disturb(t, deniedOnce(operation, "")) }, Config: config(""), ExpectError: regexp.MustCompile(`AccessDenied`)},
					{Config: config(""), Check: isProtected},
					{Config: config("deletion_protection = false\n")},
				},
			})
		})
	}
}

// The key of a table converges: also after an apply that ended half way, when
// DynamoDB would refuse to change the key to itself.
func TestStateTableKey(t *testing.T) {
	a := startAWS(t)
	const (
		name  = "hadr_state_table.this"
		key   = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"
		other = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000002"
	)
	config := func(key string, recovery bool) string {
		return sprintf(`
resource "hadr_state_table" "this" {
  name                   = "hadr-orders"
  kms_key_arn            = %s
  deletion_protection    = false
  point_in_time_recovery = %t
}`, key, recovery)
	}
	has := func(want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			out, err := a.dynamodb.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("hadr-orders")})
			if err == nil && keyOf(out.Table) != want {
				err = errors.New("the table has the key " + keyOf(out.Table))
			}
			return err
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config:      config(`"arn:aws:kms:eu-central-1:123456789012:alias/orders"`, false),
				ExpectError: regexp.MustCompile(`not\s+of\s+an\s+alias`),
			},
			{Config: config("null", false)},
			{
				PreConfig:   func() { a.disturb(t, deniedOnce("UpdateContinuousBackups", "")) },
				Config:      config(`"`+key+`"`, true),
				ExpectError: regexp.MustCompile(`AccessDenied`),
			},
			{
				PreConfig: func() { a.disturb(t, deniedOnce("UpdateTable", "")) },
				Config:    config(`"`+key+`"`, true), Check: has(key),
			},
			{PreConfig: a.sb.Faults.Clear, Config: config(`"`+other+`"`, true), Check: has(other)},
			{ResourceName: name, ImportState: true, ImportStateVerify: true},
			{
				PreConfig:    func() { a.disturb(t, deniedOnce("DescribeKey", "")) },
				ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"kms_key_arn"},
			},
			{Config: config("null", true)},
			{ResourceName: name, ImportState: true, ImportStateVerify: true}, // the key that AWS manages is no setting
		},
	})
}
