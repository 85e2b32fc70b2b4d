package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// An alarm and a probe as objects, for the function alone.
const detectionLocals = `
locals {
  probe = { namespace = "HADR", metric_name = "SQLLatency", interval_seconds = 20, timeout_seconds = 19, sentinel_milliseconds = 20001 }
  latency = {
    name = "latency", namespace = "HADR", metric_name = "SQLLatency", statistic = "Maximum", period = 60, expression = null
    comparison_operator = "GreaterThanThreshold", threshold = 20000, evaluation_periods = 1, datapoints_to_alarm = null, treat_missing_data = "notBreaching"
  }
  silent = merge(local.latency, { name = "silent", statistic = "SampleCount", comparison_operator = "LessThanThreshold", threshold = 2, treat_missing_data = "breaching" })
  filled = merge(local.silent, { expression = "FILL(m1, 0)" })
}
`

func TestDetectionTimeFunction(t *testing.T) {
	times := func(worst, p95, host int64, crash knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{
			"worst_seconds": knownvalue.Int64Exact(worst),
			"p95_seconds":   knownvalue.Int64Exact(p95),
			"failures": knownvalue.MapPartial(map[string]knownvalue.Check{
				"host":  knownvalue.ObjectPartial(map[string]knownvalue.Check{"worst_seconds": knownvalue.Int64Exact(host)}),
				"crash": crash,
			}),
		})
	}
	crash := knownvalue.ObjectPartial(map[string]knownvalue.Check{"worst_seconds": knownvalue.Int64Exact(150), "min_seconds": knownvalue.Int64Exact(12)})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config: detectionLocals + `
output "filled" { value = provider::hadr::detection_time([local.latency, local.filled], local.probe) }
output "plain"  { value = provider::hadr::detection_time([local.latency, local.silent], local.probe) }
output "blind"  { value = provider::hadr::detection_time([local.latency], local.probe) }
`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("filled", times(170, 142, 170, crash)),
				statecheck.ExpectKnownOutputValue("plain", times(410, 382, 410, crash)),
				statecheck.ExpectKnownOutputValueAtPath("blind", tfjsonpath.New("worst_seconds"), knownvalue.Null()),
				statecheck.ExpectKnownOutputValueAtPath("blind", tfjsonpath.New("failures").AtMapKey("hang").AtMapKey("worst_seconds"), knownvalue.Int64Exact(169)),
			},
		}},
	})
}

func TestDetectionTimeFunctionRefuses(t *testing.T) {
	for call, want := range map[string]string{
		`detection_time([], local.probe)`:                                                "no alarm is given",
		`detection_time([merge(local.latency, { period = 45 })], local.probe)`:           "period 45 s is none of",
		`detection_time([merge(local.latency, { metric_name = "Load" })], local.probe)`:  "does not know the\\s+metric Load of HADR",
		`detection_time([merge(local.latency, { metric_name = null })], local.probe)`:    "has no metric_name",
		`detection_time([local.latency], merge(local.probe, { timeout_seconds = 21 }))`:  "time-out must be above 0 and at most its interval",
		`detection_time([merge(local.silent, { expression = "FILL(m1" })], local.probe)`: `want ","|want \\?"`,
	} {
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: factories(),
			Steps: []resource.TestStep{{
				Config:      detectionLocals + "output \"x\" { value = provider::hadr::" + call + " }",
				ExpectError: regexp.MustCompile(strings.ReplaceAll(want, " ", `[\s│]+`)),
			}},
		})
	}
}

// The resources themselves are arguments, and what the function says is known
// when nothing exists yet.
func TestDetectionTimeOfPlannedResources(t *testing.T) {
	startAWS(t)
	config := detectionResources("FILL(m1, 0)") + `
resource "hadr_composite_alarm" "failed" {
  name       = "orders-a-failed"
  alarm_rule = "ALARM(\"orders-a-latency\") OR ALARM(\"orders-a-silent\")"
  lifecycle {
    precondition {
      condition     = provider::hadr::detection_time([hadr_metric_alarm.latency, hadr_metric_alarm.silent], hadr_sql_latency_metric.a).worst_seconds <= %d
      error_message = "too slow"
    }
  }
  depends_on = [hadr_metric_alarm.latency, hadr_metric_alarm.silent]
}
`
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: fmt.Sprintf(config, 169), PlanOnly: true, ExpectError: regexp.MustCompile("too slow")},
			{Config: fmt.Sprintf(config, 170), PlanOnly: true, ExpectNonEmptyPlan: true},
		},
	})
}

// detectionResources are a probe and two alarms on it, as a customer writes them.
func detectionResources(expression string) string {
	if expression != "" {
		expression = fmt.Sprintf("expression = %q", expression)
	}
	return `
resource "hadr_state_table" "this" {
  name                = "hadr"
  deletion_protection = false
}
resource "hadr_sql_latency_metric" "a" {
  table_name = hadr_state_table.this.name
  group      = "orders"
  node       = "a"
}
resource "hadr_metric_alarm" "latency" {
  name                = "orders-a-latency"
  namespace           = hadr_sql_latency_metric.a.namespace
  metric_name         = hadr_sql_latency_metric.a.metric_name
  dimensions          = hadr_sql_latency_metric.a.dimensions
  statistic           = "Maximum"
  period              = 60
  comparison_operator = "GreaterThanThreshold"
  threshold           = 20000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
}
resource "hadr_metric_alarm" "silent" {
  name                = "orders-a-silent"
  namespace           = hadr_sql_latency_metric.a.namespace
  metric_name         = hadr_sql_latency_metric.a.metric_name
  dimensions          = hadr_sql_latency_metric.a.dimensions
  statistic           = "SampleCount"
  period              = 60
  ` + expression + `
  comparison_operator = "LessThanThreshold"
  threshold           = 2
  evaluation_periods  = 1
  treat_missing_data  = "breaching"
}
`
}
