package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

func TestCompositeAlarm(t *testing.T) {
	startAWS(t)
	config := func(rest string) string {
		return latencyAlarm + sprintf(`
resource "hadr_composite_alarm" "failed" {
  name       = "orders-a-failed"
  alarm_rule = "ALARM(\"${hadr_metric_alarm.latency.name}\")"
  %s
}`, rest)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: config(`alarm_actions = ["arn:aws:sns:eu-central-1:123456789012:pager"]`)},
			{ResourceName: "hadr_composite_alarm.failed", ImportState: true, ImportStateVerify: true},
			{Config: config(`actions_suppressor = { alarm = hadr_metric_alarm.latency.name, wait_period_seconds = 60, extension_period_seconds = 30 }
tags = { app = "orders" }`)},
			{ResourceName: "hadr_composite_alarm.failed", ImportState: true, ImportStateVerify: true},
			{Config: config("")},
		},
	})
}
