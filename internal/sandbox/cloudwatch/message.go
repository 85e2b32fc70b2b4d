package cloudwatch

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// regionNames are written out in notifications.
//
// https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html
var regionNames = map[string]string{
	"us-east-1": "US East (N. Virginia)", "us-east-2": "US East (Ohio)", "us-west-1": "US West (N. California)",
	"us-west-2": "US West (Oregon)", "eu-central-1": "EU (Frankfurt)", "eu-west-1": "EU (Ireland)",
	"eu-west-2": "EU (London)", "eu-west-3": "EU (Paris)", "eu-north-1": "EU (Stockholm)",
	"ap-northeast-1": "Asia Pacific (Tokyo)", "ap-southeast-1": "Asia Pacific (Singapore)", "ap-southeast-2": "Asia Pacific (Sydney)",
}

func regionName(region string) string {
	if name := regionNames[region]; name != "" {
		return name
	}
	return region
}

// subject of a notification; SNS allows 100 characters.
func subject(t *alarm.Transition) string {
	s := []rune(fmt.Sprintf("%s: %q in %s", t.New.State, t.Alarm.Name, regionName(t.Alarm.Region)))
	return string(s[:min(len(s), 100)])
}

// notice is the body of a notification through SNS.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
type notice struct {
	AlarmName                          string
	AlarmDescription                   *string
	AWSAccountId                       string //nolint:revive // name of the member
	AlarmConfigurationUpdatedTimestamp string
	NewStateValue                      alarm.State
	NewStateReason                     string
	StateChangeTime                    string
	Region                             string
	AlarmArn                           string
	OldStateValue                      alarm.State
	OKActions                          []string
	AlarmActions                       []string
	InsufficientDataActions            []string
	Trigger                            *trigger           `json:",omitempty"`
	AlarmRule                          *string            `json:",omitempty"`
	TriggeringChildren                 []triggeringChild  `json:",omitempty"`
	ActionsSuppressedBy                alarm.SuppressedBy `json:",omitempty"`
}

type trigger struct {
	MetricName                       string             `json:",omitempty"`
	Namespace                        string             `json:",omitempty"`
	StatisticType                    string             `json:",omitempty"`
	Statistic                        string             `json:",omitempty"`
	ExtendedStatistic                string             `json:",omitempty"`
	Unit                             types.StandardUnit `json:",omitempty"`
	Dimensions                       []dimension        `json:",omitempty"`
	Metrics                          []alarm.Query      `json:",omitempty"`
	Period                           int
	EvaluationPeriods                int32
	DatapointsToAlarm                *int32 `json:",omitempty"`
	ComparisonOperator               types.ComparisonOperator
	Threshold                        float64
	TreatMissingData                 string
	EvaluateLowSampleCountPercentile string
}

type dimension struct {
	Value string `json:"value"`
	Name  string `json:"name"`
}

type triggeringChild struct {
	Arn   string
	State struct {
		Value     alarm.State
		Timestamp string
	}
}

func message(r *record, t *alarm.Transition) []byte {
	s := &r.settings
	n := notice{
		AlarmName: r.Name, AlarmDescription: s.description, AWSAccountId: r.Account,
		AlarmConfigurationUpdatedTimestamp: s.updated.UTC().Format(alarm.TimeFormat),
		NewStateValue:                      t.New.State, NewStateReason: t.New.Reason, StateChangeTime: t.New.At.UTC().Format(alarm.TimeFormat),
		Region: regionName(r.Region), AlarmArn: r.ARN, OldStateValue: t.Old.State,
		OKActions: s.onOK, AlarmActions: s.onAlarm, InsufficientDataActions: s.onInsufficient,
	}
	if r.metric != nil {
		n.Trigger = newTrigger(r)
		return []byte(toJSON(n))
	}
	n.AlarmRule = r.composite.AlarmRule
	for _, name := range childrenIn(r, t.New.State) {
		x := r.tenant.alarms[name]
		c := triggeringChild{Arn: x.ARN}
		c.State.Value, c.State.Timestamp = x.state.State, x.state.At.UTC().Format(alarm.TimeFormat)
		n.TriggeringChildren = append(n.TriggeringChildren, c)
	}
	return []byte(toJSON(n))
}

// childrenIn returns the children that are in the same state as the composite.
func childrenIn(r *record, state alarm.State) (out []string) {
	for _, c := range r.rule.Children() {
		if x := r.tenant.alarms[c.Name]; x != nil && x.state.State == state {
			out = append(out, c.Name)
		}
	}
	return out
}

func newTrigger(r *record) *trigger {
	m := r.metric
	t := &trigger{
		Period: int(r.plan.criteria.Period / time.Second), EvaluationPeriods: aws.ToInt32(m.EvaluationPeriods), DatapointsToAlarm: m.DatapointsToAlarm,
		ComparisonOperator: m.ComparisonOperator, Threshold: aws.ToFloat64(m.Threshold), TreatMissingData: aws.ToString(m.TreatMissingData),
		EvaluateLowSampleCountPercentile: aws.ToString(m.EvaluateLowSampleCountPercentile),
	}
	if m.Metrics != nil {
		t.Metrics = r.plan.described
		return t
	}
	t.MetricName, t.Namespace, t.Unit = aws.ToString(m.MetricName), aws.ToString(m.Namespace), m.Unit
	if m.ExtendedStatistic != nil {
		t.StatisticType, t.ExtendedStatistic = "ExtendedStatistic", *m.ExtendedStatistic
	} else {
		t.StatisticType, t.Statistic = "Statistic", strings.ToUpper(snake(string(m.Statistic)))
	}
	for _, d := range m.Dimensions {
		t.Dimensions = append(t.Dimensions, dimension{aws.ToString(d.Value), aws.ToString(d.Name)})
	}
	return t
}

// snake writes SampleCount as Sample_Count: notifications say SAMPLE_COUNT.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}
