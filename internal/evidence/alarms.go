package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// AlarmAPI is what Alarms needs of a CloudWatch client.
type AlarmAPI interface {
	DescribeAlarms(ctx context.Context, in *cloudwatch.DescribeAlarmsInput, opts ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
}

// Alarms reads CloudWatch alarms.
type Alarms struct{ api AlarmAPI }

// NewAlarms returns the alarms of one Region.
func NewAlarms(api AlarmAPI) *Alarms { return &Alarms{api} }

// maxNames is the limit of names in a call
// (https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html).
const maxNames = 100

// Evidence returns what is red now among the alarms with these ARNs, with the
// time when each went into ALARM. An alarm that is red for want of data, or
// that only cannot tell (INSUFFICIENT_DATA), is as CloudWatch reports it. The
// caller knows the node: the record binds an alarm to it (R1).
func (a *Alarms) Evidence(ctx context.Context, alarmARNs []string) ([]failover.Evidence, error) {
	var found []failover.Evidence
	for some := range slices.Chunk(alarmARNs, maxNames) {
		names := make([]string, len(some))
		for i, arn := range some {
			name, err := alarmName(arn)
			if err != nil {
				return nil, err
			}
			names[i] = name
		}
		in := &cloudwatch.DescribeAlarmsInput{
			AlarmNames: names,
			// Without this CloudWatch returns metric alarms alone.
			AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
			StateValue: types.StateValueAlarm,
		}
		for {
			out, err := a.api.DescribeAlarms(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("read the alarms %s: %w", strings.Join(names, ", "), err)
			}
			found = append(found, red(out, some)...)
			if aws.ToString(out.NextToken) == "" {
				break
			}
			in.NextToken = out.NextToken
		}
	}
	return found, nil
}

func red(out *cloudwatch.DescribeAlarmsOutput, wanted []string) []failover.Evidence {
	var found []failover.Evidence
	add := func(arn, name, reason *string, state types.StateValue, e failover.Evidence) {
		// A name may stand for another account's alarm: the ARN decides.
		if state != types.StateValueAlarm || !slices.Contains(wanted, aws.ToString(arn)) {
			return
		}
		e.Signal, e.Source = failover.SignalAlarm, aws.ToString(arn)
		e.Detail = fmt.Sprintf("alarm %s: %s", aws.ToString(name), aws.ToString(reason))
		found = append(found, e)
	}
	for _, m := range out.MetricAlarms {
		add(m.AlarmArn, m.AlarmName, m.StateReason, m.StateValue, failover.Evidence{At: aws.ToTime(m.StateUpdatedTimestamp)})
	}
	for _, c := range out.CompositeAlarms {
		add(c.AlarmArn, c.AlarmName, c.StateReason, c.StateValue, failover.Evidence{At: aws.ToTime(c.StateUpdatedTimestamp)})
	}
	return found
}

// alarmName takes the name out of arn:aws:cloudwatch:REGION:ACCOUNT:alarm:NAME;
// a name may hold colons itself.
func alarmName(arn string) (string, error) {
	f := strings.SplitN(arn, ":", 7)
	if len(f) != 7 || f[0] != "arn" || f[2] != "cloudwatch" || f[5] != "alarm" || f[6] == "" {
		return "", fmt.Errorf("%q is not the ARN of a CloudWatch alarm: want arn:aws:cloudwatch:REGION:ACCOUNT:alarm:NAME", arn)
	}
	return f[6], nil
}
