package provider

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

var (
	_ resource.ResourceWithConfigure   = (*hostPolicyResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*hostPolicyResource)(nil)
	_ resource.ResourceWithImportState = (*hostPolicyResource)(nil)
)

const defaultNamespace = "HADR"

// What both the resource and the data source say.
const (
	tableKeyText       = "Customer managed KMS key of the state table (`kms_key_arn` of `hadr_state_table`). With it the agent may use the key through DynamoDB."
	agentConfigText    = "ARN of the parameter with the CloudWatch agent's configuration (`hadr_cloudwatch_agent_config`). With it the CloudWatch agent may read that parameter and publish in its namespace."
	agentNamespaceText = "Namespace of the CloudWatch agent's metrics. Default: `CWAgent`."
)

type hostPolicyResource struct{ configured }

func newHostPolicyResource() resource.Resource { return &hostPolicyResource{} }

type hostPolicyModel struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	RoleName    types.String `tfsdk:"role_name"`
	TableARN    types.String `tfsdk:"table_arn"`
	TableKeyARN types.String `tfsdk:"table_kms_key_arn"`
	Groups      types.Set    `tfsdk:"groups"`
	Namespace   types.String `tfsdk:"namespace"`
	FunctionARN types.String `tfsdk:"function_arn"`
	AgentConfig types.String `tfsdk:"cloudwatch_agent_config_arn"`
	AgentSpace  types.String `tfsdk:"cloudwatch_agent_namespace"`
	Policy      types.String `tfsdk:"policy"`
}

func (r *hostPolicyResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_host_policy"
}

func (r *hostPolicyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Inline policy of the database hosts' role with what `hadr-agent` needs: to publish its metrics, and to read and write the items of its own groups in the state table. " +
			"The role is the one of the hosts' instance profile; whatever else it allows is left alone.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{stringvalidator.LengthBetween(1, 128)},
				MarkdownDescription: "Name of the inline policy."},
			"role_name": schema.StringAttribute{Required: true, PlanModifiers: replace, Validators: []validator.String{stringvalidator.LengthBetween(1, 64)},
				MarkdownDescription: "Name of the role."},
			"table_arn": schema.StringAttribute{Required: true, Validators: []validator.String{arnOf("dynamodb")},
				MarkdownDescription: "ARN of the state table."},
			"table_kms_key_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{kmsKey{}}, MarkdownDescription: tableKeyText},
			"groups": schema.SetAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(groupName)},
				MarkdownDescription: "Groups that the hosts belong to."},
			"namespace": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(defaultNamespace),
				MarkdownDescription: "Namespace of the metrics. Default: `HADR`."},
			"function_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{arnOf("lambda")},
				MarkdownDescription: "ARN of the takeover function. With it the agent may renew the lease and report a lost one; without it there is no lease."},
			"cloudwatch_agent_config_arn": schema.StringAttribute{Optional: true, Validators: []validator.String{arnOf("ssm")},
				MarkdownDescription: agentConfigText},
			"cloudwatch_agent_namespace": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(procstat.DefaultNamespace),
				MarkdownDescription: agentNamespaceText},
			"policy": schema.StringAttribute{Computed: true, MarkdownDescription: "The policy (JSON)."},
			"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				MarkdownDescription: "`ROLE/NAME`."},
		},
	}
}

func (r *hostPolicyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var m hostPolicyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.Policy = types.StringUnknown()
	if m.known() {
		m.Policy = types.StringValue(m.document(ctx, &resp.Diagnostics).String())
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("policy"), m.Policy)...)
}

// known reports whether everything that stands in the policy is known.
func (m hostPolicyModel) known() bool {
	for _, v := range []attr.Value{m.TableARN, m.TableKeyARN, m.FunctionARN, m.Groups, m.Namespace, m.AgentConfig, m.AgentSpace} {
		if v.IsUnknown() {
			return false
		}
	}
	return true
}

// document limits the table to the partitions of the groups:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
func (m hostPolicyModel) document(ctx context.Context, diags *diag.Diagnostics) policy {
	var keys []string
	for _, g := range goStrings(ctx, m.Groups, diags) {
		keys = append(keys, "GROUP#"+g)
	}
	actions := []string{"dynamodb:GetItem", "dynamodb:PutItem"}
	if m.FunctionARN.ValueString() != "" { // who renews a lease reports a lost one
		actions = append(actions, "dynamodb:UpdateItem")
	}
	record := allow("OwnGroups", []string{m.TableARN.ValueString()}, actions...)
	record.Condition = map[string]map[string][]string{"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": keys}}
	metrics := allow("Metrics", anyResource, "cloudwatch:PutMetricData")
	namespaces := []string{m.Namespace.ValueString()}
	all := []statement{record, useTableKey(m.TableKeyARN.ValueString(), m.TableARN.ValueString())}
	if p := m.AgentConfig.ValueString(); p != "" { // the CloudWatch agent reads its configuration and publishes, too
		namespaces = append(namespaces, m.AgentSpace.ValueString())
		all = append(all, allow("AgentConfiguration", []string{p}, "ssm:GetParameter"))
	}
	metrics.Condition = map[string]map[string][]string{"StringEquals": {"cloudwatch:namespace": slices.Compact(namespaces)}}
	all = append(all, metrics)
	if f := m.FunctionARN.ValueString(); f != "" {
		all = append(all, allow("Report", []string{f}, "lambda:InvokeFunction"))
	}
	return document(all...)
}

func (r *hostPolicyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m hostPolicyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if diags := r.put(ctx, &m, "creating host policy"); diags.HasError() {
		resp.Diagnostics.Append(diags...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *hostPolicyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m hostPolicyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if diags := r.put(ctx, &m, "changing host policy"); diags.HasError() {
		resp.Diagnostics.Append(diags...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *hostPolicyResource) put(ctx context.Context, m *hostPolicyModel, tried string) (diags diag.Diagnostics) {
	m.ID = types.StringValue(m.RoleName.ValueString() + "/" + m.Name.ValueString())
	m.Policy = types.StringValue(m.document(ctx, &diags).String())
	_, err := r.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
		RoleName: goString(m.RoleName), PolicyName: goString(m.Name), PolicyDocument: goString(m.Policy),
	})
	if err != nil {
		diags.Append(diagnose.FailedAt(path.Root("role_name"), tried, m.ID.ValueString(), err))
	}
	return diags
}

func (r *hostPolicyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m hostPolicyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	role, name, _ := strings.Cut(m.ID.ValueString(), "/")
	text, err := ownRole{clients: r.clients, name: role, policyName: name}.policy(ctx)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading host policy", m.ID.ValueString(), err))
		return
	}
	if text == "" {
		resp.Diagnostics.Append(diagnose.Gone("host policy", m.ID.ValueString()))
		resp.State.RemoveResource(ctx)
		return
	}
	m.RoleName, m.Name = types.StringValue(role), types.StringValue(name)
	if !sameJSON(text, m.Policy.ValueString()) {
		m.Policy = types.StringValue(text) // the plan sets it right again
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *hostPolicyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m hostPolicyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	_, err := r.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: goString(m.RoleName), PolicyName: goString(m.Name)})
	if err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting host policy", m.ID.ValueString(), err))
	}
}

func (r *hostPolicyResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if role, name, ok := strings.Cut(req.ID, "/"); !ok || role == "" || name == "" {
		resp.Diagnostics.Append(diagnose.Unreadable("host policy", req.ID, "ROLE/NAME"))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
