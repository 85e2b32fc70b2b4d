package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// MetricsAPI is what CloudWatch needs of the SDK's client.
type MetricsAPI interface {
	PutMetricData(ctx context.Context, in *cloudwatch.PutMetricDataInput, opts ...func(*cloudwatch.Options)) (*cloudwatch.PutMetricDataOutput, error)
}

// CloudWatch publishes values as custom metrics.
type CloudWatch struct{ API MetricsAPI }

// Put implements Metrics. PutMetricData has no token against repetition
// (https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html),
// so it is sent once.
func (c CloudWatch) Put(ctx context.Context, p statetable.Probe, at time.Time, milliseconds float64) error {
	_, err := c.API.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{
		Namespace: &p.Namespace,
		MetricData: []types.MetricDatum{{
			MetricName: &p.Metric,
			Dimensions: []types.Dimension{
				{Name: aws.String("Group"), Value: &p.Group},
				{Name: aws.String("Node"), Value: &p.Node},
			},
			Timestamp: &at,
			Value:     &milliseconds,
			Unit:      types.StandardUnitMilliseconds,
		}},
	}, func(o *cloudwatch.Options) { o.RetryMaxAttempts = 1 })
	if err != nil {
		return fmt.Errorf("publish %s/%s of node %s: %w", p.Namespace, p.Metric, p.Node, err)
	}
	return nil
}
