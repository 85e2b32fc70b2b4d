package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/procstat"
)

func (r *cloudWatchAgentConfigResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cloudwatch_agent_config"
}

func (r *cloudWatchAgentConfigResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	seconds := func(byDefault, most int64, text string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(byDefault),
			Validators: []validator.Int64{int64validator.Between(1, most)}, MarkdownDescription: text}
	}
	attrs := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Validators: []validator.String{parameterName{}},
			MarkdownDescription: "Name of the parameter. AWS's policy `CloudWatchAgentServerPolicy` lets a host read names that begin with `AmazonCloudWatch-`; `hadr_host_policy` this one only."},
		"namespace": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(procstat.DefaultNamespace),
			Validators: []validator.String{stringvalidator.LengthBetween(1, procstat.MaxNamespace)}, MarkdownDescription: "Namespace of the metric. Default: `CWAgent`."},
		"processes": schema.SetAttribute{Optional: true, Computed: true, ElementType: types.StringType,
			Default:             setdefault.StaticValue(types.SetValueMust(types.StringType, []attr.Value{types.StringValue(defaultProcess)})),
			Validators:          []validator.Set{setvalidator.SizeBetween(1, procstat.MaxPatterns), setvalidator.ValueStringsAre(processPattern{})},
			MarkdownDescription: "Regular expressions that are searched in the names of processes. With several of them, an alarm on the `Minimum` sees that one has none. Default: `^db2sysc$`."},
		"collection_interval_seconds": seconds(defaultCollectInterval, 3600, "Seconds between two counts. Default: 10."),
		"flush_interval_seconds": seconds(defaultFlushInterval, 60,
			"Seconds after which counts leave the host. A count may leave up to twice as late, with the time at which it was made, so that the agent's own 60 seconds let an alarm look at the past. Default: 5."),
		"metric_name": schema.StringAttribute{Computed: true, Default: stringdefault.StaticString(procstat.Metric),
			MarkdownDescription: "Name of the metric, for `hadr_metric_alarm` with the dimension `InstanceId` alone."},
		"value":             schema.StringAttribute{Computed: true, MarkdownDescription: "The configuration (JSON)."},
		"parameter_version": schema.Int64Attribute{Computed: true, MarkdownDescription: "Version of the parameter."},
		"arn":               schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "ARN of the parameter."},
		"id":                schema.StringAttribute{Computed: true, PlanModifiers: keep, MarkdownDescription: "Name of the parameter."},
	}
	addTags(attrs)
	resp.Schema = schema.Schema{
		MarkdownDescription: "Configuration of the CloudWatch agent on the database hosts, as an SSM parameter: it counts the processes of the database (`procstat`) and sends the counts at once. " +
			"A host that lives without such a process publishes 0, one that is gone publishes nothing.\n\n" +
			"On each host: `amazon-cloudwatch-agent-ctl -a append-config -m ec2 -s -c ssm:NAME`, or `fetch-config` where it has no other configuration. " +
			"The agent refuses configurations that disagree in `namespace`, `append_dimensions`, `aggregation_dimensions` or `force_flush_interval`.",
		Attributes: attrs,
	}
}
