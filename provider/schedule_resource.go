package provider

import (
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure   = (*scheduleResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*scheduleResource)(nil)
	_ resource.ResourceWithImportState = (*scheduleResource)(nil)
)

// Limits: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html
const (
	minScheduleAge     = 60
	maxScheduleAge     = 86400
	maxScheduleRetries = 185
	maxRateMinutes     = 1440
	ownScheduleRole    = "-schedule" // after the name of the schedule; a role's has 64 characters at most
)

type scheduleResource struct{ configured }

func newScheduleResource() resource.Resource { return &scheduleResource{} }

func (r *scheduleResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_schedule"
}

func (r *scheduleResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Schedule of the EventBridge Scheduler that invokes a function every few minutes: the one of kind `watch`. " +
			"With it comes an execution role that may invoke this function and nothing else.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^[0-9a-zA-Z_.-]{1,55}$`),
					"must have 1 to 55 letters, digits, hyphens, underscores and dots")},
				MarkdownDescription: "Name of the schedule, in the group `default`. The execution role is called like it, with `" + ownScheduleRole + "`."},
			"function_arn": schema.StringAttribute{Required: true, Validators: []validator.String{arnOf("lambda")}, MarkdownDescription: "ARN of the function."},
			"rate_minutes": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1),
				Validators:          []validator.Int64{int64validator.Between(1, maxRateMinutes)},
				MarkdownDescription: "Minutes from one invocation to the next. Default: 1. The budget of a takeover (`hadr_group`) counts on 1: what was interrupted is resumed within a minute."},
			"enabled": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Default: `true`. While it is off, nothing resumes an interrupted takeover but the alarm's own retries."},
			"maximum_event_age_seconds": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(minScheduleAge),
				Validators:          []validator.Int64{int64validator.Between(minScheduleAge, maxScheduleAge)},
				MarkdownDescription: "How long an invocation that did not arrive is kept. Default: 60; the next one comes by then."},
			"maximum_retry_attempts": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(0),
				Validators: []validator.Int64{int64validator.Between(0, maxScheduleRetries)}, MarkdownDescription: "Retries of an invocation that did not arrive. Default: 0."},
			"role_arn": schema.StringAttribute{Optional: true, Computed: true, Validators: []validator.String{arnOf("iam")}, PlanModifiers: keep,
				MarkdownDescription: "Execution role. Default: a role of the schedule's own; see `policy`. Another one must trust `scheduler.amazonaws.com`, and must not be called like the own one."},
			"policy": schema.StringAttribute{Computed: true,
				MarkdownDescription: "IAM policy (JSON) that the schedule needs: what its own role has, and what the role of `role_arn` must have."},
			"arn": schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "ARN of the schedule."},
			"id":  schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Name of the schedule."},
		},
	}
}

// ModifyPlan shows policy and role as they will be, so that what was changed
// outside is a visible change.
func (r *scheduleResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var m, config scheduleModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	role, diags := ownRole{name: m.ownRoleName()}.plan(config.RoleARN, m.RoleARN)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("role_arn"), role)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("policy"), m.policyText())...)
}

func (r *scheduleResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m scheduleModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	m.Policy = m.policyText()
	role, err := r.role(ctx, m)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	if m.RoleARN.IsUnknown() {
		arn, diags := role.create(ctx, m.Policy.ValueString(), r.defaultTags)
		if resp.Diagnostics.Append(diags...); diags.HasError() {
			return
		}
		m.RoleARN = types.StringValue(arn)
	}
	var out *scheduler.CreateScheduleOutput
	err = r.eventually(ctx, func() (err error) {
		out, err = r.scheduler.CreateSchedule(ctx, m.expand())
		return err
	}, schedulerCannotAssume)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating schedule", name, err))
		if m.ownRole() {
			resp.Diagnostics.Append(role.discard(ctx)...)
		}
		return
	}
	m.ID, m.ARN = m.Name, tfString(out.ScheduleArn)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// ownSchedulePolicy is the fixed name of the own role's policy.
const ownSchedulePolicy = "hadr-schedule"

func (r *scheduleResource) role(ctx context.Context, m scheduleModel) (ownRole, error) {
	id, err := r.identity(ctx)
	return ownRole{r.clients, m.ownRoleName(), ownSchedulePolicy, assumeByScheduler(id.Account),
		"Execution role of the schedule " + m.Name.ValueString() + " of hadr"}, err
}

// schedulerCannotAssume is the answer while a new role is not known everywhere.
func schedulerCannotAssume(err error) bool {
	return hasCode(err, "ValidationException") && strings.Contains(err.Error(), "execution role")
}

func (r *scheduleResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m scheduleModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	s, err := r.scheduler.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &name})
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("schedule", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		m.flatten(s)
		err = r.readPolicy(ctx, &m)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading schedule", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *scheduleResource) readPolicy(ctx context.Context, m *scheduleModel) error {
	want := m.policyText()
	if !m.ownRole() {
		m.Policy = want
		return nil
	}
	role, err := r.role(ctx, *m)
	if err != nil {
		return err
	}
	text, err := role.effective(ctx)
	if err != nil {
		return err
	}
	m.Policy = types.StringValue(text)
	if sameJSON(text, want.ValueString()) {
		m.Policy = want
	}
	return nil
}

func (r *scheduleResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want scheduleModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	want.ID, want.ARN, want.Policy = have.ID, have.ARN, want.policyText()
	own, err := r.role(ctx, want)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	arn, made, diags := own.settle(ctx, want.RoleARN, want.Policy.ValueString(), r.defaultTags)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		return
	}
	want.RoleARN = arn
	in := scheduler.UpdateScheduleInput(*want.expand())
	err = r.eventually(ctx, func() error {
		_, err := r.scheduler.UpdateSchedule(ctx, &in)
		return err
	}, schedulerCannotAssume)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing schedule", have.ID.ValueString(), err))
		if made {
			resp.Diagnostics.Append(own.discard(ctx)...)
		}
		return
	}
	if have.ownRole() && !want.ownRole() {
		resp.Diagnostics.Append(own.discard(ctx)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

func (r *scheduleResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m scheduleModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if _, err := r.scheduler.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: aws.String(m.ID.ValueString())}); err != nil && !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("deleting schedule", m.ID.ValueString(), err))
		return
	}
	if m.ownRole() {
		role := ownRole{clients: r.clients, name: m.ownRoleName(), policyName: ownSchedulePolicy}
		if err := role.delete(ctx); err != nil {
			resp.Diagnostics.Append(diagnose.Failed("deleting execution role", m.ownRoleName(), err))
		}
	}
}

// ImportState takes the name of a schedule in the group default.
func (r *scheduleResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if strings.ContainsAny(req.ID, "/:") {
		resp.Diagnostics.Append(diagnose.Unreadable("schedule", req.ID, "NAME"))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
