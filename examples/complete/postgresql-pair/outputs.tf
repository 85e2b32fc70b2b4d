output "group_name" {
  description = "Name of the group."
  value       = module.orders.group_name
}

output "table_name" {
  description = "Name of the state table."
  value       = module.orders.table_name
}

output "endpoint" {
  description = "Address and port that clients use."
  value       = module.orders.endpoint
}
