package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection/awsalarms"
	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// detectionModel is what a plan knows of the alarms before they exist.
type detectionModel struct {
	Alarms types.List   `tfsdk:"alarms"`
	Probe  types.Object `tfsdk:"probe"`
}

var (
	atMaxDetection  = path.Root("max_detection_seconds")
	detectionSource = "settings of the metric alarms behind `failure_alarm_arns`, of one node"
)

func detectionSchema() schema.SingleNestedAttribute {
	text := func(s string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: s + ", as in `hadr_metric_alarm`."}
	}
	number := func(s string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, MarkdownDescription: s + ", as in `hadr_metric_alarm`."}
	}
	seconds := func(s string) schema.Int64Attribute {
		return schema.Int64Attribute{Required: true, MarkdownDescription: s + ", as in `hadr_sql_latency_metric`."}
	}
	return schema.SingleNestedAttribute{Optional: true,
		MarkdownDescription: "What a plan checks `max_detection_seconds` against: " + detectionSource + ". Give the resources themselves; their settings are known before they exist. " +
			"Without it a plan looks at the alarms as they are now and warns, and an apply refuses.",
		Attributes: map[string]schema.Attribute{
			"alarms": schema.ListNestedAttribute{Required: true, Validators: []validator.List{listvalidator.SizeAtLeast(1)},
				MarkdownDescription: "`hadr_metric_alarm` resources of which one is enough.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"name": text("Name"), "namespace": text("Namespace of the metric"), "metric_name": text("Name of the metric"), "statistic": text("Statistic"),
					"period": number("Seconds of a period"), "expression": text("Metric math over `m1`"), "comparison_operator": text("How a value is compared"),
					"threshold":          schema.Float64Attribute{Optional: true, MarkdownDescription: "Border, as in `hadr_metric_alarm`."},
					"evaluation_periods": number("Number of periods (N)"), "datapoints_to_alarm": number("How many of them must breach (M)"),
					"treat_missing_data": text("What a period without data is"),
				}}},
			"probe": schema.SingleNestedAttribute{Optional: true,
				MarkdownDescription: "`hadr_sql_latency_metric` resource of the node. Default: a probe of 19 s every 20 s.",
				Attributes: map[string]schema.Attribute{
					"namespace":        schema.StringAttribute{Required: true, MarkdownDescription: "Namespace of the metric."},
					"metric_name":      schema.StringAttribute{Required: true, MarkdownDescription: "Name of the metric."},
					"interval_seconds": seconds("Seconds between two probes"), "timeout_seconds": seconds("Hard limit of one probe"),
					"sentinel_milliseconds": seconds("Published for a probe that did not come back"),
				}},
		}}
}

// objective is max_detection_seconds; false while it is not known.
func (m groupModel) objective() (time.Duration, bool) {
	return time.Duration(m.MaxDetection.ValueInt64()) * time.Second, !m.MaxDetection.IsUnknown() && !m.MaxDetection.IsNull()
}

// checkDetection holds the declared alarms against the objective (DESIGN 5).
func (m groupModel) checkDetection(ctx context.Context) (diags diag.Diagnostics) {
	objective, ok := m.objective()
	d, declared := objectAs[detectionModel](ctx, m.Detection, &diags)
	if !ok || !declared || d.Alarms.IsUnknown() || d.Probe.IsUnknown() || diags.HasError() {
		return diags
	}
	model := detection.NewModel()
	if p, ok := objectAs[detectionProbeModel](ctx, d.Probe, &diags); ok {
		if hasUnknownValue(d.Probe.Attributes()) {
			return diags
		}
		var err error
		if model.Probe, err = p.expand(); err != nil {
			diags.Append(diagnose.Problem{Tried: "checking detection of group", Object: m.Name.ValueString(), Cause: err.Error()}.ErrorAt(path.Root("detection").AtName("probe")))
			return diags
		}
	}
	var alarms []detectionAlarmModel
	diags.Append(d.Alarms.ElementsAs(ctx, &alarms, false)...)
	all := detection.Declared{}
	complete := true
	for i, a := range alarms {
		if !a.known() {
			complete = false
			continue
		}
		definition, err := a.expand()
		if err != nil {
			diags.Append(diagnose.Problem{
				Tried: "checking detection of group", Object: m.Name.ValueString(), Cause: err.Error(), Next: "Give the hadr_metric_alarm itself, or leave the alarm away",
			}.ErrorAt(path.Root("detection").AtName("alarms").AtListIndex(i)))
			continue
		}
		all.Metrics = append(all.Metrics, definition)
	}
	if diags.HasError() {
		return diags
	}
	sets, notes, err := model.Sets(all)
	if err != nil || len(sets) == 0 {
		return diags
	}
	diags.Append(judgeDetection(m.Name.ValueString(), detection.Any("alarms", sets...), objective, notes, complete)...)
	return diags
}

func hasUnknownValue(values map[string]attr.Value) bool {
	for _, v := range values {
		if v.IsUnknown() {
			return true
		}
	}
	return false
}

// judgeDetection says where a set of alarms breaks the objective: an error if certain,
// otherwise a warning with the number.
func judgeDetection(group string, set detection.Set, objective time.Duration, notes []string, certain bool) (diags diag.Diagnostics) {
	for _, n := range set.Notes() {
		certain = certain && !strings.Contains(n, "StorageResolution") // it may be published so
	}
	var late, unseen, numbers []string
	longest := time.Duration(0)
	for _, f := range detection.Failures {
		switch worst := set.Worst(f); {
		case worst == detection.Never:
			unseen = append(unseen, strings.ToLower(f.Title()))
		case worst > objective:
			late = append(late, fmt.Sprintf("%s: %s", strings.ToLower(f.Title()), detection.Seconds(worst)))
			longest = max(longest, worst)
		}
	}
	for _, d := range set.Detectors {
		var of []string
		for _, f := range detection.Failures {
			of = append(of, fmt.Sprintf("%s %s", f, detection.Seconds(d.Worst(f))))
		}
		numbers = append(numbers, fmt.Sprintf("%s (%s)", d.Name(), strings.Join(of, ", ")))
	}
	if len(late) > 0 {
		p := diagnose.Problem{
			Tried: "checking detection of group", Object: group,
			Cause: fmt.Sprintf("max_detection_seconds is %d, but the alarms may need longer until one of them is raised: %s. The worst case of each: %s%s",
				int(objective.Seconds()), strings.Join(late, "; "), strings.Join(numbers, "; "), also(notes)),
			Next: fmt.Sprintf("Detect faster, such as with expression = \"FILL(m1, 0)\" on the sample count, or set max_detection_seconds = %d and a longer window; hadr simulate detection shows what each alarm does",
				detection.WholeSeconds(longest)),
		}
		if certain {
			diags.Append(p.ErrorAt(atMaxDetection))
		} else {
			diags.Append(p.WarningAt(atMaxDetection))
		}
	}
	if len(unseen) > 0 {
		diags.Append(diagnose.Problem{
			Tried: "checking detection of group", Object: group,
			Cause: fmt.Sprintf("There are phases in which no alarm is raised when %s. The worst case of each: %s%s", strings.Join(unseen, ", or "), strings.Join(numbers, "; "), also(notes)),
			Next:  "Add an alarm that sees it, as modules/db2-hadr does, or make sure that another detector does",
		}.WarningAt(atMaxDetection))
	}
	return diags
}

func also(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ". " + strings.Join(notes, ". ")
}

// checkLiveAlarms holds the alarms that exist against the objective. A plan may
// be about to change them: only an apply, which comes after that, can be
// certain. Alarms that do not exist are not judged.
func (r *groupResource) checkLiveAlarms(ctx context.Context, m groupModel, certain bool) (diags diag.Diagnostics) {
	objective, ok := m.objective()
	if !ok || r.clients == nil {
		return nil
	}
	arns := m.alarms(ctx, &diags)
	for _, node := range sortedKeys(arns) {
		if n := m.nodes(ctx, &diags)[node]; len(arns[node]) == 0 || hasUnknown(n.FailureAlarmARNs) || !inRegion(arns[node], r.region) {
			continue
		}
		declared, err := awsalarms.Read(ctx, r.cloudwatch, arns[node])
		if err == nil && len(declared.Metrics) == 0 {
			continue
		}
		var sets []detection.Set
		var notes []string
		if err == nil {
			sets, notes, err = r.detectionOf(ctx, m, node).Sets(declared)
		}
		if err != nil {
			diags.Append(diagnose.Problem{
				Tried: "checking alarms of group", Object: m.Name.ValueString(), Cause: err.Error(),
				Next: "Allow cloudwatch:DescribeAlarms, or compare max_detection_seconds with what hadr simulate detection says",
			}.WarningAt(atMaxDetection))
			continue
		}
		if len(sets) > 0 {
			diags.Append(judgeDetection(m.Name.ValueString(), detection.Any(node, sets...), objective, notes, certain)...)
		}
		if diags.HasError() || diags.WarningsCount() > 0 {
			break // the other node's alarms are the same but for their names
		}
	}
	return diags
}

// inRegion reports whether all alarms are where the provider looks.
func inRegion(arns []string, region string) bool {
	return !slices.ContainsFunc(arns, func(a string) bool { return alarm.ParseReference(a).Region != region })
}

// detectionOf is the model of a node with the probe that is on record.
func (r *groupResource) detectionOf(ctx context.Context, m groupModel, node string) detection.Model {
	model := detection.NewModel()
	if m.TableName.IsUnknown() || m.Name.IsUnknown() {
		return model
	}
	if p, err := r.record(m.TableName.ValueString()).ReadProbe(ctx, m.Name.ValueString(), node); err == nil {
		model.Probe = detection.Probe{Namespace: p.Namespace, Metric: p.Metric, Interval: p.Interval, Timeout: p.Timeout, Sentinel: float64(p.Sentinel.Milliseconds())}
	}
	return model
}
