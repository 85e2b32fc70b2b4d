package provider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// spoken finds words whatever the lines of a diagnostic are broken at.
func spoken(words string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(words), " ", `[\s│]+`))
}

// Declared alarms are judged before they exist: the plain sample count breaks
// the objective of 170 s, FILL keeps it, and so does a longer objective.
func TestGroupJudgesDeclaredAlarms(t *testing.T) {
	a := startAWS(t).build(t)
	config := func(expression, extra string) string {
		group := a.group(func(c *groupConfig) {
			c.PeerWindow = 900
			c.Extra = "detection = {\n alarms = [hadr_metric_alarm.latency, hadr_metric_alarm.silent]\n probe = hadr_sql_latency_metric.a\n}\n" + extra
		})
		_, rest, _ := strings.Cut(group, "deletion_protection = false\n}") // both declare the table
		return detectionResources(expression) + rest
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config("", ""), PlanOnly: true, ExpectError: spoken("max_detection_seconds is 170, but the alarms may need longer until one of them is raised: the host vanishes: 410 s")},
			{Config: config("FILL(m1, 0)", "max_detection_seconds = 169"), PlanOnly: true, ExpectError: spoken("set max_detection_seconds = 170")},
			{Config: config("", "max_detection_seconds = 410"), PlanOnly: true, ExpectNonEmptyPlan: true},
			{Config: config("FILL(m1, 0)", "")},
			{Config: config("FILL(m1, 0)", ""), PlanOnly: true},
			// A change of the alarm is judged in the plan that makes it.
			{Config: config("", ""), PlanOnly: true, ExpectError: spoken("max_detection_seconds is 170")},
		},
	})
}

// Alarms that Terraform does not show to the group are read where they are: an
// apply refuses what is too slow, and makes nothing.
func TestGroupJudgesLiveAlarms(t *testing.T) {
	a := startAWS(t).build(t)
	put := func(expression bool) {
		stat := &cw.MetricStat{Metric: &cw.Metric{Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"), Dimensions: []cw.Dimension{
			{Name: aws.String("Group"), Value: aws.String("orders")}, {Name: aws.String("Node"), Value: aws.String("a")}}},
			Period: aws.Int32(60), Stat: aws.String("SampleCount")}
		in := &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("orders-a-silent"), ComparisonOperator: cw.ComparisonOperatorLessThanThreshold,
			Threshold: aws.Float64(2), EvaluationPeriods: aws.Int32(1), TreatMissingData: aws.String("breaching"),
			Metrics: []cw.MetricDataQuery{{Id: aws.String("m1"), MetricStat: stat, ReturnData: aws.Bool(!expression)}}}
		if expression {
			in.Metrics = append(in.Metrics, cw.MetricDataQuery{Id: aws.String("e1"), Expression: aws.String("FILL(m1, 0)"), ReturnData: aws.Bool(true)})
		}
		_, err := a.cloudwatch.PutMetricAlarm(t.Context(), in)
		must(t, err)
		_, err = a.cloudwatch.PutCompositeAlarm(t.Context(), &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String("orders-a-failed"), AlarmRule: aws.String(`ALARM("orders-a-silent")`)})
		must(t, err)
	}
	put(false)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: a.group(nil), ExpectError: spoken("until one of them is raised: the host vanishes: 410 s")},
			{PreConfig: func() { put(true) }, Config: a.group(nil)},
		},
	})
}
