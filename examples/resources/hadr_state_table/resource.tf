resource "hadr_state_table" "this" {
  name = "hadr-orders"
}
