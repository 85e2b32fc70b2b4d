package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure   = (*compositeAlarmResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*compositeAlarmResource)(nil)
	_ resource.ResourceWithImportState = (*compositeAlarmResource)(nil)
)

// Limit of a rule: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
const maxAlarmRule = 10240

type compositeAlarmResource struct{ configured }

func newCompositeAlarmResource() resource.Resource { return &compositeAlarmResource{} }

type compositeAlarmModel struct {
	ID          types.String `tfsdk:"id"`
	ARN         types.String `tfsdk:"arn"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
	alarmActions
	AlarmRule  types.String     `tfsdk:"alarm_rule"`
	Suppressor *suppressorModel `tfsdk:"actions_suppressor"`
	Tags       types.Map        `tfsdk:"tags"`
	TagsAll    types.Map        `tfsdk:"tags_all"`
}

type suppressorModel struct {
	Alarm           types.String `tfsdk:"alarm"`
	WaitPeriod      types.Int64  `tfsdk:"wait_period_seconds"`
	ExtensionPeriod types.Int64  `tfsdk:"extension_period_seconds"`
}

func (r *compositeAlarmResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_composite_alarm"
}

func (r *compositeAlarmResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attrs := map[string]schema.Attribute{
		"alarm_rule": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthBetween(1, maxAlarmRule)},
			MarkdownDescription: "Rule over the states of other alarms, such as `ALARM(\"orders-a-latency\") OR ALARM(\"orders-a-silent\")`. The precedence of AND and OR is not documented: use parentheses."},
		"actions_suppressor": schema.SingleNestedAttribute{Optional: true,
			MarkdownDescription: "Alarm that holds the actions back while it is in ALARM. Its wait adds to the detection time: leave it away on the path of a takeover.",
			Attributes: map[string]schema.Attribute{
				"alarm": schema.StringAttribute{Required: true, MarkdownDescription: "Name or ARN of the alarm."},
				"wait_period_seconds": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(0, 7200)},
					MarkdownDescription: "How long the actions wait for the suppressor to go to ALARM."},
				"extension_period_seconds": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(0, 7200)},
					MarkdownDescription: "How long the actions are still held back after it has left ALARM."},
			}},
	}
	addAlarmAttributes(attrs)
	resp.Schema = schema.Schema{
		MarkdownDescription: "CloudWatch composite alarm: one decision over several alarms, so that one failure invokes a function once. " +
			"Its actions may be functions and topics.",
		Attributes: attrs,
	}
}

func (r *compositeAlarmResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
}

func (r *compositeAlarmResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m compositeAlarmModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	id, err := r.identity(ctx) // before there is an alarm: without its ARN no state would have it
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("asking AWS for", "the account of the credentials", err))
		return
	}
	_, err = r.find(ctx, name)
	if err == nil {
		resp.Diagnostics.Append(alarmExists(name, "hadr_composite_alarm"))
		return
	}
	if !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("reading composite alarm", name, err))
		return
	}
	in := m.expand(ctx, &resp.Diagnostics)
	in.Tags = alarmTags(r.allTags(ctx, m.Tags, &resp.Diagnostics))
	if _, err := r.cloudwatch.PutCompositeAlarm(ctx, in); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating composite alarm", name, err))
		return
	}
	m.ID, m.ARN = m.Name, types.StringValue(alarmARN(r.clients, id, name))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *compositeAlarmResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m compositeAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	a, err := r.find(ctx, name)
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("composite alarm", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading composite alarm", name, err))
		return
	}
	m.flatten(a)
	tags, err := r.alarmTags(ctx, a.AlarmArn)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading tags of composite alarm", name, err))
		return
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, tags, m.Tags, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *compositeAlarmResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want compositeAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := have.ID.ValueString()
	want.ID, want.ARN = have.ID, have.ARN
	if _, err := r.cloudwatch.PutCompositeAlarm(ctx, want.expand(ctx, &resp.Diagnostics)); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing composite alarm", name, err))
		return
	}
	if err := r.retagAlarm(ctx, have.ARN.ValueString(), have.TagsAll, want.TagsAll, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing tags of composite alarm", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

func (r *compositeAlarmResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m compositeAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.deleteAlarm(ctx, m.ID.ValueString()); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("deleting composite alarm", m.ID.ValueString(), err))
	}
}

func (r *compositeAlarmResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

func (r *compositeAlarmResource) find(ctx context.Context, name string) (*cw.CompositeAlarm, error) {
	out, err := r.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{name}, AlarmTypes: []cw.AlarmType{cw.AlarmTypeCompositeAlarm},
	})
	if err != nil {
		return nil, err
	}
	if len(out.CompositeAlarms) == 0 {
		return nil, &cw.ResourceNotFound{}
	}
	return &out.CompositeAlarms[0], nil
}

func (m compositeAlarmModel) expand(ctx context.Context, diags *diag.Diagnostics) *cloudwatch.PutCompositeAlarmInput {
	in := &cloudwatch.PutCompositeAlarmInput{
		AlarmName:               goString(m.Name),
		AlarmDescription:        goString(m.Description),
		AlarmRule:               goString(m.AlarmRule),
		ActionsEnabled:          m.ActionsEnabled.ValueBoolPointer(),
		AlarmActions:            goStrings(ctx, m.AlarmActions, diags),
		OKActions:               goStrings(ctx, m.OKActions, diags),
		InsufficientDataActions: goStrings(ctx, m.NoDataActions, diags),
	}
	if s := m.Suppressor; s != nil {
		in.ActionsSuppressor = goString(s.Alarm)
		in.ActionsSuppressorWaitPeriod = goInt32(s.WaitPeriod)
		in.ActionsSuppressorExtensionPeriod = goInt32(s.ExtensionPeriod)
	}
	return in
}

func (m *compositeAlarmModel) flatten(a *cw.CompositeAlarm) {
	m.ID, m.Name, m.ARN = tfString(a.AlarmName), tfString(a.AlarmName), tfString(a.AlarmArn)
	m.Description = tfString(a.AlarmDescription)
	m.AlarmRule = tfString(a.AlarmRule)
	m.ActionsEnabled = types.BoolValue(aws.ToBool(a.ActionsEnabled))
	m.AlarmActions, m.OKActions, m.NoDataActions = tfSet(a.AlarmActions), tfSet(a.OKActions), tfSet(a.InsufficientDataActions)
	m.Suppressor = nil
	if a.ActionsSuppressor != nil {
		m.Suppressor = &suppressorModel{
			Alarm: tfString(a.ActionsSuppressor), WaitPeriod: tfInt(a.ActionsSuppressorWaitPeriod),
			ExtensionPeriod: tfInt(a.ActionsSuppressorExtensionPeriod),
		}
	}
}
