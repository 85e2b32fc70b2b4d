package provider

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Limits of a role session:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const (
	minSession = 15 * time.Minute
	maxSession = 12 * time.Hour
)

const defaultMaxRetries = 10

type providerModel struct {
	Region                 types.String     `tfsdk:"region"`
	Profile                types.String     `tfsdk:"profile"`
	SharedConfigFiles      types.List       `tfsdk:"shared_config_files"`
	SharedCredentialsFiles types.List       `tfsdk:"shared_credentials_files"`
	AccessKey              types.String     `tfsdk:"access_key"`
	SecretKey              types.String     `tfsdk:"secret_key"`
	Token                  types.String     `tfsdk:"token"`
	AssumeRole             *assumeRoleModel `tfsdk:"assume_role"`
	Endpoints              types.Object     `tfsdk:"endpoints"`
	MaxRetries             types.Int64      `tfsdk:"max_retries"`
	DefaultTags            *defaultTags     `tfsdk:"default_tags"`
	AllowedAccountIDs      types.Set        `tfsdk:"allowed_account_ids"`
	ForbiddenAccountIDs    types.Set        `tfsdk:"forbidden_account_ids"`
}

type assumeRoleModel struct {
	RoleARN     types.String `tfsdk:"role_arn"`
	SessionName types.String `tfsdk:"session_name"`
	ExternalID  types.String `tfsdk:"external_id"`
	Duration    types.String `tfsdk:"duration"`
	Policy      types.String `tfsdk:"policy"`
	Tags        types.Map    `tfsdk:"tags"`
}

type defaultTags struct {
	Tags types.Map `tfsdk:"tags"`
}

// settings are the provider's configuration in Go's types. A zero value means
// that the conventions of AWS tooling decide.
type settings struct {
	Region            string
	Profile           string
	ConfigFiles       []string
	CredentialsFiles  []string
	AccessKey         string
	SecretKey         string
	Token             string
	AssumeRole        *assumeRole
	Endpoints         map[string]string // by the names in services
	MaxRetries        int
	DefaultTags       map[string]string
	AllowedAccounts   []string
	ForbiddenAccounts []string
}

type assumeRole struct {
	ARN, SessionName, ExternalID, Policy string
	Duration                             time.Duration
	Tags                                 map[string]string
}

func (m providerModel) expand(ctx context.Context) (settings, diag.Diagnostics) {
	var diags diag.Diagnostics
	s := settings{
		Region:            m.Region.ValueString(),
		Profile:           m.Profile.ValueString(),
		ConfigFiles:       goStrings(ctx, m.SharedConfigFiles, &diags),
		CredentialsFiles:  goStrings(ctx, m.SharedCredentialsFiles, &diags),
		AccessKey:         m.AccessKey.ValueString(),
		SecretKey:         m.SecretKey.ValueString(),
		Token:             m.Token.ValueString(),
		Endpoints:         map[string]string{},
		MaxRetries:        defaultMaxRetries,
		AllowedAccounts:   goStrings(ctx, m.AllowedAccountIDs, &diags),
		ForbiddenAccounts: goStrings(ctx, m.ForbiddenAccountIDs, &diags),
	}
	if !m.MaxRetries.IsNull() {
		s.MaxRetries = int(m.MaxRetries.ValueInt64())
	}
	if m.DefaultTags != nil {
		s.DefaultTags = goMap(ctx, m.DefaultTags.Tags, &diags)
	}
	for name, v := range m.Endpoints.Attributes() {
		if url := stringIn(v); url != "" {
			s.Endpoints[name] = url
		}
	}
	if r := m.AssumeRole; r != nil {
		s.AssumeRole = &assumeRole{
			ARN: r.RoleARN.ValueString(), SessionName: "hadr", ExternalID: r.ExternalID.ValueString(),
			Policy: r.Policy.ValueString(), Tags: goMap(ctx, r.Tags, &diags),
		}
		if n := r.SessionName.ValueString(); n != "" {
			s.AssumeRole.SessionName = n
		}
		if d := r.Duration.ValueString(); d != "" {
			s.AssumeRole.Duration, _ = time.ParseDuration(d) // the validator has seen it
		}
	}
	return s, diags
}

func stringIn(v attr.Value) string {
	s, _ := v.(types.String)
	return s.ValueString()
}

// envName is how a service stands in AWS_ENDPOINT_URL_<SERVICE>:
// https://docs.aws.amazon.com/sdkref/latest/guide/ss-endpoints-table.html
func envName(service string) string {
	if service == "cloudwatchlogs" {
		return "CLOUDWATCH_LOGS"
	}
	return strings.ToUpper(service)
}
