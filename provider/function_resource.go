package provider

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure      = (*functionResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*functionResource)(nil)
	_ resource.ResourceWithImportState    = (*functionResource)(nil)
	_ resource.ResourceWithValidateConfig = (*functionResource)(nil)
)

// functionTimeout bounds the wait for a function to become active or updated:
// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
const functionTimeout = 5 * time.Minute

type functionResource struct{ configured }

func newFunctionResource() resource.Resource { return &functionResource{} }

func (r *functionResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_function"
}

func (r *functionResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = functionSchema()
}

func (r *functionResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m functionModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(m.validateKind()...)
	}
}

// ModifyPlan shows policy, environment and the hash of the code as they will
// be, so that a new provider version, too, is a visible change.
func (r *functionResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
	if req.Plan.Raw.IsNull() {
		return
	}
	var m, config functionModel
	resp.Diagnostics.Append(resp.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.fillDefaults(config)
	var diags diag.Diagnostics
	m.RoleARN, diags = functionParts{r.clients}.role(m.ownRoleName()).plan(config.RoleARN, m.RoleARN)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		return
	}
	m.Environment = types.MapUnknown(types.StringType)
	if m.environmentKnown() {
		m.Environment = tfFullMap(m.variables())
	}
	if r.clients != nil {
		r.planParts(ctx, req.State.Raw.IsNull(), &m, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
}

// planParts plans what needs AWS or the code.
func (r *functionResource) planParts(ctx context.Context, isNew bool, m *functionModel, diags *diag.Diagnostics) {
	if code, ok := r.codeFor(m.Architecture.ValueString()); ok {
		m.SourceCodeHash = types.StringValue(code.Hash)
	} else if !m.Architecture.IsUnknown() && isNew {
		diags.Append(diagnose.NoCode(m.Kind.ValueString(), m.Architecture.ValueString()))
		return
	}
	m.Policy = types.StringUnknown()
	if m.policyKnown() {
		id, err := r.identity(ctx)
		if err != nil {
			diags.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
			return
		}
		m.Policy = m.policyText(ctx, r.clients, id, diags)
	}
}

func (r *functionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m functionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	code, ok := r.codeFor(m.Architecture.ValueString())
	if !ok {
		resp.Diagnostics.Append(diagnose.NoCode(m.Kind.ValueString(), m.Architecture.ValueString()))
		return
	}
	id, err := r.identity(ctx)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	tags := r.allTags(ctx, m.Tags, &resp.Diagnostics)
	m.Policy, m.Environment = m.policyText(ctx, r.clients, id, &resp.Diagnostics), tfFullMap(m.variables())
	m.LogGroupName = types.StringValue(logGroupRoot + name)
	build := functionBuild{functionParts: functionParts{r.clients}}
	diags := build.run(ctx, &m, code, tags)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		resp.Diagnostics.Append(build.undo(ctx, m)...)
		return
	}
	m.ID, m.SourceCodeHash, m.TagsAll = m.Name, types.StringValue(code.Hash), tfFullMap(tags)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...) // from here on the function exists
	err = build.active(ctx, name)
	if err == nil {
		err = build.putInvocation(ctx, m)
	}
	if err == nil {
		err = build.setInvokers(ctx, id, name, nil, goStrings(ctx, m.AlarmNames, &resp.Diagnostics))
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating function", name, err))
	}
}

func (r *functionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m functionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	f, err := r.lambda.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("function", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		m.flatten(f)
		err = r.readParts(ctx, &m)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading function", name, err))
		return
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, f.Tags, m.Tags, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// readParts reads what stands beside the function. A part that is gone reads
// as nothing, so that the plan brings it back.
func (r *functionResource) readParts(ctx context.Context, m *functionModel) error {
	parts := functionParts{r.clients}
	days, err := parts.retention(ctx, m.LogGroupName.ValueString())
	if err != nil {
		return err
	}
	m.LogRetentionDays = days
	inv, err := parts.invocation(ctx, m.Name.ValueString())
	if err != nil {
		return err
	}
	m.MaximumEventAge, m.MaximumRetryAttempts, m.FailureDestinationARN = inv.age, inv.retries, inv.destination
	names, err := parts.invokers(ctx, m.Name.ValueString())
	if err != nil {
		return err
	}
	m.AlarmNames = tfSet(names)
	if m.ownRole() {
		text, err := parts.role(m.ownRoleName()).effective(ctx)
		if err != nil {
			return err
		}
		if !sameJSON(text, m.Policy.ValueString()) {
			m.Policy = types.StringValue(text)
		}
	}
	return nil
}

func (r *functionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want functionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID, want.ARN, want.LogGroupName = have.ID, have.ARN, have.LogGroupName
	id, err := r.identity(ctx)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	want.Policy, want.Environment = want.policyText(ctx, r.clients, id, &resp.Diagnostics), tfFullMap(want.variables())
	if want.SourceCodeHash.IsUnknown() {
		want.SourceCodeHash = have.SourceCodeHash
	}
	r.reconfigure(ctx, have, &want, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.change(ctx, id, have, &want, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing function", have.ID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

// reconfigure changes role and configuration. A new role that Lambda refuses is
// taken back: the next plan would see it, and not that the function lacks it.
func (r *functionResource) reconfigure(ctx context.Context, have functionModel, want *functionModel, diags *diag.Diagnostics) {
	parts, name := functionParts{r.clients}, have.Name.ValueString()
	own := parts.role(want.ownRoleName())
	arn, made, problems := own.settle(ctx, want.RoleARN, want.Policy.ValueString(), goMap(ctx, want.TagsAll, diags))
	if diags.Append(problems...); diags.HasError() {
		return
	}
	want.RoleARN = arn
	if !made && have.sameConfiguration(*want) {
		return
	}
	if err := parts.configure(ctx, want.configuration()); err != nil {
		diags.Append(diagnose.Failed("changing function", name, err))
		if made {
			diags.Append(own.discard(ctx)...)
		}
		return
	}
	if err := parts.updated(ctx, name); err != nil {
		diags.Append(diagnose.Failed("changing function", name, err))
		return
	}
	switch {
	case made && have.ownRole():
		diags.Append(diagnose.RoleMadeAnew(name, own.name))
	case have.ownRole() && !want.ownRole():
		diags.Append(own.discard(ctx)...)
	}
}

func (r *functionResource) change(ctx context.Context, id identity, have functionModel, want *functionModel, diags *diag.Diagnostics) error {
	parts, name := functionParts{r.clients}, have.Name.ValueString()
	if !have.LogRetentionDays.Equal(want.LogRetentionDays) {
		if _, err := parts.putLogGroup(ctx, want.LogGroupName.ValueString(), want.LogRetentionDays.ValueInt64(), nil); err != nil {
			return err
		}
	}
	if !have.SourceCodeHash.Equal(want.SourceCodeHash) || !have.Architecture.Equal(want.Architecture) {
		code, ok := r.codeFor(want.Architecture.ValueString())
		if !ok {
			diags.Append(diagnose.NoCode(want.Kind.ValueString(), want.Architecture.ValueString()))
			return nil
		}
		if err := parts.putCode(ctx, name, code, want.architectures()); err != nil {
			return err
		}
	}
	if !have.sameInvocation(*want) {
		if err := parts.putInvocation(ctx, *want); err != nil {
			return err
		}
	}
	if err := parts.setInvokers(ctx, id, name, goStrings(ctx, have.AlarmNames, diags), goStrings(ctx, want.AlarmNames, diags)); err != nil {
		return err
	}
	set, remove := tagChanges(goMap(ctx, have.TagsAll, diags), goMap(ctx, want.TagsAll, diags))
	return parts.retag(ctx, have.ARN.ValueString(), set, remove)
}

func (r *functionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m functionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name, parts := m.Name.ValueString(), functionParts{r.clients}
	if _, err := r.lambda.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &name}); err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting function", name, err))
		return
	}
	if m.ownRole() {
		if err := parts.role(m.ownRoleName()).delete(ctx); err != nil {
			resp.Diagnostics.Append(diagnose.Failed("deleting execution role", m.ownRoleName(), err))
		}
	}
	if err := parts.deleteLogGroup(ctx, m.LogGroupName.ValueString()); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("deleting log group", m.LogGroupName.ValueString(), err))
	}
}

// ImportState reads name, and takes the kind and all other settings from AWS.
// Instances, route tables and documents are not on the function; the next plan
// shows them as a change of the policy.
func (r *functionResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if strings.ContainsAny(req.ID, "/:") {
		resp.Diagnostics.Append(diagnose.Unreadable("function", req.ID, "NAME"))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

func alarmARN(c *clients, id identity, name string) string {
	return c.arn(id, "cloudwatch", "alarm:"+name)
}

func isAlarm(resource string) (string, bool) {
	name, ok := strings.CutPrefix(resource, "alarm:")
	return name, ok && name != ""
}

var lambdaInvoke = aws.String("lambda:InvokeFunction")
