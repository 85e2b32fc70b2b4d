resource "hadr_command_document" "status" {
  name = "orders-status"
  kind = "db2_status"
}
