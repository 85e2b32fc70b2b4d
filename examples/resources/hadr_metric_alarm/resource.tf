# Slow SQL counts as failed.
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
}

# Silence, too: an empty minute counts as no samples.
resource "hadr_metric_alarm" "silent" {
  name                = "orders-a-silent"
  namespace           = hadr_sql_latency_metric.a.namespace
  metric_name         = hadr_sql_latency_metric.a.metric_name
  dimensions          = hadr_sql_latency_metric.a.dimensions
  statistic           = "SampleCount"
  period              = 60
  expression          = "FILL(m1, 0)"
  comparison_operator = "LessThanThreshold"
  threshold           = 2
  evaluation_periods  = 1
  treat_missing_data  = "breaching"
}
