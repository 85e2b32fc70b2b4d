package throttle

import "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"

// limit is one bucket that a call takes tokens from.
type limit struct {
	bucket string  // name within the service
	size   float64 // tokens
	refill float64 // tokens a second
	cost   float64 // tokens of this call
	global bool    // one bucket for all Regions of the account
}

// perSecond is a documented rate. Where AWS gives no burst, the bucket holds
// the calls of one second.
func perSecond(bucket string, rate float64) limit {
	return limit{bucket: bucket, size: rate, refill: rate, cost: 1}
}

// limitsOf returns the buckets of a call; none for services without a
// documented limit: IAM, STS, SNS, SQS, Logs, EventBridge and its scheduler.
// DynamoDB's tables are limited by capacity, which the sandbox does not meter.
func limitsOf(r *wire.Request) []limit {
	switch r.Service {
	case "ec2":
		return ec2Limits(r)
	case "monitoring":
		return cloudWatchLimits(r.Operation)
	case "route53":
		// Five requests a second for the whole account, of all operations.
		// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html#limits-api-requests
		l := perSecond("all", 5)
		l.global = true
		return []limit{l}
	case "lambda":
		return lambdaLimits(r.Operation)
	case "ssm":
		return ssmLimits(r.Operation)
	}
	return nil
}

// cloudWatchRates are requests a second, per operation.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
var cloudWatchRates = map[string]float64{
	"DeleteAlarms": 3, "DescribeAlarmHistory": 20, "DescribeAlarms": 9, "DescribeAlarmsForMetric": 9, "DisableAlarmActions": 3, "EnableAlarmActions": 3,
	"GetMetricData": 500, "GetMetricStatistics": 400, "ListMetrics": 25, "ListTagsForResource": 10, "PutCompositeAlarm": 3, "PutMetricAlarm": 3,
	"PutMetricData": 500, "SetAlarmState": 3, "TagResource": 20, "UntagResource": 20,
}

func cloudWatchLimits(operation string) []limit {
	rate, ok := cloudWatchRates[operation]
	if !ok {
		return nil
	}
	return []limit{perSecond(operation, rate)}
}

// lambdaLimits are those of the control plane; invocations are limited by
// concurrency.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html#api-requests
func lambdaLimits(operation string) []limit {
	switch operation {
	case "Invoke", "InvokeAsync":
		return nil
	case "GetFunction":
		return []limit{perSecond("GetFunction", 100)}
	case "GetPolicy":
		return []limit{perSecond("GetPolicy", 15)}
	}
	return []limit{perSecond("rest", 15)}
}

// ssmLimits are the documented 40 a second that the reading operations of
// Parameter Store share. AWS publishes no figure for Run Command and the
// others, and has them all throttled: they get the bucket of a mutating
// operation of EC2 here, each its own.
// https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm
func ssmLimits(operation string) []limit {
	switch operation {
	case "GetParameter", "GetParameters", "GetParametersByPath":
		return []limit{perSecond("parameters", 40)}
	}
	return []limit{{bucket: operation, size: mutating.size, refill: mutating.refill, cost: 1}}
}
