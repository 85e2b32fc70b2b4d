provider "hadr" {
  region = var.region

  default_tags = {
    tags = { vpc = var.vpc_id }
  }
}

module "orders" {
  source = "../../../modules/postgresql-pair"

  name                       = "orders"
  region                     = var.region
  vpc_cidr                   = var.vpc_cidr
  route_table_ids            = var.route_table_ids
  nodes                      = var.nodes
  instance_profile_role_name = var.instance_profile_role_name
  path_checkers              = var.path_checkers
  architecture               = var.architecture

  vip        = "192.168.77.10"
  port       = var.port
  addresses  = var.addresses
  postgresql = var.postgresql
  lease      = var.lease
  fencing    = var.fencing

  latency_threshold_milliseconds = var.latency_threshold_milliseconds

  # An example is there to be thrown away again.
  deletion_protection = false
}
