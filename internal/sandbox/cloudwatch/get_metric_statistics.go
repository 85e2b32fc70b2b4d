package cloudwatch

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// maxStatisticsDatapoints is how many datapoints one call may ask for.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricStatistics.html
const maxStatisticsDatapoints = 1440

func (c *CloudWatch) getMetricStatistics(r *wire.Request, in *api.GetMetricStatisticsInput) (*api.GetMetricStatisticsOutput, error) {
	switch {
	case aws.ToString(in.Namespace) == "":
		return nil, missing("Namespace")
	case aws.ToString(in.MetricName) == "":
		return nil, missing("MetricName")
	case in.StartTime == nil || in.EndTime == nil:
		return nil, missing("StartTime and EndTime")
	case !in.StartTime.Before(*in.EndTime):
		return nil, invalidCombination("The parameter StartTime must be less than the parameter EndTime.")
	case len(in.Statistics) == 0 && len(in.ExtendedStatistics) == 0:
		return nil, missing("Statistics or ExtendedStatistics")
	}
	period, err := checkPeriod(aws.ToInt32(in.Period))
	if err != nil {
		return nil, err
	}
	grid, err := newGrid(*in.StartTime, *in.EndTime, period, min(period, time.Minute))
	if err != nil {
		return nil, err
	}
	if grid.N > maxStatisticsDatapoints {
		return nil, invalidCombination("You have requested up to %d datapoints, which exceeds the limit of %d. You may reduce the datapoints requested by increasing Period, or decreasing the time range.", grid.N, maxStatisticsDatapoints)
	}
	var stats []alarm.Statistic
	samples := false
	for _, name := range append(names(in.Statistics), in.ExtendedStatistics...) {
		s, err := alarm.ParseStatistic(name)
		if err != nil {
			return nil, invalidValue("%v", err)
		}
		samples = samples || s.NeedsSamples()
		stats = append(stats, s)
	}
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	out := &api.GetMetricStatisticsOutput{Label: in.MetricName, Datapoints: []types.Datapoint{}}
	m := t.metrics[metricKey(*in.Namespace, *in.MetricName, in.Dimensions)]
	if m == nil {
		return out, nil
	}
	for i := range grid.N {
		for _, s := range m.units { // datapoints of different units are not mixed
			if in.Unit != "" && s.unit != string(in.Unit) {
				continue
			}
			var a alarm.Aggregate
			s.collect(&a, grid.At(i).Unix(), grid.At(i+1).Unix(), samples)
			if a.Count > 0 {
				out.Datapoints = append(out.Datapoints, datapoint(grid.At(i), s.unit, stats, &a))
			}
		}
	}
	return out, nil
}

func names(in []types.Statistic) []string {
	var out []string
	for _, s := range in {
		out = append(out, string(s))
	}
	return out
}

func datapoint(at time.Time, unit string, stats []alarm.Statistic, a *alarm.Aggregate) types.Datapoint {
	p := types.Datapoint{Timestamp: aws.Time(at), Unit: types.StandardUnit(unit)}
	simple := map[types.Statistic]**float64{
		types.StatisticAverage: &p.Average, types.StatisticMaximum: &p.Maximum, types.StatisticMinimum: &p.Minimum,
		types.StatisticSampleCount: &p.SampleCount, types.StatisticSum: &p.Sum,
	}
	for _, s := range stats {
		v, ok := s.Value(a)
		if !ok {
			continue
		}
		if member := simple[types.Statistic(s.String())]; member != nil {
			*member = &v
			continue
		}
		if p.ExtendedStatistics == nil {
			p.ExtendedStatistics = map[string]float64{}
		}
		p.ExtendedStatistics[s.String()] = v
	}
	return p
}
