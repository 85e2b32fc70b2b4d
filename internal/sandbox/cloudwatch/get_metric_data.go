package cloudwatch

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Limits of GetMetricData.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
const (
	maxQueries    = 500
	maxDatapoints = 100_800
	maxGrid       = 1_000_000 // periods of one query; protects the sandbox, AWS has no such limit
)

func (c *CloudWatch) getMetricData(r *wire.Request, in *api.GetMetricDataInput) (*api.GetMetricDataOutput, error) {
	switch {
	case in.StartTime == nil || in.EndTime == nil:
		return nil, missing("StartTime and EndTime")
	case !in.StartTime.Before(*in.EndTime):
		return nil, invalid("The parameter StartTime must be less than the parameter EndTime.")
	case len(in.MetricDataQueries) == 0 || len(in.MetricDataQueries) > maxQueries:
		return nil, invalid("The collection MetricDataQueries must have 1 to %d queries.", maxQueries)
	case in.MaxDatapoints != nil && (*in.MaxDatapoints < 1 || *in.MaxDatapoints > maxDatapoints):
		return nil, invalid("MaxDatapoints must be between 1 and %d.", maxDatapoints)
	}
	set, err := compile(in.MetricDataQueries)
	if err != nil {
		return nil, err
	}
	t, _ := c.enter(r)
	defer c.mu.Unlock()
	var results []types.MetricDataResult
	for _, q := range set.list {
		if !q.returnData {
			continue
		}
		grid, err := newGrid(*in.StartTime, *in.EndTime, q.period, q.period)
		if err != nil {
			return nil, err
		}
		v, err := t.evaluate(set, q, grid)
		if err != nil {
			return nil, invalid("Error in query %s: %v", q.id, err)
		}
		if v.IsNumber() {
			return nil, invalid("Error in query %s: the expression gives a number, not a time series.", q.id)
		}
		for _, s := range v.Series() {
			results = append(results, result(q, s, grid, in.ScanBy))
		}
	}
	limit := maxDatapoints
	if in.MaxDatapoints != nil {
		limit = int(*in.MaxDatapoints)
	}
	return pageOfData(results, in.NextToken, limit)
}

// newGrid covers [start, end) with periods that begin at a multiple of align.
func newGrid(start, end time.Time, period, align time.Duration) (alarm.Grid, error) {
	start = start.UTC().Truncate(align)
	n := int64((end.Sub(start) + period - 1) / period)
	if n > maxGrid {
		return alarm.Grid{}, invalid("The time range has %d periods of %v, at most %d are served.", n, period, maxGrid)
	}
	return alarm.Grid{Start: start, Period: period, N: int(n)}, nil
}

// result lists the datapoints of a series, newest first unless asked otherwise.
func result(q *query, s alarm.Series, grid alarm.Grid, scan types.ScanBy) types.MetricDataResult {
	label := q.label
	if label == "" {
		label = q.id
	}
	if label == q.id && s.Label != "" {
		label = s.Label
	}
	out := types.MetricDataResult{Id: aws.String(q.id), Label: aws.String(label), StatusCode: types.StatusCodeComplete, Timestamps: []time.Time{}, Values: []float64{}}
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			out.Timestamps = append(out.Timestamps, grid.At(i))
			out.Values = append(out.Values, v)
		}
	}
	if scan != types.ScanByTimestampAscending {
		slices.Reverse(out.Timestamps)
		slices.Reverse(out.Values)
	}
	return out
}

// pageOfData cuts results to a number of datapoints. A result that continues on
// the next page has the status PartialData.
func pageOfData(results []types.MetricDataResult, token *string, limit int) (*api.GetMetricDataOutput, error) {
	type point struct{ result, index int }
	var all []point
	for i, r := range results {
		for j := range r.Values {
			all = append(all, point{i, j})
		}
	}
	part, next, err := page(all, token, limit)
	if err != nil {
		return nil, err
	}
	out := &api.GetMetricDataOutput{NextToken: next, MetricDataResults: []types.MetricDataResult{}}
	if aws.ToString(token) == "" && next == nil {
		out.MetricDataResults = append(out.MetricDataResults, results...)
		return out, nil
	}
	for len(part) > 0 {
		r := results[part[0].result]
		n := 1
		for n < len(part) && part[n].result == part[0].result {
			n++
		}
		from, to := part[0].index, part[n-1].index+1
		if to < len(r.Values) {
			r.StatusCode = types.StatusCodePartialData
			r.Messages = []types.MessageData{{Code: aws.String("Paginated"), Value: aws.String(fmt.Sprintf("%d more datapoints follow.", len(r.Values)-to))}}
		}
		r.Timestamps, r.Values = r.Timestamps[from:to], r.Values[from:to]
		out.MetricDataResults = append(out.MetricDataResults, r)
		part = part[n:]
	}
	return out, nil
}
