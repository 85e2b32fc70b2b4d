variable "region" {
  description = "AWS Region of the nodes."
  type        = string
}

variable "vpc_id" {
  description = "VPC of the nodes, for the tags."
  type        = string
}

variable "vpc_cidr" {
  description = "CIDR block of the VPC."
  type        = string
}

variable "route_table_ids" {
  description = "Route tables of all subnets from which clients reach the endpoint."
  type        = list(string)
}

variable "nodes" {
  description = "The two database hosts, `a` and `b`."
  type = map(object({
    instance_id          = string
    network_interface_id = string
    availability_zone    = string
    private_ip           = string
  }))
}

variable "instance_profile_role_name" {
  description = "Role of the hosts' instance profile."
  type        = string
}

variable "path_checkers" {
  description = "Route table id to an application host in one of its subnets."
  type        = map(string)
}

variable "architecture" {
  description = "Processor of the function. In a sandbox it is that of the machine that runs it."
  type        = string
  default     = "amd64"
}

variable "notification_arns" {
  description = "SNS topics of the people on call."
  type        = list(string)
  default     = []
}
