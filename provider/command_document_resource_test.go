package provider

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

func TestCommandDocumentKinds(t *testing.T) {
	startAWS(t)
	config := ""
	for _, kind := range documentKinds() {
		config += sprintf(`resource "hadr_command_document" "%[1]s" {
  name = "hadr-%[1]s"
  kind = "%[1]s"
}
`, kind)
	}
	steps := []resource.TestStep{{Config: config}}
	for _, kind := range []string{"db2_status", "postgresql_promote", "path_check", "agent_install"} { // of each engine, and of none
		steps = append(steps, resource.TestStep{ResourceName: "hadr_command_document." + kind, ImportState: true, ImportStateVerify: true})
	}
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: steps})
}

// A newer provider brings another script: the document gets a new default
// version, and one that somebody changed by hand is set right.
func TestCommandDocumentIsSetRight(t *testing.T) {
	a := startAWS(t)
	const name = "hadr_command_document.this"
	config := `resource "hadr_command_document" "this" {
  name = "hadr-status"
  kind = "db2_status"
}`
	foreign := `{"schemaVersion":"2.2","description":"other","mainSteps":[{"action":"aws:runShellScript","name":"x","inputs":{"runCommand":["true"]}}]}`
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					out, err := a.ssm.UpdateDocument(t.Context(), &ssm.UpdateDocumentInput{Name: aws.String("hadr-status"), Content: &foreign, DocumentVersion: aws.String("$LATEST")})
					must(t, err)
					_, err = a.ssm.UpdateDocumentDefaultVersion(t.Context(), &ssm.UpdateDocumentDefaultVersionInput{Name: aws.String("hadr-status"), DocumentVersion: out.DocumentDescription.DocumentVersion})
					must(t, err)
				},
				Config:            config,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(name, plancheck.ResourceActionUpdate)}},
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(name, tfjsonpath.New("document_version"), knownvalue.StringExact("3"))},
			},
		},
	})
}
