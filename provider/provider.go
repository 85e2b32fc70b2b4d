// Package provider is the Terraform provider hadr: one file per resource, each
// of them wiring and conversion only.
package provider

import (
	"context"
	"io/fs"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var _ provider.ProviderWithFunctions = (*hadrProvider)(nil)

type hadrProvider struct {
	version string
	code    fs.FS // of the functions
}

// New returns a constructor of the provider; version stands in the user agent
// of every call to AWS.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &hadrProvider{version: version, code: embedded} }
}

func (p *hadrProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "hadr"
	resp.Version = p.version
}

func (p *hadrProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerSchema()
}

func (p *hadrProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var m providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s, diags := m.expand(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	cfg, err := loadAWSConfig(ctx, s, p.version)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Problem{
			Tried: "configuring provider", Object: "hadr", Cause: err.Error(),
			Next: "Check region, profile, shared_config_files and shared_credentials_files of the provider, and the AWS_ environment variables",
		}.Error())
		return
	}
	// The time is the machine's, but for a provider that works in a sandbox with
	// a clock of its own.
	now, err := clock.FromEnv(os.Getenv)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Problem{
			Tried: "configuring provider", Object: "hadr", Cause: err.Error(), Next: "Unset " + clock.EnvVar,
		}.Error())
		return
	}
	c := newClients(cfg, s, now, p.code)
	resp.Diagnostics.Append(c.checkAccount(ctx, s.AllowedAccounts, s.ForbiddenAccounts)...)
	resp.ResourceData = c
	resp.DataSourceData = c
}

func (p *hadrProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newCloudWatchAgentConfigResource,
		newCommandDocumentResource,
		newCompositeAlarmResource,
		newFunctionResource,
		newHostPolicyResource,
		newMetricAlarmResource,
		newGroupResource,
		newScheduleResource,
		newSQLLatencyMetricResource,
		newStateTableResource,
		newVIPRouteResource,
	}
}

func (p *hadrProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newHostPolicyDocument}
}

// Functions implements provider.ProviderWithFunctions.
func (p *hadrProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{newDetectionTimeFunction}
}
