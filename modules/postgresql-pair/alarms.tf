resource "hadr_sql_latency_metric" "this" {
  for_each = var.nodes

  table_name             = hadr_state_table.this.name
  group                  = var.name
  node                   = each.key
  threshold_milliseconds = var.latency_threshold_milliseconds
  sentinel_milliseconds  = var.latency_threshold_milliseconds + 1

  lease = var.lease == null ? null : {
    duration_seconds = var.lease.duration_seconds
    interval_seconds = var.lease.interval_seconds
    function         = hadr_function.takeover.name
    self_fencing     = var.lease.self_fencing
  }
}

# The database is slow or hangs: a probe that does not come back is published
# as a value above the threshold.
resource "hadr_metric_alarm" "latency" {
  for_each = hadr_sql_latency_metric.this

  name                = "${var.name}-${each.key}-latency"
  description         = "SQL on node ${each.key} of ${var.name} is slower than ${var.latency_threshold_milliseconds} ms"
  namespace           = each.value.namespace
  metric_name         = each.value.metric_name
  dimensions          = each.value.dimensions
  statistic           = "Maximum"
  period              = 60
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.latency_threshold_milliseconds
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  tags                = var.tags
}

# The probe is silent: the agent, its host or its network is dead. Of three
# samples a minute one may be lost.
resource "hadr_metric_alarm" "silent" {
  for_each = hadr_sql_latency_metric.this

  name                = "${var.name}-${each.key}-silent"
  description         = "Node ${each.key} of ${var.name} does not publish its SQL latency"
  namespace           = each.value.namespace
  metric_name         = each.value.metric_name
  dimensions          = each.value.dimensions
  statistic           = "SampleCount"
  period              = 60
  expression          = var.fill_missing_samples ? "FILL(m1, 0)" : null
  comparison_operator = "LessThanThreshold"
  threshold           = 2
  evaluation_periods  = 1
  treat_missing_data  = "breaching"
  tags                = var.tags
}

# What the CloudWatch agent of each host counts. It leaves the host within
# seconds: with the agent's own flush of a minute an alarm would look at the past.
# AWS's managed policy for the agent lets it read names with this beginning.
resource "hadr_cloudwatch_agent_config" "this" {
  name      = "AmazonCloudWatch-hadr-${var.name}"
  processes = ["^postgres$"]
  tags      = var.tags
}

# The database server is gone while its host lives. A host that is silent
# altogether is the matter of the other alarms.
resource "hadr_metric_alarm" "process" {
  for_each = var.nodes

  name                = "${var.name}-${each.key}-process"
  description         = "no PostgreSQL server runs on node ${each.key} of ${var.name}"
  namespace           = hadr_cloudwatch_agent_config.this.namespace
  metric_name         = hadr_cloudwatch_agent_config.this.metric_name
  dimensions          = { InstanceId = each.value.instance_id }
  statistic           = "Minimum"
  period              = 60
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  tags                = var.tags
}

# EC2 itself sees the machine or its host fail.
resource "hadr_metric_alarm" "status" {
  for_each = var.nodes

  name                = "${var.name}-${each.key}-status"
  description         = "EC2 status check of node ${each.key} of ${var.name} (${coalesce(each.value.private_ip, each.value.instance_id)})"
  namespace           = "AWS/EC2"
  metric_name         = "StatusCheckFailed"
  dimensions          = { InstanceId = each.value.instance_id }
  statistic           = "Maximum"
  period              = 60
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = 1
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  tags                = var.tags
}

# One alarm per node, so that one failure invokes the function once.
resource "hadr_composite_alarm" "failed" {
  for_each = var.nodes

  name        = local.failed_alarm[each.key]
  description = "Node ${each.key} of ${var.name} has failed"
  alarm_rule = join(" OR ", [
    for a in [
      hadr_metric_alarm.latency[each.key],
      hadr_metric_alarm.silent[each.key],
      hadr_metric_alarm.process[each.key],
      hadr_metric_alarm.status[each.key],
    ] : "ALARM(\"${a.name}\")"
  ])
  alarm_actions = concat([hadr_function.takeover.arn], var.notification_arns)
  tags          = var.tags
}
