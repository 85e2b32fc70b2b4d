package cloudwatch

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_ListMetrics.html
const (
	metricsPerPage = 500
	recently       = 3 * time.Hour
	listedFor      = 14 * 24 * time.Hour
)

func (c *CloudWatch) listMetrics(r *wire.Request, in *api.ListMetricsInput) (*api.ListMetricsOutput, error) {
	t, now := c.enter(r)
	defer c.mu.Unlock()
	since := now.Add(-listedFor)
	if in.RecentlyActive == types.RecentlyActivePt3h {
		since = now.Add(-recently)
	}
	var all []types.Metric
	for _, key := range slices.Sorted(maps.Keys(t.metrics)) {
		m := t.metrics[key]
		if m.newest.Before(since) ||
			in.Namespace != nil && *in.Namespace != m.namespace ||
			in.MetricName != nil && *in.MetricName != m.name || !m.has(in.Dimensions) {
			continue
		}
		all = append(all, types.Metric{Namespace: aws.String(m.namespace), MetricName: aws.String(m.name), Dimensions: m.dimensions})
	}
	part, next, err := page(all, in.NextToken, metricsPerPage)
	if err != nil {
		return nil, err
	}
	return &api.ListMetricsOutput{Metrics: part, NextToken: next}, nil
}

// has reports whether the metric has all dimensions of a filter, maybe more.
func (m *metric) has(filter []types.DimensionFilter) bool {
	for _, f := range filter {
		if !slices.ContainsFunc(m.dimensions, func(d types.Dimension) bool {
			return aws.ToString(d.Name) == aws.ToString(f.Name) && (f.Value == nil || *d.Value == *f.Value)
		}) {
			return false
		}
	}
	return true
}
