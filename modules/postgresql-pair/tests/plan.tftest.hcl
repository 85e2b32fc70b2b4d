mock_provider "hadr" {
  mock_resource "hadr_state_table" {
    defaults = { arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr-orders" }
  }
  mock_resource "hadr_cloudwatch_agent_config" {
    defaults = { arn = "arn:aws:ssm:eu-central-1:123456789012:parameter/AmazonCloudWatch-hadr-orders" }
  }
  mock_resource "hadr_function" {
    defaults = { arn = "arn:aws:lambda:eu-central-1:123456789012:function:orders-takeover" }
  }
  mock_resource "hadr_composite_alarm" {
    defaults = { arn = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-a-failed" }
  }
}

variables {
  name                       = "orders"
  region                     = "eu-central-1"
  vpc_cidr                   = "10.20.0.0/16"
  route_table_ids            = ["rtb-0aaaaaaaaaaaaaaaa", "rtb-0bbbbbbbbbbbbbbbb"]
  instance_profile_role_name = "hadr-db-host"
  vip                        = "192.168.77.10"
  postgresql                 = { data_directory = "/var/lib/postgresql/15/main", bin_directory = "/usr/lib/postgresql/15/bin" }
  nodes = {
    a = { instance_id = "i-0aaaaaaaaaaaaaaaa", network_interface_id = "eni-0aaaaaaaaaaaaaaaa", private_ip = "10.20.1.10" }
    b = { instance_id = "i-0bbbbbbbbbbbbbbbb", network_interface_id = "eni-0bbbbbbbbbbbbbbbb", private_ip = "10.20.2.10" }
  }
}

run "four_alarms_per_node" {
  command = plan

  assert {
    condition     = hadr_composite_alarm.failed["a"].alarm_rule == "ALARM(\"orders-a-latency\") OR ALARM(\"orders-a-silent\") OR ALARM(\"orders-a-process\") OR ALARM(\"orders-a-status\")"
    error_message = "The composite alarm of node a must watch its four alarms."
  }
  assert {
    condition     = hadr_metric_alarm.silent["b"].expression == "FILL(m1, 0)" && hadr_metric_alarm.silent["b"].treat_missing_data == "breaching"
    error_message = "Silence must count as no samples."
  }
  assert {
    condition     = hadr_function.takeover.alarm_names == toset(["orders-a-failed", "orders-b-failed"])
    error_message = "Only the two composite alarms may invoke the function."
  }
}

run "lease_by_default" {
  command = plan

  assert {
    condition     = hadr_sql_latency_metric.this["a"].lease.duration_seconds == 20 && hadr_sql_latency_metric.this["b"].lease.interval_seconds == 5 && hadr_sql_latency_metric.this["a"].lease.function == "orders-takeover"
    error_message = "Both agents must keep the same lease, and report to the takeover function."
  }
  assert {
    condition     = hadr_group.this.fencing == "peer_window"
    error_message = "With agents on both hosts a takeover must not wait until the old primary is stopped."
  }
}

run "cloudwatch_agent_counts_what_the_alarm_watches" {
  command = plan

  assert {
    condition     = hadr_cloudwatch_agent_config.this.name == "AmazonCloudWatch-hadr-orders" && hadr_cloudwatch_agent_config.this.processes == toset(["^postgres$"])
    error_message = "The CloudWatch agent must count postgres, under a name that its managed policy allows."
  }
  assert {
    condition     = hadr_metric_alarm.process["a"].dimensions == tomap({ InstanceId = "i-0aaaaaaaaaaaaaaaa" })
    error_message = "The alarm must watch the count of its host."
  }
}

run "hosts_without_an_agent" {
  command = plan
  variables {
    lease = null
  }
  assert {
    condition     = hadr_sql_latency_metric.this["a"].lease == null && hadr_host_policy.this.function_arn == null
    error_message = "Without a lease no host may invoke the function."
  }
  assert {
    condition     = hadr_group.this.fencing == "strict"
    error_message = "Where no agent vouches for the old primary, it must be stopped first."
  }
}

run "applications_on_the_hosts" {
  command = plan
  variables {
    host_applications = true
  }
  assert {
    condition     = hadr_group.this.fencing == "strict"
    error_message = "Clients that stay with the old primary want it stopped first."
  }
}

run "strict_if_asked" {
  command = plan
  variables {
    fencing = "strict"
  }
  assert {
    condition     = hadr_group.this.fencing == "strict"
    error_message = "The declared fencing must hold."
  }
}

run "plain_sample_count_is_slower" {
  command = plan
  variables {
    fill_missing_samples = false
  }
  assert {
    condition     = hadr_metric_alarm.silent["a"].expression == null && hadr_group.this.max_detection_seconds == 410
    error_message = "Without FILL the group must be told of the longer detection."
  }
}

run "tells_the_group_its_alarms" {
  command = plan

  assert {
    condition     = [for a in hadr_group.this.detection.alarms : a.name] == ["orders-a-latency", "orders-a-silent", "orders-a-process", "orders-a-status"]
    error_message = "The group must know the alarms whose worst case it checks."
  }
}

run "looks_every_minute" {
  command = plan

  assert {
    condition     = hadr_schedule.watch[0].name == "orders-watch" && hadr_function.watch[0].kind == "watch"
    error_message = "A schedule must invoke the watch function."
  }
  assert {
    condition     = hadr_function.watch[0].groups == toset(["orders"])
    error_message = "The watch function must look at the group."
  }
}

run "without_watch" {
  command = plan
  variables {
    watch = false
  }
  assert {
    condition     = length(hadr_schedule.watch) == 0 && length(hadr_function.watch) == 0
    error_message = "Without watch there is neither function nor schedule."
  }
}

run "address_inside_the_vpc" {
  command = plan
  variables {
    vip = "10.20.9.9"
  }
  expect_failures = [var.vip]
}

run "three_nodes" {
  command = plan
  variables {
    nodes = {
      a = { instance_id = "i-0aaaaaaaaaaaaaaaa", network_interface_id = "eni-0aaaaaaaaaaaaaaaa", private_ip = "10.20.1.10" }
      b = { instance_id = "i-0bbbbbbbbbbbbbbbb", network_interface_id = "eni-0bbbbbbbbbbbbbbbb", private_ip = "10.20.2.10" }
      c = { instance_id = "i-0cccccccccccccccc", network_interface_id = "eni-0cccccccccccccccc" }
    }
  }
  expect_failures = [var.nodes]
}

run "tells_where_the_other_node_is" {
  command = plan

  assert {
    condition     = hadr_group.this.postgresql.addresses == tomap({ a = "10.20.1.10", b = "10.20.2.10" }) && hadr_group.this.postgresql.sync_window_seconds == 420
    error_message = "Each node must know the address of the other one, and for how long its proof is good."
  }
}

run "asynchronous" {
  command = plan
  variables {
    postgresql = { replication_mode = "async", max_rpo_seconds = 600, data_directory = "/var/lib/postgresql/15/main", bin_directory = "/usr/lib/postgresql/15/bin" }
    lease      = { self_fencing = true }
  }
  assert {
    condition     = hadr_group.this.postgresql.max_rpo_seconds == 600 && hadr_group.this.postgresql.sync_window_seconds == null && hadr_group.this.fencing == "strict" && hadr_sql_latency_metric.this["a"].lease.self_fencing
    error_message = "An asynchronous pair has an RPO instead of a window, waits for the stop, and may fence itself."
  }
}

run "no_function_stops_a_primary_in_order" {
  command = plan

  assert {
    condition     = !contains(hadr_function.takeover.document_names, "orders-demote") && contains(hadr_function.takeover.document_names, "orders-promote")
    error_message = "Changing roles in order is for people."
  }
}

run "customer_managed_keys" {
  command = plan
  variables {
    table_kms_key_arn   = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"
    volume_kms_key_arns = ["arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000002"]
  }
  assert {
    condition = alltrue([
      for key in [hadr_state_table.this.kms_key_arn, hadr_host_policy.this.table_kms_key_arn, hadr_function.takeover.table_kms_key_arn, hadr_function.watch[0].table_kms_key_arn] :
      key == var.table_kms_key_arn
    ])
    error_message = "Whoever uses the table must be allowed to use its key."
  }
  assert {
    condition     = alltrue([for f in [hadr_function.takeover, hadr_function.watch[0]] : f.volume_kms_key_arns == toset(var.volume_kms_key_arns)])
    error_message = "A function that starts a node must be allowed to use the keys of its volumes."
  }
}
