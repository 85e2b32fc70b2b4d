resource "hadr_group" "orders" {
  name              = "orders"
  table_name        = hadr_state_table.this.name
  preferred_primary = "a"

  db2 = {
    database             = "SALES"
    instance_owner       = "db2inst1"
    syncmode             = "NEARSYNC"
    peer_window_seconds  = 420
    hadr_timeout_seconds = 120
    status_document      = "orders-status"
    takeover_document    = "orders-takeover"
    path_check_document  = "orders-path-check"
    start_document       = "orders-start"
    rejoin_document      = "orders-rejoin"
  }

  nodes = {
    a = {
      instance_id          = "i-0123456789abcdef0"
      network_interface_id = "eni-0123456789abcdef0"
      failure_alarm_arns   = ["arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a-failed"]
    }
    b = {
      instance_id          = "i-0fedcba9876543210"
      network_interface_id = "eni-0fedcba9876543210"
      failure_alarm_arns   = ["arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-b-failed"]
    }
  }

  endpoint = {
    vip             = "192.168.77.10"
    port            = 50000
    route_table_ids = ["rtb-0123456789abcdef0"]
  }
}
