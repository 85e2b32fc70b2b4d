resource "hadr_host_policy" "agent" {
  name      = "hadr-orders"
  role_name = "db-host"
  table_arn = hadr_state_table.this.arn
  groups    = ["orders"]
}
