resource "hadr_function" "takeover" {
  name            = "orders-takeover"
  kind            = "takeover"
  table_arn       = hadr_state_table.this.arn
  alarm_names     = ["orders-a-failed", "orders-b-failed"]
  instance_ids    = ["i-0123456789abcdef0", "i-0fedcba9876543210"]
  route_table_ids = ["rtb-0123456789abcdef0"]
  document_names  = ["orders-status", "orders-takeover", "orders-path-check"]
}
