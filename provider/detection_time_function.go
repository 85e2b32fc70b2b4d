package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

var _ function.Function = (*detectionTimeFunction)(nil)

// detectionTimeFunction is provider::hadr::detection_time.
type detectionTimeFunction struct{}

func newDetectionTimeFunction() function.Function { return &detectionTimeFunction{} }

// detectionFailures is enough for quantiles that are right to a second or two,
// and quick enough for every plan.
const detectionFailures = 20_000

var (
	failureTimesType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"min_seconds": types.Int64Type, "p50_seconds": types.Int64Type, "p95_seconds": types.Int64Type, "p99_seconds": types.Int64Type, "worst_seconds": types.Int64Type,
	}}
	detectionTimeType = map[string]attr.Type{
		"p95_seconds": types.Int64Type, "worst_seconds": types.Int64Type, "failures": types.MapType{ElemType: failureTimesType},
	}
)

// Metadata implements function.Function.
func (*detectionTimeFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "detection_time"
}

// Definition implements function.Function.
func (*detectionTimeFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Time from a failure to the alarm",
		MarkdownDescription: "How long it takes from a failure of the primary until one of its alarms is raised, as the model of `hadr simulate detection` says. " +
			"It needs no AWS account, and the same arguments always give the same figures. Values count as seen at once: what AWS needs to ingest them comes on top.\n\n" +
			"The result has `p95_seconds` and `worst_seconds`, the longest of all kinds of failures, and `failures`, a map of `host` (it vanishes), `hang` (the database does not answer) " +
			"and `crash` (its processes die) to `min_seconds`, `p50_seconds`, `p95_seconds`, `p99_seconds` and `worst_seconds`. " +
			"A time is null where failures are not seen within it at all. Seconds are rounded up.",
		Parameters: []function.Parameter{
			function.ListParameter{Name: "alarms", ElementType: detectionAlarmType,
				MarkdownDescription: "Alarms of one node, of which one is enough: `hadr_metric_alarm` resources, or objects with `name`, `namespace`, `metric_name`, `statistic`, `period`, `expression`, " +
					"`comparison_operator`, `threshold`, `evaluation_periods`, `datapoints_to_alarm` and `treat_missing_data`. " +
					"The metrics may be the probe's, `procstat_lookup_pid_count` of the CloudWatch agent, and EC2's status checks, which are not counted on."},
			function.ObjectParameter{Name: "probe", AttributeTypes: detectionProbeType.AttrTypes,
				MarkdownDescription: "What the agent measures: an `hadr_sql_latency_metric` resource, or an object with `namespace`, `metric_name`, `interval_seconds`, `timeout_seconds` and `sentinel_milliseconds`."},
		},
		Return: function.ObjectReturn{AttributeTypes: detectionTimeType},
	}
}

// Run implements function.Function.
func (*detectionTimeFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var alarms []detectionAlarmModel
	var probe detectionProbeModel
	if resp.Error = req.Arguments.Get(ctx, &alarms, &probe); resp.Error != nil {
		return
	}
	model := detection.NewModel()
	var err error
	if model.Probe, err = probe.expand(); err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())
		return
	}
	var definitions []alarm.Definition
	for _, a := range alarms {
		d, err := a.expand()
		if err != nil {
			resp.Error = function.NewArgumentFuncError(0, err.Error())
			return
		}
		definitions = append(definitions, d)
	}
	set, err := model.Alarms("alarms", definitions)
	if err == nil && len(definitions) == 0 {
		err = fmt.Errorf("no alarm is given")
	}
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	r, err := detection.Simulation{Sets: []detection.Set{set}, Trials: detectionFailures, Seed: 1}.Run(ctx)
	if err != nil {
		resp.Error = function.NewFuncError(err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, flattenTimes(r.Sets[0].Failures))
}

func flattenTimes(failures []detection.Times) types.Object {
	byKind := map[string]attr.Value{}
	p95, worst := failures[0].P95, failures[0].Worst
	for _, t := range failures {
		p95, worst = max(p95, t.P95), max(worst, t.Worst)
		byKind[string(t.Failure)] = types.ObjectValueMust(failureTimesType.AttrTypes, map[string]attr.Value{
			"min_seconds": tfSeconds(t.Min), "p50_seconds": tfSeconds(t.P50), "p95_seconds": tfSeconds(t.P95), "p99_seconds": tfSeconds(t.P99), "worst_seconds": tfSeconds(t.Worst),
		})
	}
	return types.ObjectValueMust(detectionTimeType, map[string]attr.Value{
		"p95_seconds": tfSeconds(p95), "worst_seconds": tfSeconds(worst), "failures": types.MapValueMust(failureTimesType, byKind),
	})
}
