package provider

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// detectionAlarmModel is a metric alarm as the model of detection times needs
// it: attributes of hadr_metric_alarm, so that the resource itself can be given.
type detectionAlarmModel struct {
	Name              types.String  `tfsdk:"name"`
	Namespace         types.String  `tfsdk:"namespace"`
	MetricName        types.String  `tfsdk:"metric_name"`
	Statistic         types.String  `tfsdk:"statistic"`
	Period            types.Int64   `tfsdk:"period"`
	Expression        types.String  `tfsdk:"expression"`
	Comparison        types.String  `tfsdk:"comparison_operator"`
	Threshold         types.Float64 `tfsdk:"threshold"`
	EvaluationPeriods types.Int64   `tfsdk:"evaluation_periods"`
	DatapointsToAlarm types.Int64   `tfsdk:"datapoints_to_alarm"`
	TreatMissingData  types.String  `tfsdk:"treat_missing_data"`
}

// detectionProbeModel is what the agent measures: attributes of
// hadr_sql_latency_metric.
type detectionProbeModel struct {
	Namespace  types.String `tfsdk:"namespace"`
	MetricName types.String `tfsdk:"metric_name"`
	Interval   types.Int64  `tfsdk:"interval_seconds"`
	Timeout    types.Int64  `tfsdk:"timeout_seconds"`
	SentinelMS types.Int64  `tfsdk:"sentinel_milliseconds"`
}

var (
	detectionAlarmType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"name": types.StringType, "namespace": types.StringType, "metric_name": types.StringType, "statistic": types.StringType,
		"period": types.Int64Type, "expression": types.StringType, "comparison_operator": types.StringType, "threshold": types.Float64Type,
		"evaluation_periods": types.Int64Type, "datapoints_to_alarm": types.Int64Type, "treat_missing_data": types.StringType,
	}}
	detectionProbeType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"namespace": types.StringType, "metric_name": types.StringType,
		"interval_seconds": types.Int64Type, "timeout_seconds": types.Int64Type, "sentinel_milliseconds": types.Int64Type,
	}}
)

// known reports whether everything that decides when the alarm is raised is
// known.
func (m detectionAlarmModel) known() bool {
	for _, v := range []attr.Value{m.Name, m.Namespace, m.MetricName, m.Statistic, m.Period, m.Expression, m.Comparison, m.Threshold,
		m.EvaluationPeriods, m.DatapointsToAlarm, m.TreatMissingData} {
		if v.IsUnknown() {
			return false
		}
	}
	return true
}

// expand translates the alarm. One that is described by metric_query has no
// metric of its own.
func (m detectionAlarmModel) expand() (alarm.Definition, error) {
	d := alarm.Definition{
		Name: m.Name.ValueString(), N: int(m.EvaluationPeriods.ValueInt64()), M: int(m.DatapointsToAlarm.ValueInt64()),
		Comparison: alarm.Comparison(m.Comparison.ValueString()), Threshold: m.Threshold.ValueFloat64(), Treatment: alarm.Treatment(m.TreatMissingData.ValueString()),
	}
	if m.MetricName.ValueString() == "" {
		return d, fmt.Errorf("alarm %s has no metric_name: an alarm of metric_query can be checked by hadr simulate detection --plan", d.Name)
	}
	d.Queries = detection.Shortcut(&alarm.QueryStat{
		Metric: alarm.QueryMetric{Namespace: m.Namespace.ValueString(), Name: m.MetricName.ValueString()},
		Period: int(m.Period.ValueInt64()), Stat: m.Statistic.ValueString(),
	}, m.Expression.ValueString())
	_, err := alarm.NewWatch(d)
	return d, err
}

// expand translates the probe.
func (m detectionProbeModel) expand() (detection.Probe, error) {
	p := detection.Probe{
		Namespace: m.Namespace.ValueString(), Metric: m.MetricName.ValueString(),
		Interval: time.Duration(m.Interval.ValueInt64()) * time.Second, Timeout: time.Duration(m.Timeout.ValueInt64()) * time.Second,
		Sentinel: float64(m.SentinelMS.ValueInt64()),
	}
	return p, p.Check()
}

// tfSeconds is a time in whole seconds, rounded up; null for what is never seen.
func tfSeconds(d time.Duration) types.Int64 {
	if d == detection.Never {
		return types.Int64Null()
	}
	return types.Int64Value(detection.WholeSeconds(d))
}
