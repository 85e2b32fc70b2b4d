package provider

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

type metricAlarmModel struct {
	ID          types.String `tfsdk:"id"`
	ARN         types.String `tfsdk:"arn"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
	alarmActions
	metricModel
	ComparisonOperator types.String  `tfsdk:"comparison_operator"`
	Threshold          types.Float64 `tfsdk:"threshold"`
	EvaluationPeriods  types.Int64   `tfsdk:"evaluation_periods"`
	DatapointsToAlarm  types.Int64   `tfsdk:"datapoints_to_alarm"`
	TreatMissingData   types.String  `tfsdk:"treat_missing_data"`
	LowSampleCount     types.String  `tfsdk:"evaluate_low_sample_count_percentile"`
	Expression         types.String  `tfsdk:"expression"`
	MetricQuery        types.List    `tfsdk:"metric_query"`
	Tags               types.Map     `tfsdk:"tags"`
	TagsAll            types.Map     `tfsdk:"tags_all"`
}

// metricModel is one metric with its statistic.
type metricModel struct {
	Namespace  types.String `tfsdk:"namespace"`
	MetricName types.String `tfsdk:"metric_name"`
	Dimensions types.Map    `tfsdk:"dimensions"`
	Statistic  types.String `tfsdk:"statistic"`
	Period     types.Int64  `tfsdk:"period"`
	Unit       types.String `tfsdk:"unit"`
}

type metricQueryModel struct {
	ID         types.String `tfsdk:"id"`
	Expression types.String `tfsdk:"expression"`
	Label      types.String `tfsdk:"label"`
	ReturnData types.Bool   `tfsdk:"return_data"`
	Period     types.Int64  `tfsdk:"period"`
	Metric     *metricModel `tfsdk:"metric"`
}

// Names of the two queries that the shortcut `expression` stands for.
const (
	shortcutMetric     = "m1"
	shortcutExpression = "e1"
)

var (
	metricType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"namespace": types.StringType, "metric_name": types.StringType, "dimensions": types.MapType{ElemType: types.StringType},
		"statistic": types.StringType, "period": types.Int64Type, "unit": types.StringType,
	}}
	metricQueryType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"id": types.StringType, "expression": types.StringType, "label": types.StringType,
		"return_data": types.BoolType, "period": types.Int64Type, "metric": metricType,
	}}
)

// validate checks that exactly one form of metric is given, and whole.
func (m metricAlarmModel) validate() (diags diag.Diagnostics) {
	if !m.MetricQuery.IsNull() {
		return nil
	}
	for name, missing := range map[string]bool{
		"namespace": m.Namespace.IsNull(), "metric_name": m.MetricName.IsNull(),
		"statistic": m.Statistic.IsNull(), "period": m.Period.IsNull(),
	} {
		if missing {
			diags.Append(diagnose.Problem{
				Tried: "checking metric alarm", Object: m.Name.ValueString(),
				Cause: name + " is missing: without metric_query an alarm needs namespace, metric_name, statistic and period",
				Next:  "Set " + name + ", or describe the metrics in metric_query",
			}.ErrorAt(path.Root(name)))
		}
	}
	if n, d := m.EvaluationPeriods, m.DatapointsToAlarm; !n.IsUnknown() && !d.IsNull() && !d.IsUnknown() && d.ValueInt64() > n.ValueInt64() {
		diags.Append(diagnose.Problem{
			Tried: "checking metric alarm", Object: m.Name.ValueString(),
			Cause: "datapoints_to_alarm is more than evaluation_periods, so the alarm could never fire",
			Next:  "Lower datapoints_to_alarm (M) or raise evaluation_periods (N)",
		}.ErrorAt(path.Root("datapoints_to_alarm")))
	}
	return diags
}

// sameAlarm reports whether two models differ in tags at most.
func (m metricAlarmModel) sameAlarm(o metricAlarmModel) bool {
	return m.Description.Equal(o.Description) && m.alarmActions.equal(o.alarmActions) && m.metricModel.equal(o.metricModel) &&
		m.ComparisonOperator.Equal(o.ComparisonOperator) && m.Threshold.Equal(o.Threshold) &&
		m.EvaluationPeriods.Equal(o.EvaluationPeriods) && m.DatapointsToAlarm.Equal(o.DatapointsToAlarm) &&
		m.TreatMissingData.Equal(o.TreatMissingData) && m.LowSampleCount.Equal(o.LowSampleCount) &&
		m.Expression.Equal(o.Expression) && m.MetricQuery.Equal(o.MetricQuery)
}

func (m metricModel) equal(o metricModel) bool {
	return m.Namespace.Equal(o.Namespace) && m.MetricName.Equal(o.MetricName) && m.Dimensions.Equal(o.Dimensions) &&
		m.Statistic.Equal(o.Statistic) && m.Period.Equal(o.Period) && m.Unit.Equal(o.Unit)
}

func (m metricAlarmModel) expand(ctx context.Context, diags *diag.Diagnostics) *cloudwatch.PutMetricAlarmInput {
	in := &cloudwatch.PutMetricAlarmInput{
		AlarmName:                        goString(m.Name),
		AlarmDescription:                 goString(m.Description),
		ActionsEnabled:                   m.ActionsEnabled.ValueBoolPointer(),
		AlarmActions:                     goStrings(ctx, m.AlarmActions, diags),
		OKActions:                        goStrings(ctx, m.OKActions, diags),
		InsufficientDataActions:          goStrings(ctx, m.NoDataActions, diags),
		ComparisonOperator:               cw.ComparisonOperator(m.ComparisonOperator.ValueString()),
		Threshold:                        m.Threshold.ValueFloat64Pointer(),
		EvaluationPeriods:                goInt32(m.EvaluationPeriods),
		DatapointsToAlarm:                goInt32(m.DatapointsToAlarm),
		TreatMissingData:                 goString(m.TreatMissingData),
		EvaluateLowSampleCountPercentile: goString(m.LowSampleCount),
	}
	switch {
	case !m.MetricQuery.IsNull():
		var queries []metricQueryModel
		diags.Append(m.MetricQuery.ElementsAs(ctx, &queries, false)...)
		for _, q := range queries {
			in.Metrics = append(in.Metrics, q.expand(ctx, diags))
		}
	case !m.Expression.IsNull():
		in.Metrics = []cw.MetricDataQuery{
			{Id: aws.String(shortcutMetric), MetricStat: m.metricModel.expand(ctx, diags), ReturnData: aws.Bool(false)},
			{Id: aws.String(shortcutExpression), Expression: goString(m.Expression), ReturnData: aws.Bool(true)},
		}
	default:
		s := m.metricModel.expand(ctx, diags)
		in.Namespace, in.MetricName, in.Dimensions = s.Metric.Namespace, s.Metric.MetricName, s.Metric.Dimensions
		in.Period, in.Unit = s.Period, s.Unit
		if slices.Contains(plainStatistics, aws.ToString(s.Stat)) {
			in.Statistic = cw.Statistic(aws.ToString(s.Stat))
		} else {
			in.ExtendedStatistic = s.Stat
		}
	}
	return in
}

func (q metricQueryModel) expand(ctx context.Context, diags *diag.Diagnostics) cw.MetricDataQuery {
	out := cw.MetricDataQuery{
		Id: goString(q.ID), Expression: goString(q.Expression), Label: goString(q.Label),
		Period: goInt32(q.Period), ReturnData: aws.Bool(q.ReturnData.ValueBool()),
	}
	if q.Metric != nil {
		out.MetricStat = q.Metric.expand(ctx, diags)
	}
	return out
}

func (m metricModel) expand(ctx context.Context, diags *diag.Diagnostics) *cw.MetricStat {
	dims := goMap(ctx, m.Dimensions, diags)
	s := &cw.MetricStat{
		Metric: &cw.Metric{Namespace: goString(m.Namespace), MetricName: goString(m.MetricName)},
		Period: goInt32(m.Period), Stat: goString(m.Statistic), Unit: cw.StandardUnit(m.Unit.ValueString()),
	}
	for _, k := range sortedKeys(dims) {
		s.Metric.Dimensions = append(s.Metric.Dimensions, cw.Dimension{Name: &k, Value: aws.String(dims[k])})
	}
	return s
}

func (m *metricAlarmModel) flatten(ctx context.Context, a *cw.MetricAlarm, diags *diag.Diagnostics) {
	m.ID, m.Name, m.ARN = tfString(a.AlarmName), tfString(a.AlarmName), tfString(a.AlarmArn)
	m.Description = tfString(a.AlarmDescription)
	m.ActionsEnabled = types.BoolValue(aws.ToBool(a.ActionsEnabled))
	m.AlarmActions, m.OKActions, m.NoDataActions = tfSet(a.AlarmActions), tfSet(a.OKActions), tfSet(a.InsufficientDataActions)
	m.ComparisonOperator = types.StringValue(string(a.ComparisonOperator))
	m.Threshold = types.Float64PointerValue(a.Threshold)
	m.EvaluationPeriods = tfInt(a.EvaluationPeriods)
	// CloudWatch may answer with M = N where no M was given.
	if n := tfInt(a.DatapointsToAlarm); !m.DatapointsToAlarm.IsNull() || !n.Equal(m.EvaluationPeriods) {
		m.DatapointsToAlarm = n
	}
	m.TreatMissingData = types.StringValue("missing")
	if a.TreatMissingData != nil {
		m.TreatMissingData = tfString(a.TreatMissingData)
	}
	m.LowSampleCount = tfString(a.EvaluateLowSampleCountPercentile)
	declaredQueries := !m.MetricQuery.IsNull()
	m.Expression, m.MetricQuery = types.StringNull(), types.ListNull(metricQueryType)
	m.metricModel = metricModel{Dimensions: types.MapNull(types.StringType)}

	if len(a.Metrics) == 0 {
		stat := string(a.Statistic)
		if stat == "" {
			stat = aws.ToString(a.ExtendedStatistic)
		}
		m.metricModel = flattenMetric(&cw.MetricStat{
			Metric: &cw.Metric{Namespace: a.Namespace, MetricName: a.MetricName, Dimensions: a.Dimensions},
			Period: a.Period, Stat: &stat, Unit: a.Unit,
		})
		return
	}
	if metric, expression, ok := shortcut(a.Metrics); ok && !declaredQueries {
		m.metricModel, m.Expression = flattenMetric(metric), tfString(expression)
		return
	}
	queries := make([]metricQueryModel, len(a.Metrics))
	for i, q := range a.Metrics {
		queries[i] = metricQueryModel{
			ID: tfString(q.Id), Expression: tfString(q.Expression), Label: tfString(q.Label),
			Period: tfInt(q.Period), ReturnData: types.BoolValue(q.ReturnData == nil || *q.ReturnData),
		}
		if q.MetricStat != nil {
			s := flattenMetric(q.MetricStat)
			queries[i].Metric = &s
		}
	}
	list, d := types.ListValueFrom(ctx, metricQueryType, queries)
	diags.Append(d...)
	m.MetricQuery = list
}

// shortcut recognises the two queries of `expression`.
func shortcut(queries []cw.MetricDataQuery) (metric *cw.MetricStat, expression *string, ok bool) {
	if len(queries) != 2 {
		return nil, nil, false
	}
	for _, q := range queries {
		switch {
		case aws.ToString(q.Id) == shortcutMetric && q.MetricStat != nil:
			metric = q.MetricStat
		case aws.ToString(q.Id) == shortcutExpression && q.Expression != nil && q.Label == nil:
			expression = q.Expression
		}
	}
	return metric, expression, metric != nil && expression != nil
}

func flattenMetric(s *cw.MetricStat) metricModel {
	dims := map[string]string{}
	for _, d := range s.Metric.Dimensions {
		dims[aws.ToString(d.Name)] = aws.ToString(d.Value)
	}
	unit := string(s.Unit)
	return metricModel{
		Namespace: tfString(s.Metric.Namespace), MetricName: tfString(s.Metric.MetricName), Dimensions: tfMap(dims),
		Statistic: tfString(s.Stat), Period: tfInt(s.Period), Unit: tfString(&unit),
	}
}
