variable "name" {
  description = "Name of the group, and prefix of everything that the module makes."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}$", var.name))
    error_message = "The name must begin with a lower-case letter and have 2 to 31 lower-case letters, digits and hyphens."
  }
}

variable "region" {
  description = "AWS Region of the nodes."
  type        = string
}

variable "vpc_cidr" {
  description = "CIDR block of the VPC. The endpoint's address must lie outside of it."
  type        = string
}

variable "route_table_ids" {
  description = "Route tables of all subnets from which clients reach the endpoint."
  type        = list(string)
}

variable "nodes" {
  description = "The two nodes by their ids: instance, the network interface that the endpoint's routes lead to, zone and private address."
  type = map(object({
    instance_id          = string
    network_interface_id = string
    availability_zone    = optional(string)
    private_ip           = optional(string)
  }))

  validation {
    condition     = length(var.nodes) == 2
    error_message = "A group has exactly two nodes."
  }
}

variable "preferred_primary" {
  description = "Node that is primary when the group is created, and where the database belongs in normal times."
  type        = string
  default     = "a"
}

variable "verify_on_create" {
  description = "Read both nodes before the group is created and record the one that is primary. `false` trusts `preferred_primary`: for databases that are not built yet."
  type        = bool
  default     = true
}

variable "watch" {
  description = "Look at the group every minute: resume what was interrupted, act on alarms that were missed, put routes right. Without it only `hadr-agent` on the standby and the retries of the alarm's event do."
  type        = bool
  default     = true
}

variable "instance_profile_role_name" {
  description = "Role of the hosts' instance profile. It gets an inline policy for the agent."
  type        = string
}

variable "path_checkers" {
  description = "Route table id to an instance in one of its subnets, which tries the data path after a takeover."
  type        = map(string)
  default     = {}
}

variable "vip" {
  description = "IPv4 address that clients use, outside of every CIDR block of the VPC."
  type        = string

  validation {
    condition     = can(cidrhost("${var.vip}/32", 0))
    error_message = "The address must be an IPv4 address without a mask, such as 192.168.77.10."
  }

  validation {
    condition = try(
      cidrhost("${var.vip}/${split("/", var.vpc_cidr)[1]}", 0) != cidrhost(var.vpc_cidr, 0),
      true,
    )
    error_message = "The address lies inside the VPC's CIDR block, where the VPC's local route would swallow it. Choose one outside, such as 192.168.77.10."
  }
}

variable "port" {
  description = "TCP port of the database."
  type        = number
  default     = 50000
}

variable "db2" {
  description = "The database and its HADR settings, as they are on both hosts. A peer window of 420 s leaves room for a takeover that starts from alarms alone."
  type = object({
    database             = string
    instance_owner       = optional(string, "db2inst1")
    syncmode             = optional(string, "NEARSYNC")
    peer_window_seconds  = optional(number, 420)
    hadr_timeout_seconds = optional(number, 120)
  })
}

variable "policy" {
  description = "What happens when the primary fails: `automatic`, `approval` or `observe`."
  type        = string
  default     = "automatic"
}

variable "fencing" {
  description = "When the standby may be promoted: `strict` (the old primary is stopped) or `peer_window` (its stop is accepted and its dead-man is in force; `strict` where it is not). Default: `peer_window` with a lease and a peer window, and without applications on the hosts, else `strict`."
  type        = string
  default     = null
}

variable "isolation_security_group_id" {
  description = "Security group without rules that cuts an old primary off from new connections where its stop stays unconfirmed after the standby was promoted. It is no fence."
  type        = string
  default     = null
}

variable "host_applications" {
  description = "Applications run on the database hosts, or the address is bound on both of them: then only `strict` fencing is allowed."
  type        = bool
  default     = false
}

variable "lease" {
  description = "Lease of the group, which detects a dead primary in seconds: for how long it must stand still to count as expired, and how often the agent of the primary renews it. `null` for hosts without `hadr-agent`."
  type = object({
    duration_seconds = optional(number, 20)
    interval_seconds = optional(number, 5)
  })
  default = {}
}

variable "latency_threshold_milliseconds" {
  description = "SQL that is slower counts as failed."
  type        = number
  default     = 20000
}

variable "fill_missing_samples" {
  description = "Count an empty minute as no samples (FILL). The plain form waits until CloudWatch believes in missing data, which takes up to four minutes longer and needs a longer peer window."
  type        = bool
  default     = true
}

variable "architecture" {
  description = "Processor of the functions: `arm64` or `amd64`."
  type        = string
  default     = "arm64"
}

variable "log_level" {
  description = "Log level of the functions: `debug`, `info`, `warn` or `error`."
  type        = string
  default     = "info"
}

variable "log_retention_days" {
  description = "How long the functions' logs are kept."
  type        = number
  default     = 90
}

variable "failure_destination_arn" {
  description = "Topic or queue that gets the events that a function failed on for good."
  type        = string
  default     = null
}

variable "notification_arns" {
  description = "SNS topics for people: they hear of a node's red alarm, and of takeovers that begin, end or are refused, of blocks and of approvals that are wanted."
  type        = list(string)
  default     = []
}

variable "deletion_protection" {
  description = "Refuse to delete the state table."
  type        = bool
  default     = true
}

variable "table_kms_key_arn" {
  description = "Customer managed KMS key of the state table, which functions and hosts may then use. `null` for the key that AWS manages."
  type        = string
  default     = null
}

variable "volume_kms_key_arns" {
  description = "Customer managed KMS keys of the nodes' EBS volumes, which a function needs to start a node again."
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "Tags of everything that can have tags."
  type        = map(string)
  default     = {}
}
