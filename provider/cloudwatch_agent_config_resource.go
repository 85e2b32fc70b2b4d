package provider

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

var (
	_ resource.ResourceWithConfigure   = (*cloudWatchAgentConfigResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*cloudWatchAgentConfigResource)(nil)
	_ resource.ResourceWithImportState = (*cloudWatchAgentConfigResource)(nil)
)

type cloudWatchAgentConfigResource struct{ configured }

func newCloudWatchAgentConfigResource() resource.Resource { return &cloudWatchAgentConfigResource{} }

// ModifyPlan writes the configuration, so that the plan shows it and refuses
// one that no parameter has room for.
func (r *cloudWatchAgentConfigResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
	if req.Plan.Raw.IsNull() {
		return
	}
	var m, before cloudWatchAgentConfigModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &before)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	m.Value, m.Version = types.StringUnknown(), types.Int64Unknown()
	if m.known() {
		m.Value = types.StringValue(m.expand(ctx, &resp.Diagnostics).JSON())
		if d := tooLong(m.Value.ValueString()); d != nil {
			resp.Diagnostics.Append(d)
		}
	}
	if m.Value.Equal(before.Value) {
		m.Version = before.Version
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("value"), m.Value)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("parameter_version"), m.Version)...)
}

func (r *cloudWatchAgentConfigResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m cloudWatchAgentConfigModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	m.Value = types.StringValue(m.expand(ctx, &resp.Diagnostics).JSON())
	if d := tooLong(m.Value.ValueString()); d != nil { // of a value that no plan could know
		resp.Diagnostics.Append(d)
		return
	}
	id, err := r.identity(ctx) // before there is a parameter: without its ARN no state would have it
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	tags := r.allTags(ctx, m.Tags, &resp.Diagnostics)
	out, err := r.ssm.PutParameter(ctx, &ssm.PutParameterInput{
		Name: &name, Value: goString(m.Value), Type: ssmtypes.ParameterTypeString, Tier: ssmtypes.ParameterTierStandard, Tags: ssmTags(tags),
		Description: aws.String("Configuration of the CloudWatch agent on the database hosts, written by Terraform"),
	})
	if err != nil {
		resp.Diagnostics.Append(diagnose.FailedAt(path.Root("name"), "creating CloudWatch agent configuration", name, err))
		return
	}
	m.ID, m.TagsAll, m.Version, m.MetricName = m.Name, tfFullMap(tags), types.Int64Value(out.Version), types.StringValue(procstat.Metric)
	m.ARN = r.parameterARN(id, name)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *cloudWatchAgentConfigResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m cloudWatchAgentConfigModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	err := r.readInto(ctx, name, &m, &resp.Diagnostics)
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("CloudWatch agent configuration", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading CloudWatch agent configuration", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *cloudWatchAgentConfigResource) readInto(ctx context.Context, name string, m *cloudWatchAgentConfigModel, diags *diag.Diagnostics) error {
	out, err := r.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	if err != nil {
		return err
	}
	if out.Parameter == nil {
		return errors.New("AWS answered without the parameter")
	}
	tags, err := r.ssm.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceId: &name, ResourceType: ssmtypes.ResourceTypeForTaggingParameter})
	if err != nil {
		return err
	}
	id, err := r.identity(ctx)
	if err != nil {
		return err
	}
	m.Name, m.ARN, m.Version = types.StringValue(name), r.parameterARN(id, name), types.Int64Value(out.Parameter.Version)
	m.flatten(aws.ToString(out.Parameter.Value))
	remote := map[string]string{}
	for _, t := range tags.TagList {
		remote[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, remote, m.Tags, diags)
	return nil
}

func (r *cloudWatchAgentConfigResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want cloudWatchAgentConfigModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID, want.ARN, want.Version, want.MetricName = have.ID, have.ARN, have.Version, types.StringValue(procstat.Metric)
	want.Value = types.StringValue(want.expand(ctx, &resp.Diagnostics).JSON())
	if d := tooLong(want.Value.ValueString()); d != nil {
		resp.Diagnostics.Append(d)
		return
	}
	if err := r.change(ctx, have, &want, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing CloudWatch agent configuration", have.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

func (r *cloudWatchAgentConfigResource) change(ctx context.Context, have cloudWatchAgentConfigModel, want *cloudWatchAgentConfigModel, diags *diag.Diagnostics) error {
	name := goString(have.ID)
	if !have.Value.Equal(want.Value) {
		out, err := r.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: name, Value: goString(want.Value), Overwrite: aws.Bool(true)})
		if err != nil {
			return err
		}
		want.Version = types.Int64Value(out.Version)
	}
	return r.retagSSM(ctx, name, ssmtypes.ResourceTypeForTaggingParameter, tagChange{have.TagsAll, want.TagsAll}, diags)
}

func (r *cloudWatchAgentConfigResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m cloudWatchAgentConfigModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if _, err := r.ssm.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: goString(m.ID)}); err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting CloudWatch agent configuration", m.ID.ValueString(), err))
	}
}

func (r *cloudWatchAgentConfigResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
