// Package statetable keeps the record of all groups of a control plane in one
// DynamoDB table: who is primary in which epoch, what is going on, what was
// seen, and what happened.
//
// # Schema
//
// The table has the string keys pk and sk. All other attributes are flat and
// typed, so that a person can read them, and toggle maintenance, in the
// console. Times are RFC 3339 strings (S) in UTC, durations are numbers (N) of
// seconds in attributes that end in _seconds. A number stands beside or in
// place of a time only where a condition compares it. Empty values are left
// out; attributes that are not listed here are left alone.
//
//	pk                     sk             owner          attributes
//	GROUP#<group>          CONFIG         Terraform      engine, settings, nodes, preferred, vip, port, routes,
//	                                                     checkers, policy, fencing, ..._seconds
//	GROUP#<group>          STATE          control plane  epoch (N), primary (S), phase (S), version (N), write_token (S),
//	                                                     operation (M), fenced (M: node -> epoch, method, groups, at,
//	                                                     confirmed), cooldown_until (S), changed_at (S),
//	                                                     refused_guard (S), refused_at (S), ended (S: operation),
//	                                                     maintenance (BOOL), maintenance_until (N: seconds since
//	                                                     1970-01-01 UTC), maintenance_reason (S)
//	GROUP#<group>          PROBE#<node>   Terraform      namespace, metric, interval_seconds, timeout_seconds,
//	                                                     threshold_seconds, sentinel_seconds, lease_duration_seconds,
//	                                                     lease_interval_seconds, function
//	GROUP#<group>          NODE#<node>    agent, watch   observation of a node; read_at (S), read_at_ms (N)
//	GROUP#<group>          LEASE          agent          holder, epoch (N), counter (N), waiting_for_standby (BOOL),
//	                                                     slow (BOOL), suspended (S: why), sealed (BOOL), sealed_by, sealed_at
//	GROUP#<group>          ALARM#<arn>    Terraform      node: the alarms of a group
//	GROUP#<group>          OP#<ulid>#<n>  control plane  history, append-only
//	ALARM#<arn>            BINDING        Terraform      group, node: whose alarm it is (R1)
//	SEEN#<arn>#<time>      SEEN           control plane  operation_id, expires_at (N: seconds since 1970-01-01 UTC)
//	UNKNOWN                <ulid>         control plane  events of nobody, payload
//
// STATE is only ever changed by UpdateItem on the attributes of its writer,
// under the condition that version, epoch, phase and primary are what the
// writer read (R11). The maintenance attributes belong to people: neither
// Claim nor Save writes them, and whoever sets them does not touch version.
// write_token names the write itself, so that a lost response, and a write
// that the SDK repeated, can be told from the write of somebody else.
//
// Every read is strongly consistent.
package statetable
