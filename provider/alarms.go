package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// Limits of alarms: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
const (
	maxAlarmName        = 255
	maxAlarmDescription = 1024
	maxAlarmActions     = 5
)

// alarmActions are what metric and composite alarms do.
type alarmActions struct {
	ActionsEnabled types.Bool `tfsdk:"actions_enabled"`
	AlarmActions   types.Set  `tfsdk:"alarm_actions"`
	OKActions      types.Set  `tfsdk:"ok_actions"`
	NoDataActions  types.Set  `tfsdk:"insufficient_data_actions"`
}

func (a alarmActions) equal(b alarmActions) bool {
	return a.ActionsEnabled.Equal(b.ActionsEnabled) && a.AlarmActions.Equal(b.AlarmActions) &&
		a.OKActions.Equal(b.OKActions) && a.NoDataActions.Equal(b.NoDataActions)
}

// addAlarmAttributes adds what both kinds of alarm have.
func addAlarmAttributes(attrs map[string]schema.Attribute) {
	actions := func(when string) schema.SetAttribute {
		return schema.SetAttribute{Optional: true, ElementType: types.StringType,
			Validators:          []validator.Set{setvalidator.SizeBetween(1, maxAlarmActions), setvalidator.ValueStringsAre(arnOf())},
			MarkdownDescription: "ARNs of functions, topics and other targets that CloudWatch calls when the alarm goes to " + when + ". At most 5."}
	}
	attrs["name"] = schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthBetween(1, maxAlarmName)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
		MarkdownDescription: "Name of the alarm, unique in account and Region."}
	attrs["description"] = schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, maxAlarmDescription)},
		MarkdownDescription: "What the alarm means, for people."}
	attrs["actions_enabled"] = schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Run the actions. Default: `true`."}
	attrs["alarm_actions"] = actions("ALARM")
	attrs["ok_actions"] = actions("OK")
	attrs["insufficient_data_actions"] = actions("INSUFFICIENT_DATA")
	attrs["arn"] = schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: "ARN of the alarm."}
	attrs["id"] = schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: "Name of the alarm."}
	addTags(attrs)
}

func (c *clients) alarmTags(ctx context.Context, arn *string) (map[string]string, error) {
	out, err := c.cloudwatch.ListTagsForResource(ctx, &cloudwatch.ListTagsForResourceInput{ResourceARN: arn})
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

func (c *clients) retagAlarm(ctx context.Context, arn string, have, want types.Map, diags *diag.Diagnostics) error {
	set, remove := tagChanges(goMap(ctx, have, diags), goMap(ctx, want, diags))
	if len(set) > 0 {
		if _, err := c.cloudwatch.TagResource(ctx, &cloudwatch.TagResourceInput{ResourceARN: &arn, Tags: alarmTags(set)}); err != nil {
			return err
		}
	}
	if len(remove) > 0 {
		_, err := c.cloudwatch.UntagResource(ctx, &cloudwatch.UntagResourceInput{ResourceARN: &arn, TagKeys: remove})
		return err
	}
	return nil
}

func (c *clients) deleteAlarm(ctx context.Context, name string) error {
	_, err := c.cloudwatch.DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{name}})
	if notFound(err) {
		return nil
	}
	return err
}

func alarmTags(tags map[string]string) []cw.Tag {
	out := make([]cw.Tag, 0, len(tags))
	for _, k := range sortedKeys(tags) {
		out = append(out, cw.Tag{Key: &k, Value: aws.String(tags[k])})
	}
	return out
}

// alarmExists refuses to overwrite: a Put of CloudWatch would do so silently.
func alarmExists(name, resourceType string) diag.Diagnostic {
	return diagnose.Problem{
		Tried: "creating alarm", Object: name,
		Cause: "An alarm of this name exists already",
		Next:  "Take it over with `terraform import " + resourceType + ".<name> " + name + "`, or choose another name",
	}.ErrorAt(path.Root("name"))
}
