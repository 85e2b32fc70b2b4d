# Who is primary is no output: it changes without Terraform, and a plan after a
# takeover would show it as a change.

output "group_name" {
  description = "Name of the group."
  value       = hadr_group.this.name
}

output "table_name" {
  description = "Name of the state table."
  value       = hadr_state_table.this.name
}

output "table_arn" {
  description = "ARN of the state table."
  value       = hadr_state_table.this.arn
}

output "function_arn" {
  description = "ARN of the takeover function."
  value       = hadr_function.takeover.arn
}

output "agent_install_document" {
  description = "Name of the SSM document that installs hadr-agent on a host."
  value       = hadr_command_document.agent_install.name
}

output "cloudwatch_agent_config" {
  description = "Name of the SSM parameter with the configuration of the CloudWatch agent on both hosts."
  value       = hadr_cloudwatch_agent_config.this.name
}

output "failure_alarm_arns" {
  description = "ARN of each node's composite alarm."
  value       = { for id, a in hadr_composite_alarm.failed : id => a.arn }
}

output "endpoint" {
  description = "Address and port that clients use."
  value       = "${var.vip}:${var.port}"
}
