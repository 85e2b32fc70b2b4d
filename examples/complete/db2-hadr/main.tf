provider "hadr" {
  region = var.region

  default_tags = {
    tags = { vpc = var.vpc_id }
  }
}

module "orders" {
  source = "../../../modules/db2-hadr"

  name                       = "orders"
  region                     = var.region
  vpc_cidr                   = var.vpc_cidr
  route_table_ids            = var.route_table_ids
  nodes                      = var.nodes
  instance_profile_role_name = var.instance_profile_role_name
  path_checkers              = var.path_checkers
  architecture               = var.architecture
  notification_arns          = var.notification_arns

  vip  = "192.168.77.10"
  port = 50000

  db2 = {
    database             = "SAMPLE"
    instance_owner       = "db2inst1"
    syncmode             = "NEARSYNC"
    peer_window_seconds  = 420
    hadr_timeout_seconds = 120
  }

  # An example is there to be thrown away again.
  deletion_protection = false
}
