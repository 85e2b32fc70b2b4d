package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

var (
	_ resource.ResourceWithConfigure      = (*metricAlarmResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*metricAlarmResource)(nil)
	_ resource.ResourceWithImportState    = (*metricAlarmResource)(nil)
	_ resource.ResourceWithValidateConfig = (*metricAlarmResource)(nil)
)

type metricAlarmResource struct{ configured }

func newMetricAlarmResource() resource.Resource { return &metricAlarmResource{} }

func (r *metricAlarmResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_metric_alarm"
}

func (r *metricAlarmResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = metricAlarmSchema()
}

func (r *metricAlarmResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m metricAlarmModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(m.validate()...)
	}
}

func (r *metricAlarmResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	planTags(ctx, r.clients, req, resp)
}

func (r *metricAlarmResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m metricAlarmModel
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
		resp.Diagnostics.Append(alarmExists(name, "hadr_metric_alarm"))
		return
	}
	if !notFound(err) {
		resp.Diagnostics.Append(diagnose.Failed("reading metric alarm", name, err))
		return
	}
	in := m.expand(ctx, &resp.Diagnostics)
	in.Tags = alarmTags(r.allTags(ctx, m.Tags, &resp.Diagnostics))
	if resp.Diagnostics.HasError() {
		return
	}
	if _, err := r.cloudwatch.PutMetricAlarm(ctx, in); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("creating metric alarm", name, err))
		return
	}
	m.ID, m.ARN = m.Name, types.StringValue(alarmARN(r.clients, id, name))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *metricAlarmResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m metricAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.ID.ValueString()
	a, err := r.find(ctx, name)
	if notFound(err) {
		resp.Diagnostics.Append(diagnose.Gone("metric alarm", name))
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading metric alarm", name, err))
		return
	}
	m.flatten(ctx, a, &resp.Diagnostics)
	tags, err := r.alarmTags(ctx, a.AlarmArn)
	if err != nil {
		resp.Diagnostics.Append(diagnose.Failed("reading tags of metric alarm", name, err))
		return
	}
	m.Tags, m.TagsAll = r.splitTags(ctx, tags, m.Tags, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (r *metricAlarmResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var have, want metricAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &have)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &want)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := have.ID.ValueString()
	want.ID, want.ARN = have.ID, have.ARN
	// PutMetricAlarm evaluates anew, so a change of tags alone does not call it.
	if !have.sameAlarm(want) {
		in := want.expand(ctx, &resp.Diagnostics)
		if resp.Diagnostics.HasError() {
			return
		}
		if _, err := r.cloudwatch.PutMetricAlarm(ctx, in); err != nil {
			resp.Diagnostics.Append(diagnose.Failed("changing metric alarm", name, err))
			return
		}
	}
	if err := r.retagAlarm(ctx, have.ARN.ValueString(), have.TagsAll, want.TagsAll, &resp.Diagnostics); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("changing tags of metric alarm", name, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, want)...)
}

func (r *metricAlarmResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m metricAlarmModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.deleteAlarm(ctx, m.ID.ValueString()); err != nil {
		resp.Diagnostics.Append(diagnose.Failed("deleting metric alarm", m.ID.ValueString(), err))
	}
}

func (r *metricAlarmResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

func (r *metricAlarmResource) find(ctx context.Context, name string) (*cw.MetricAlarm, error) {
	out, err := r.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{name}, AlarmTypes: []cw.AlarmType{cw.AlarmTypeMetricAlarm},
	})
	if err != nil {
		return nil, err
	}
	if len(out.MetricAlarms) == 0 {
		return nil, &cw.ResourceNotFound{}
	}
	return &out.MetricAlarms[0], nil
}
