resource "hadr_vip_route" "orders" {
  vip                            = "192.168.77.10"
  route_table_ids                = ["rtb-0123456789abcdef0"]
  network_interface_ids          = ["eni-0123456789abcdef0", "eni-0fedcba9876543210"]
  preferred_network_interface_id = "eni-0123456789abcdef0"
  table_name                     = hadr_state_table.this.name
  group                          = hadr_group.orders.name
}
