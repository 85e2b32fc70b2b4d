resource "hadr_function" "watch" {
  name            = "orders-watch"
  kind            = "watch"
  table_arn       = hadr_state_table.this.arn
  groups          = ["orders"]
  instance_ids    = ["i-0123456789abcdef0", "i-0fedcba9876543210"]
  route_table_ids = ["rtb-0123456789abcdef0"]
  document_names  = ["orders-status", "orders-takeover", "orders-path-check"]
}

resource "hadr_schedule" "watch" {
  name         = "orders-watch"
  function_arn = hadr_function.watch.arn
}
