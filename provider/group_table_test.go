package provider

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// A3: conditional writes decide in one Region, or in all Regions of a table with multi-Region strong consistency.
func TestGroupNeedsATableThatDecides(t *testing.T) {
	const refused = `(?s)Checking\s+state\s+table\s+hadr\n.*eventual\s+consistency\s+\(replicas:\s+eu-west-1\).*multi-Region\s+strong\s+consistency`
	const known, unknown = `"hadr"`, "terraform_data.table.output" // until it is applied
	eventual, strong := ddb.MultiRegionConsistencyEventual, ddb.MultiRegionConsistencyStrong
	tests := map[string]struct {
		consistency ddb.MultiRegionConsistency
		replicas    []string
		table       string
		planOnly    bool
		want        string // "" = accepted
	}{
		"strong":                                 {strong, []string{"eu-west-1", "eu-west-2"}, known, false, ""},
		"eventual, as a plan sees it":            {eventual, []string{"eu-west-1"}, known, true, refused},
		"eventual, as only the apply can see it": {eventual, []string{"eu-west-1"}, unknown, false, refused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := startAWS(t).build(t)
			a.newTable(t, tt.consistency, tt.replicas...)
			config := `resource "terraform_data" "table" { input = "hadr" }` + inTable(tt.table, a.group(nil))
			step := resource.TestStep{Config: config, PlanOnly: tt.planOnly}
			if tt.want != "" {
				step.ExpectError = regexp.MustCompile(tt.want)
			}
			resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{step}})
		})
	}
}

// A group whose table became one later can still be changed and destroyed.
func TestGroupIsWarnedOfItsTable(t *testing.T) {
	table := &ddb.TableDescription{TableName: aws.String("hadr"), MultiRegionConsistency: ddb.MultiRegionConsistencyEventual,
		Replicas: []ddb.ReplicaDescription{{RegionName: aws.String("eu-west-1")}}}
	if got := checkTable(table, false); len(got) != 1 || got.HasError() {
		t.Errorf("diagnostics %v, want one warning", got)
	}
}

// inTable is the configuration of a group whose table is made outside of Terraform.
func inTable(table, group string) string {
	config := regexp.MustCompile(`(?s)resource "hadr_state_table".*?\n}\n`).ReplaceAllString(group, "")
	return strings.ReplaceAll(config, "hadr_state_table.this.name", table)
}

// newTable makes a state table outside of Terraform, with replicas in other Regions.
func (a *testAWS) newTable(t *testing.T, consistency ddb.MultiRegionConsistency, regions ...string) {
	t.Helper()
	name := aws.String("hadr")
	key := func(attribute string, kind ddb.KeyType) ddb.KeySchemaElement {
		return ddb.KeySchemaElement{AttributeName: &attribute, KeyType: kind}
	}
	text := func(attribute string) ddb.AttributeDefinition {
		return ddb.AttributeDefinition{AttributeName: &attribute, AttributeType: ddb.ScalarAttributeTypeS}
	}
	_, err := a.dynamodb.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: name, BillingMode: ddb.BillingModePayPerRequest,
		AttributeDefinitions: []ddb.AttributeDefinition{text("pk"), text("sk")},
		KeySchema:            []ddb.KeySchemaElement{key("pk", ddb.KeyTypeHash), key("sk", ddb.KeyTypeRange)}})
	must(t, err)
	wait := func() {
		must(t, dynamodb.NewTableExistsWaiter(a.dynamodb).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: name}, time.Minute,
			func(o *dynamodb.TableExistsWaiterOptions) {
				o.MinDelay, o.MaxDelay = 100*time.Millisecond, 200*time.Millisecond
			}))
	}
	wait()
	if len(regions) == 0 {
		return
	}
	in := &dynamodb.UpdateTableInput{TableName: name, MultiRegionConsistency: consistency}
	for _, r := range regions {
		in.ReplicaUpdates = append(in.ReplicaUpdates, ddb.ReplicationGroupUpdate{Create: &ddb.CreateReplicationGroupMemberAction{RegionName: &r}})
	}
	_, err = a.dynamodb.UpdateTable(t.Context(), in)
	must(t, err)
	wait()
}
