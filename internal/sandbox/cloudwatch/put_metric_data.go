package cloudwatch

import (
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Limits of PutMetricData.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
const (
	maxData       = 1000
	maxValues     = 150
	maxDimensions = 30
	maxAge        = 14 * 24 * time.Hour
	maxFuture     = 2 * time.Hour
)

// maxValue is 2^360, the largest magnitude of a value.
var maxValue = math.Ldexp(1, 360)

func (c *CloudWatch) putMetricData(r *wire.Request, in *api.PutMetricDataInput) (*api.PutMetricDataOutput, error) {
	namespace := aws.ToString(in.Namespace)
	data := in.MetricData
	for _, e := range in.EntityMetricData {
		data = append(data, e.MetricData...)
	}
	switch {
	case namespace == "":
		return nil, missing("Namespace")
	case len(namespace) > 255:
		return nil, invalidValue("The parameter Namespace must not be longer than 255 characters.")
	case strings.HasPrefix(namespace, "AWS/"):
		return nil, invalidValue("The value AWS/ for parameter Namespace is invalid.")
	case len(data) == 0:
		return nil, missing("MetricData")
	case len(data) > maxData:
		return nil, invalid("The collection MetricData must not have a size greater than %d.", maxData)
	}
	t, now := c.enter(r)
	defer c.mu.Unlock()
	arrivals := make([]arrival, 0, len(data))
	for i := range data {
		a, err := t.datum(now, namespace, i+1, &data[i])
		if err != nil {
			return nil, err // all or nothing
		}
		arrivals = append(arrivals, a)
	}
	for _, a := range arrivals {
		c.publish(now, a)
	}
	return &api.PutMetricDataOutput{}, nil
}

// datum checks the n-th datum of a request.
func (t *tenant) datum(now time.Time, namespace string, n int, d *types.MetricDatum) (arrival, error) {
	name := aws.ToString(d.MetricName)
	if name == "" || len(name) > 255 {
		return arrival{}, invalidValue("The parameter MetricData.member.%d.MetricName must have 1 to 255 characters.", n)
	}
	if err := checkDimensions(d.Dimensions); err != nil {
		return arrival{}, err
	}
	at := now
	if d.Timestamp != nil {
		at = *d.Timestamp
	}
	if at.Before(now.Add(-maxAge)) || at.After(now.Add(maxFuture)) {
		return arrival{}, invalidValue("The parameter MetricData.member.%d.Timestamp must specify a time no more than two weeks in the past and no more than two hours in the future.", n)
	}
	if s := aws.ToInt32(d.StorageResolution); d.StorageResolution != nil && s != 1 && s != 60 {
		return arrival{}, invalidValue("The parameter MetricData.member.%d.StorageResolution must be 1 or 60.", n)
	}
	add, err := amounts(n, d)
	if err != nil {
		return arrival{}, err
	}
	unit := string(d.Unit)
	if unit == "" {
		unit = string(types.StandardUnitNone)
	}
	return arrival{
		tenant: t, key: metricKey(namespace, name, d.Dimensions),
		metric: metric{namespace: namespace, name: name, dimensions: sortDimensions(d.Dimensions)},
		at:     at, unit: unit, high: aws.ToInt32(d.StorageResolution) == 1, add: add,
	}, nil
}

func checkDimensions(dimensions []types.Dimension) error {
	if len(dimensions) > maxDimensions {
		return invalid("The collection Dimensions must not have a size greater than %d.", maxDimensions)
	}
	seen := map[string]bool{}
	for _, d := range dimensions {
		name, value := aws.ToString(d.Name), aws.ToString(d.Value)
		switch {
		case name == "" || len(name) > 255 || strings.HasPrefix(name, ":"):
			return invalidValue("A dimension must have a name of 1 to 255 characters that does not start with a colon, not %q.", name)
		case value == "" || len(value) > 1024:
			return invalidValue("Dimension %s must have a value of 1 to 1024 characters.", name)
		case seen[name]:
			return invalidValue("Dimension %s is given twice.", name)
		}
		seen[name] = true
	}
	return nil
}

// amounts reads a value, a statistic set, or values with counts: one of them.
func amounts(n int, d *types.MetricDatum) (func(*alarm.Aggregate), error) {
	forms := 0
	for _, given := range []bool{d.Value != nil, d.StatisticValues != nil, d.Values != nil} {
		if given {
			forms++
		}
	}
	if forms != 1 {
		return nil, invalidCombination("At MetricData.member.%d, give exactly one of Value, Values and StatisticValues.", n)
	}
	if d.Value != nil {
		v := *d.Value
		return func(a *alarm.Aggregate) { a.Add(v, 1) }, checkValues(n, v)
	}
	if s := d.StatisticValues; s != nil {
		count, sum, lo, hi := aws.ToFloat64(s.SampleCount), aws.ToFloat64(s.Sum), aws.ToFloat64(s.Minimum), aws.ToFloat64(s.Maximum)
		switch {
		case s.SampleCount == nil || s.Sum == nil || s.Minimum == nil || s.Maximum == nil:
			return nil, missing("SampleCount, Sum, Minimum and Maximum of StatisticValues")
		case count <= 0 || lo > hi:
			return nil, invalidValue("At MetricData.member.%d, StatisticValues needs a positive SampleCount and Minimum <= Maximum.", n)
		}
		return func(a *alarm.Aggregate) { a.AddSet(count, sum, lo, hi) }, checkValues(n, count, sum, lo, hi)
	}
	values, counts := d.Values, d.Counts
	switch {
	case len(values) == 0 || len(values) > maxValues:
		return nil, invalidValue("The parameter MetricData.member.%d.Values must have 1 to %d values.", n, maxValues)
	case counts != nil && len(counts) != len(values):
		return nil, invalidCombination("At MetricData.member.%d, Values and Counts must have the same length.", n)
	}
	for _, k := range counts {
		if !(k >= 0) {
			return nil, invalidValue("The parameter MetricData.member.%d.Counts must not be negative.", n)
		}
	}
	return func(a *alarm.Aggregate) {
		for i, v := range values {
			count := 1.0
			if counts != nil {
				count = counts[i]
			}
			a.Add(v, count)
		}
	}, checkValues(n, append(values, counts...)...)
}

func checkValues(n int, values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > maxValue {
			return invalidValue("The value %v for parameter MetricData.member.%d.Value is invalid: NaN and infinite values and values beyond 2^360 are not supported.", v, n)
		}
	}
	return nil
}

// PutMetric implements world.Metrics.
func (c *CloudWatch) PutMetric(region, account string, data ...world.Datum) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.w.Clock.Now()
	t := c.tenant(region, account)
	for _, d := range data {
		var dimensions []types.Dimension
		for k, v := range d.Dimensions {
			dimensions = append(dimensions, types.Dimension{Name: aws.String(k), Value: aws.String(v)})
		}
		dimensions = sortDimensions(dimensions)
		unit := d.Unit
		if unit == "" {
			unit = string(types.StandardUnitNone)
		}
		at := d.Time
		if at.IsZero() {
			at = now
		}
		c.publish(now, arrival{
			tenant: t, key: metricKey(d.Namespace, d.Name, dimensions),
			metric: metric{namespace: d.Namespace, name: d.Name, dimensions: dimensions},
			at:     at, unit: unit, high: d.HighRes,
			add: func(a *alarm.Aggregate) { a.Add(d.Value, 1) },
		})
	}
}
