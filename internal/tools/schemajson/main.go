// Command schemajson prints the provider's schemas in the format of
// `terraform providers schema -json`, from which the reference is made. It asks
// the provider itself, because a Terraform CLI leaves out what it does not know
// yet, such as actions and list resources.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/hadr-dev/terraform-provider-hadr/provider"
)

// address is what tfplugindocs looks for when it is told --provider-name hadr.
const address = "registry.terraform.io/hashicorp/hadr"

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatalf("schemajson: %v", err)
	}
}

func run(ctx context.Context, w io.Writer) error {
	srv, err := providerserver.NewProtocol6WithError(provider.New("dev")())()
	if err != nil {
		return err
	}
	schemas, err := srv.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return err
	}
	for _, d := range schemas.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return fmt.Errorf("the provider's schema is not valid: %s: %s", d.Summary, d.Detail)
		}
	}
	identities, err := srv.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"format_version":   "1.0",
		"provider_schemas": object{address: translate(schemas, identities)},
	})
}
