package provider

import (
	"regexp"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

const latencyAlarm = `
resource "hadr_metric_alarm" "latency" {
  name                = "orders-a-latency"
  namespace           = "HADR"
  metric_name         = "SQLLatency"
  dimensions          = { Group = "orders", Node = "a" }
  statistic           = "Maximum"
  period              = 60
  comparison_operator = "GreaterThanThreshold"
  threshold           = 20000
  evaluation_periods  = 1
}`

func TestMetricAlarmForms(t *testing.T) {
	forms := map[string]string{
		"plain statistic": latencyAlarm,
		"percentile, M of N": `
resource "hadr_metric_alarm" "p99" {
  name                 = "orders-a-p99"
  namespace            = "HADR"
  metric_name          = "SQLLatency"
  statistic            = "p99"
  period               = 10
  comparison_operator  = "GreaterThanOrEqualToThreshold"
  threshold            = 1.5
  evaluation_periods   = 5
  datapoints_to_alarm  = 3
  treat_missing_data   = "ignore"
  alarm_actions        = ["arn:aws:sns:eu-central-1:123456789012:pager"]
  evaluate_low_sample_count_percentile = "ignore"
}`,
		"expression over one metric": `
resource "hadr_metric_alarm" "silent" {
  name                = "orders-a-silent"
  namespace           = "HADR"
  metric_name         = "SQLLatency"
  dimensions          = { Group = "orders", Node = "a" }
  statistic           = "SampleCount"
  period              = 60
  expression          = "FILL(m1, 0)"
  comparison_operator = "LessThanThreshold"
  threshold           = 2
  evaluation_periods  = 1
  treat_missing_data  = "breaching"
}`,
		"metric queries": `
resource "hadr_metric_alarm" "ratio" {
  name = "orders-ratio"
  metric_query = [
    { id = "a", metric = { namespace = "HADR", metric_name = "SQLLatency", statistic = "Sum", period = 60, dimensions = { Group = "orders", Node = "a" } } },
    { id = "b", metric = { namespace = "HADR", metric_name = "SQLLatency", statistic = "SampleCount", period = 60, dimensions = { Group = "orders", Node = "a" } } },
    { id = "mean", expression = "a / b", label = "mean", return_data = true },
  ]
  comparison_operator = "GreaterThanThreshold"
  threshold           = 100
  evaluation_periods  = 2
}`,
	}
	for name, config := range forms {
		t.Run(name, func(t *testing.T) {
			startAWS(t)
			address := regexp.MustCompile(`"(hadr_\w+)" "(\w+)"`).FindStringSubmatch(config)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{
					{Config: config}, // an empty plan afterwards is part of the step
					{ResourceName: address[1] + "." + address[2], ImportState: true, ImportStateVerify: true},
				},
			})
		})
	}
}

func TestMetricAlarmIsRepairedAndRecreated(t *testing.T) {
	a := startAWS(t)
	const address = "hadr_metric_alarm.latency"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: latencyAlarm},
			{
				PreConfig: func() {
					_, err := a.cloudwatch.DisableAlarmActions(t.Context(), &cloudwatch.DisableAlarmActionsInput{AlarmNames: []string{"orders-a-latency"}})
					must(t, err)
				},
				Config:           latencyAlarm,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}},
			},
			{
				PreConfig: func() {
					_, err := a.cloudwatch.DeleteAlarms(t.Context(), &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{"orders-a-latency"}})
					must(t, err)
				},
				Config:           latencyAlarm,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)}},
			},
		},
	})
}

func TestMetricAlarmDoesNotOverwrite(t *testing.T) {
	a := startAWS(t)
	_, err := a.cloudwatch.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("orders-a-latency"), Namespace: aws.String("Other"), MetricName: aws.String("X"), Statistic: "Sum",
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1), ComparisonOperator: "GreaterThanThreshold",
	})
	must(t, err)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    []resource.TestStep{{Config: latencyAlarm, ExpectError: regexp.MustCompile(`exists already[\s\S]*terraform import`)}},
	})
}

func TestMetricAlarmRefuses(t *testing.T) {
	base := `
resource "hadr_metric_alarm" "x" {
  name                = "x"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 1
  %s
}`
	tests := map[string]struct{ attributes, want string }{
		"no metric":           {``, `namespace is missing`},
		"M above N":           {`namespace = "N"` + "\n" + `metric_name = "M"` + "\n" + `statistic = "Sum"` + "\n" + `period = 60` + "\n" + `datapoints_to_alarm = 2`, `datapoints_to_alarm is more`},
		"period":              {`namespace = "N"` + "\n" + `metric_name = "M"` + "\n" + `statistic = "Sum"` + "\n" + `period = 45`, `"45" must be 10, 20, 30`},
		"statistic":           {`namespace = "N"` + "\n" + `metric_name = "M"` + "\n" + `statistic = "Median"` + "\n" + `period = 60`, `statistic`},
		"two forms of metric": {`metric_name = "M"` + "\n" + `metric_query = [{ id = "e", expression = "1", return_data = true }]`, `metric_query`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			startAWS(t)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    []resource.TestStep{{Config: sprintf(base, tt.attributes), PlanOnly: true, ExpectError: regexp.MustCompile(tt.want)}},
			})
		})
	}
}
