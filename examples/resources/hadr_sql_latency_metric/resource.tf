resource "hadr_sql_latency_metric" "a" {
  table_name = hadr_state_table.this.name
  group      = "orders"
  node       = "a"
}
