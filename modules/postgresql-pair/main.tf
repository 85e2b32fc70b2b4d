locals {
  # Literals, so that the function can name the alarms that name the function.
  failed_alarm = { for id, _ in var.nodes : id => "${var.name}-${id}-failed" }

  documents = {
    postgresql_status  = "${var.name}-status"
    postgresql_promote = "${var.name}-promote"
    postgresql_demote  = "${var.name}-demote"
    postgresql_start   = "${var.name}-start"
    postgresql_rejoin  = "${var.name}-rejoin"
    path_check         = "${var.name}-path-check"
  }

  # Changing roles in order is for people: no function may run its document.
  function_documents = [for kind, d in hadr_command_document.this : d.name if kind != "postgresql_demote"]

  # Worst cases from the failure to the alarm, over a probe every 20 seconds:
  # one period of 60 seconds with FILL, and without it the time until
  # CloudWatch takes empty periods for missing data. The group checks them.
  max_detection_seconds = var.fill_missing_samples ? 170 : 410

  # Where no agent vouches for the old primary, a takeover is strict by itself.
  guarded = var.lease != null && !var.host_applications && var.postgresql.replication_mode == "sync"
  fencing = coalesce(var.fencing, local.guarded ? "peer_window" : "strict")
}

resource "hadr_state_table" "this" {
  name                = "hadr-${var.name}"
  deletion_protection = var.deletion_protection
  kms_key_arn         = var.table_kms_key_arn
  tags                = var.tags
}

resource "hadr_command_document" "this" {
  for_each = local.documents

  name = each.value
  kind = each.key
  tags = var.tags
}

resource "hadr_host_policy" "this" {
  name              = "hadr-${var.name}"
  role_name         = var.instance_profile_role_name
  table_arn         = hadr_state_table.this.arn
  table_kms_key_arn = var.table_kms_key_arn
  groups            = [var.name]
  function_arn      = var.lease == null ? null : hadr_function.takeover.arn

  cloudwatch_agent_config_arn = hadr_cloudwatch_agent_config.this.arn
  cloudwatch_agent_namespace  = hadr_cloudwatch_agent_config.this.namespace
}

# For people: no function may run it.
resource "hadr_command_document" "agent_install" {
  name = "${var.name}-agent-install"
  kind = "agent_install"
  tags = var.tags
}

resource "hadr_function" "takeover" {
  name                 = "${var.name}-takeover"
  kind                 = "takeover"
  architecture         = var.architecture
  table_arn            = hadr_state_table.this.arn
  table_kms_key_arn    = var.table_kms_key_arn
  alarm_names          = values(local.failed_alarm)
  instance_ids         = [for n in var.nodes : n.instance_id]
  volume_kms_key_arns  = length(var.volume_kms_key_arns) == 0 ? null : var.volume_kms_key_arns
  checker_instance_ids = length(var.path_checkers) == 0 ? null : values(var.path_checkers)
  route_table_ids      = var.route_table_ids

  isolation_security_group_id = var.isolation_security_group_id
  network_interface_ids       = var.isolation_security_group_id == null ? null : [for n in var.nodes : n.network_interface_id]

  document_names          = local.function_documents
  failure_destination_arn = var.failure_destination_arn
  notification_arns       = length(var.notification_arns) == 0 ? null : var.notification_arns
  log_level               = var.log_level
  log_retention_days      = var.log_retention_days
  tags                    = var.tags
}

# Every minute: goes on with what was interrupted, and sees what events missed.
resource "hadr_function" "watch" {
  count = var.watch ? 1 : 0

  name                 = "${var.name}-watch"
  kind                 = "watch"
  architecture         = var.architecture
  table_arn            = hadr_state_table.this.arn
  table_kms_key_arn    = var.table_kms_key_arn
  groups               = [hadr_group.this.name]
  instance_ids         = [for n in var.nodes : n.instance_id]
  volume_kms_key_arns  = length(var.volume_kms_key_arns) == 0 ? null : var.volume_kms_key_arns
  checker_instance_ids = length(var.path_checkers) == 0 ? null : values(var.path_checkers)
  route_table_ids      = var.route_table_ids

  isolation_security_group_id = var.isolation_security_group_id
  network_interface_ids       = var.isolation_security_group_id == null ? null : [for n in var.nodes : n.network_interface_id]

  document_names          = local.function_documents
  failure_destination_arn = var.failure_destination_arn
  notification_arns       = length(var.notification_arns) == 0 ? null : var.notification_arns
  log_level               = var.log_level
  log_retention_days      = var.log_retention_days
  tags                    = var.tags
}

# It begins when the routes are there: a look before would repair what is only
# being made.
resource "hadr_schedule" "watch" {
  count = var.watch ? 1 : 0

  name         = "${var.name}-watch"
  function_arn = hadr_function.watch[0].arn

  depends_on = [hadr_vip_route.this]
}

resource "hadr_group" "this" {
  name              = var.name
  table_name        = hadr_state_table.this.name
  policy            = var.policy
  fencing           = local.fencing
  host_applications = var.host_applications
  notification_arns = length(var.notification_arns) == 0 ? null : var.notification_arns

  isolation_security_group_id = var.isolation_security_group_id

  preferred_primary     = var.preferred_primary
  verify_on_create      = var.verify_on_create
  max_detection_seconds = local.max_detection_seconds

  postgresql = {
    replication_mode     = var.postgresql.replication_mode
    data_directory       = var.postgresql.data_directory
    bin_directory        = var.postgresql.bin_directory
    addresses            = coalesce(var.addresses, { for id, n in var.nodes : id => n.private_ip })
    owner                = var.postgresql.owner
    port                 = var.port
    socket_directory     = var.postgresql.socket_directory
    config_file          = var.postgresql.config_file
    replication_user     = var.postgresql.replication_user
    database             = var.postgresql.database
    sslmode              = var.postgresql.sslmode
    sync_window_seconds  = var.postgresql.replication_mode == "sync" ? var.postgresql.sync_window_seconds : null
    max_rpo_seconds      = var.postgresql.max_rpo_seconds
    max_lag_bytes        = var.postgresql.max_lag_bytes
    rejoin_limit_seconds = var.postgresql.rejoin_limit_seconds
    status_document      = hadr_command_document.this["postgresql_status"].name
    promote_document     = hadr_command_document.this["postgresql_promote"].name
    demote_document      = hadr_command_document.this["postgresql_demote"].name
    path_check_document  = hadr_command_document.this["path_check"].name
    start_document       = hadr_command_document.this["postgresql_start"].name
    rejoin_document      = hadr_command_document.this["postgresql_rejoin"].name
    document_versions    = { for kind, d in hadr_command_document.this : kind => d.document_version }
  }

  nodes = {
    for id, n in var.nodes : id => {
      instance_id          = n.instance_id
      network_interface_id = n.network_interface_id
      availability_zone    = n.availability_zone
      region               = var.region
      failure_alarm_arns   = [hadr_composite_alarm.failed[id].arn]
    }
  }

  endpoint = {
    vip             = var.vip
    port            = var.port
    route_table_ids = var.route_table_ids
    path_checkers   = length(var.path_checkers) == 0 ? null : var.path_checkers
  }

  # What the plan holds against max_detection_seconds. Both nodes have the same
  # alarms, of which one is enough. A lease only makes it faster.
  detection = {
    alarms = [
      hadr_metric_alarm.latency[var.preferred_primary],
      hadr_metric_alarm.silent[var.preferred_primary],
      hadr_metric_alarm.process[var.preferred_primary],
      hadr_metric_alarm.status[var.preferred_primary],
    ]
    probe = hadr_sql_latency_metric.this[var.preferred_primary]
  }

  timing = {
    latency_threshold_seconds = ceil(var.latency_threshold_milliseconds / 1000)
  }
}

resource "hadr_vip_route" "this" {
  vip                            = var.vip
  route_table_ids                = var.route_table_ids
  network_interface_ids          = [for n in var.nodes : n.network_interface_id]
  preferred_network_interface_id = var.nodes[var.preferred_primary].network_interface_id
  table_name                     = hadr_state_table.this.name
  group                          = hadr_group.this.name
}
