package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

var _ datasource.DataSource = (*hostPolicyDocument)(nil)

// hostPolicyDocument is the policy of hadr_host_policy for those who attach
// policies by other means.
type hostPolicyDocument struct{}

func newHostPolicyDocument() datasource.DataSource { return &hostPolicyDocument{} }

type hostPolicyDocumentModel struct {
	TableARN    types.String `tfsdk:"table_arn"`
	TableKeyARN types.String `tfsdk:"table_kms_key_arn"`
	Groups      types.Set    `tfsdk:"groups"`
	Namespace   types.String `tfsdk:"namespace"`
	FunctionARN types.String `tfsdk:"function_arn"`
	AgentConfig types.String `tfsdk:"cloudwatch_agent_config_arn"`
	AgentSpace  types.String `tfsdk:"cloudwatch_agent_namespace"`
	JSON        types.String `tfsdk:"json"`
}

func (d *hostPolicyDocument) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_host_policy_document"
}

func (d *hostPolicyDocument) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What `hadr-agent` needs on the database hosts, as a policy document: for an instance profile whose policies are made elsewhere. `hadr_host_policy` puts the same policy into a role. It calls no API.",
		Attributes: map[string]schema.Attribute{
			"table_arn": schema.StringAttribute{Required: true, Validators: []validator.String{arnOf("dynamodb")},
				MarkdownDescription: "ARN of the state table."},
			"table_kms_key_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{kmsKey{}}, MarkdownDescription: tableKeyText},
			"groups": schema.SetAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(groupName)},
				MarkdownDescription: "Groups that the hosts belong to."},
			"namespace": schema.StringAttribute{Optional: true, MarkdownDescription: "Namespace of the metrics. Default: `HADR`."},
			"function_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{arnOf("lambda")},
				MarkdownDescription: "ARN of the takeover function. With it the agent may renew the lease and report a lost one."},
			"cloudwatch_agent_config_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{arnOf("ssm")},
				MarkdownDescription: agentConfigText},
			"cloudwatch_agent_namespace": schema.StringAttribute{Optional: true, MarkdownDescription: agentNamespaceText},
			"json":                       schema.StringAttribute{Computed: true, MarkdownDescription: "The policy (JSON)."},
		},
	}
}

func (d *hostPolicyDocument) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m hostPolicyDocumentModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	policy := hostPolicyModel{
		TableARN: m.TableARN, TableKeyARN: m.TableKeyARN, Groups: m.Groups, Namespace: orDefault(m.Namespace, defaultNamespace), FunctionARN: m.FunctionARN,
		AgentConfig: m.AgentConfig, AgentSpace: orDefault(m.AgentSpace, procstat.DefaultNamespace),
	}
	m.JSON = types.StringValue(policy.document(ctx, &resp.Diagnostics).String())
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// orDefault stands for a default, which attributes of data sources can't have.
func orDefault(v types.String, byDefault string) types.String {
	if v.IsNull() {
		return types.StringValue(byDefault)
	}
	return v
}
