package provider

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// Statistics: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html
var (
	plainStatistics = []string{"SampleCount", "Average", "Sum", "Minimum", "Maximum"}
	statisticForm   = regexp.MustCompile(`^(SampleCount|Average|Sum|Minimum|Maximum|IQM|` +
		`(p|tm|tc|ts|wm)(\d{1,2}(\.\d{1,10})?|100)|` +
		`(PR|TM|TC|TS|WM)\((\d+(\.\d+)?%?)?:(\d+(\.\d+)?%?)?\))$`)
)

const (
	maxDimensions   = 30
	maxAlarmQueries = 20
	maxThreshold    = 1e300
)

func metricAlarmSchema() schema.Schema {
	attrs := map[string]schema.Attribute{
		"comparison_operator": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.OneOf(
			"GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold")},
			MarkdownDescription: "How a value is compared with the threshold: `GreaterThanThreshold`, `GreaterThanOrEqualToThreshold`, `LessThanThreshold` or `LessThanOrEqualToThreshold`."},
		"threshold": schema.Float64Attribute{Required: true, Validators: []validator.Float64{float64validator.Between(-maxThreshold, maxThreshold)},
			MarkdownDescription: "Value that counts as the border."},
		"evaluation_periods": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(1, 8640)},
			MarkdownDescription: "Number of newest periods that are looked at (N)."},
		"datapoints_to_alarm": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.Between(1, 8640)},
			MarkdownDescription: "How many of them must breach (M of N). Default: all."},
		"treat_missing_data": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("missing"),
			Validators:          []validator.String{stringvalidator.OneOf("breaching", "notBreaching", "ignore", "missing")},
			MarkdownDescription: "What a period without data is: `breaching`, `notBreaching`, `ignore` or `missing`. Default: `missing`."},
		"evaluate_low_sample_count_percentile": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.OneOf("evaluate", "ignore")},
			MarkdownDescription: "For percentiles only: `ignore` keeps the state while there are too few samples."},
		"expression": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 2048)},
			MarkdownDescription: "Metric math over the one metric that `namespace`, `metric_name`, `dimensions`, `statistic` and `period` describe, and which is called `m1`. Example: `FILL(m1, 0)`."},
		"metric_query": schema.ListNestedAttribute{Optional: true, Validators: []validator.List{
			listvalidator.SizeBetween(1, maxAlarmQueries), listvalidator.ConflictsWith(path.MatchRoot("expression"), path.MatchRoot("metric_name"))},
			MarkdownDescription: "Metrics and expressions of an alarm on metric math. Exactly one of them has `return_data = true`.",
			NestedObject:        schema.NestedAttributeObject{Attributes: metricQueryAttributes()}},
	}
	for name, a := range metricAttributes() {
		attrs[name] = a
	}
	addAlarmAttributes(attrs)
	return schema.Schema{
		MarkdownDescription: "CloudWatch alarm on a metric or on metric math. The metric is given by `namespace`, `metric_name`, `statistic` and `period`, " +
			"optionally with an `expression` over it, or by `metric_query`.\n\n" +
			"A metric alarm that watches for silence needs `FILL`: the sample count of an empty period is missing, not 0, and CloudWatch looks some periods further back before it believes in missing data.",
		Attributes: attrs,
	}
}

// metricAttributes describe one metric with its statistic.
func metricAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"namespace": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 255)},
			MarkdownDescription: "Namespace of the metric, such as `HADR`."},
		"metric_name": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 255)},
			MarkdownDescription: "Name of the metric, such as `SQLLatency`."},
		"dimensions": schema.MapAttribute{Optional: true, ElementType: types.StringType, Validators: []validator.Map{mapvalidator.SizeBetween(1, maxDimensions)},
			MarkdownDescription: "Dimensions of the metric. They must be exactly those that it is published with."},
		"statistic": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.RegexMatches(statisticForm,
			"must be SampleCount, Average, Sum, Minimum, Maximum, a percentile such as p99, or another statistic of CloudWatch such as tm95, IQM or PR(:300)")},
			MarkdownDescription: "Statistic: `SampleCount`, `Average`, `Sum`, `Minimum`, `Maximum`, a percentile such as `p99`, or any other of CloudWatch such as `tm95`, `IQM`, `PR(:300)`."},
		"period": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{alarmPeriod{}},
			MarkdownDescription: "Seconds of a period: 10, 20, 30 or a multiple of 60."},
		"unit": schema.StringAttribute{Optional: true, MarkdownDescription: "Count only data that was published with this unit, such as `Milliseconds`."},
	}
}

func metricQueryAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.RegexMatches(
			regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,254}$`), "must begin with a lower-case letter and have letters, digits and underscores only")},
			MarkdownDescription: "Name of the result in expressions."},
		"expression": schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthBetween(1, 2048),
			stringvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName("expression"), path.MatchRelative().AtParent().AtName("metric"))},
			MarkdownDescription: "Metric math over other queries, instead of `metric`."},
		"label": schema.StringAttribute{Optional: true, MarkdownDescription: "Label in the console."},
		"return_data": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "This is the value that the alarm compares. Default: `false`."},
		"period": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{alarmPeriod{}},
			MarkdownDescription: "Seconds of a period of an expression without metrics."},
		"metric": schema.SingleNestedAttribute{Optional: true, Attributes: metricAttributes(),
			MarkdownDescription: "Metric with its statistic, instead of `expression`."},
	}
}

// alarmPeriod accepts the periods of
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
type alarmPeriod struct{}

func (alarmPeriod) Description(context.Context) string {
	return "must be 10, 20, 30 or a multiple of 60"
}
func (v alarmPeriod) MarkdownDescription(c context.Context) string { return v.Description(c) }

func (v alarmPeriod) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	p := req.ConfigValue.ValueInt64()
	const day = 86400
	if p == 10 || p == 20 || p == 30 || (p > 0 && p <= day && p%60 == 0) {
		return
	}
	resp.Diagnostics.Append(diagnose.Invalid(req.Path, fmt.Sprint(p), v.Description(ctx), "Choose a period that CloudWatch evaluates, such as 60"))
}
