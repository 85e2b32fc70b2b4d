resource "hadr_cloudwatch_agent_config" "this" {
  name      = "AmazonCloudWatch-hadr-orders"
  processes = ["^db2sysc$"]
}

# The host lives, and its database server is gone.
resource "hadr_metric_alarm" "process" {
  name                = "orders-a-process"
  namespace           = hadr_cloudwatch_agent_config.this.namespace
  metric_name         = hadr_cloudwatch_agent_config.this.metric_name
  dimensions          = { InstanceId = "i-0123456789abcdef0" }
  statistic           = "Minimum"
  period              = 60
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
}

resource "hadr_host_policy" "agent" {
  name      = "hadr-orders"
  role_name = "db-host"
  table_arn = hadr_state_table.this.arn
  groups    = ["orders"]

  cloudwatch_agent_config_arn = hadr_cloudwatch_agent_config.this.arn
}
