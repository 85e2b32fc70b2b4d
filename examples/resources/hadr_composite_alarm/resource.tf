resource "hadr_composite_alarm" "failed" {
  name          = "orders-a-failed"
  alarm_rule    = "ALARM(\"orders-a-latency\") OR ALARM(\"orders-a-silent\")"
  alarm_actions = [hadr_function.takeover.arn]
}
