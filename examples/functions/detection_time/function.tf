# 170: the worst case over all kinds of failures and all phases
output "worst_case_seconds" {
  value = provider::hadr::detection_time(
    [hadr_metric_alarm.latency, hadr_metric_alarm.silent],
    hadr_sql_latency_metric.a,
  ).worst_seconds
}

# The same as a condition, before anything is made
resource "hadr_composite_alarm" "failed" {
  name       = "orders-a-failed"
  alarm_rule = "ALARM(\"orders-a-latency\") OR ALARM(\"orders-a-silent\")"

  lifecycle {
    precondition {
      condition = coalesce(provider::hadr::detection_time(
        [hadr_metric_alarm.latency, hadr_metric_alarm.silent],
        hadr_sql_latency_metric.a,
      ).failures["host"].p95_seconds, 9999) <= 145
      error_message = "95 of 100 failures of the host must be seen within 145 seconds."
    }
  }
}
