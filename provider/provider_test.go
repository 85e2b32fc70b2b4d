package provider

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

func newServer(t *testing.T) tfprotov6.ProviderServer {
	t.Helper()
	srv, err := providerserver.NewProtocol6WithError(New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func TestSchemaIsValid(t *testing.T) {
	resp, err := newServer(t).GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	want := []string{
		"hadr_cloudwatch_agent_config", "hadr_command_document", "hadr_composite_alarm", "hadr_function", "hadr_group", "hadr_host_policy",
		"hadr_metric_alarm", "hadr_schedule", "hadr_sql_latency_metric", "hadr_state_table", "hadr_vip_route",
	}
	if got := sortedKeys(resp.ResourceSchemas); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("resources are %v, want %v", got, want)
	}
}

// The reference is made from the descriptions, so each attribute needs one.
func TestEverythingIsDescribed(t *testing.T) {
	resp, err := newServer(t).GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	described(t, "provider", resp.Provider.Block.Attributes)
	for name, s := range resp.ResourceSchemas {
		if s.Block.Description == "" {
			t.Errorf("%s has no description", name)
		}
		described(t, name, s.Block.Attributes)
	}
}

func described(t *testing.T, at string, attrs []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attrs {
		path := at + "." + a.Name
		if a.Description == "" {
			t.Errorf("%s has no description", path)
		}
		if a.NestedType != nil {
			described(t, path, a.NestedType.Attributes)
		}
	}
}
