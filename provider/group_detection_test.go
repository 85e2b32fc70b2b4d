package provider

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
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

// What the README of the module says of its alarms is true of the alarms that it
// makes: a plan of the example is simulated as `hadr simulate detection --plan`
// does it.
func TestModuleKeepsItsDetectionTimes(t *testing.T) {
	a := startPair(t)
	e := newExample(t, a, "examples/complete/db2-hadr")
	e.must(t, "init")
	e.must(t, "plan", "-out=plan.bin")
	show := exec.CommandContext(t.Context(), "terraform", "show", "-json", "plan.bin")
	show.Dir, show.Env = e.dir, e.env
	plan, err := show.Output()
	must(t, err)
	model := detection.NewModel()
	declared, err := model.ReadPlan(plan)
	must(t, err)
	sets, notes, err := model.Sets(declared)
	must(t, err)
	alarms := slices.DeleteFunc(sets, func(s detection.Set) bool { return strings.Contains(s.Name, "lease") })
	if len(alarms) != 2 || len(notes) > 0 {
		t.Fatalf("%d sets and notes %q, want one set of alarms for each node", len(alarms), notes)
	}
	preset, _ := model.Preset(detection.PresetFill)
	r, err := detection.Simulation{Sets: append(alarms, preset), Trials: 20_000, Seed: 1}.Run(t.Context())
	must(t, err)
	for i, x := range r.Sets[0].Failures {
		other, known := r.Sets[1].Failures[i], r.Sets[2].Failures[i]
		if x.Worst > 170*time.Second || x.P95 > 145*time.Second || x.Worst != other.Worst || x.Worst != known.Worst || x.P50.Round(5*time.Second) != known.P50.Round(5*time.Second) {
			t.Errorf("%s: p50 %s, p95 %s, worst %s (other node %s; preset %s, %s); want at most 145 s and 170 s",
				x.Failure, x.P50, x.P95, x.Worst, other.Worst, known.P50, known.Worst)
		}
	}
	if r.Sets[0].MonthlyUSD != r.Sets[2].MonthlyUSD {
		t.Errorf("$%.2f a month, the preset $%.2f", r.Sets[0].MonthlyUSD, r.Sets[2].MonthlyUSD)
	}
}
