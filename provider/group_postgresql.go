package provider

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/budget"
	ssmdocument "github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// postgresqlType are the attributes of `postgresql`.
var postgresqlType = map[string]attr.Type{
	"replication_mode": types.StringType, "data_directory": types.StringType, "bin_directory": types.StringType, addresses: stringMap,
	"owner": types.StringType, "port": types.Int64Type, "socket_directory": types.StringType, "config_file": types.StringType,
	"replication_user": types.StringType, "database": types.StringType, "sslmode": types.StringType,
	"sync_window_seconds": types.Int64Type, "max_rpo_seconds": types.Int64Type, "max_lag_bytes": types.Int64Type, "rejoin_limit_seconds": types.Int64Type,
	"status_document": types.StringType, "promote_document": types.StringType, "path_check_document": types.StringType,
	"demote_document": types.StringType, "start_document": types.StringType, "rejoin_document": types.StringType,
	documentVersions: stringMap,
}

var (
	absolutePath = stringvalidator.RegexMatches(regexp.MustCompile(`^/[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}$`), "must be an absolute path of letters, digits, dots, hyphens, underscores and slashes")
	hostAddress  = stringvalidator.RegexMatches(regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[1-9][0-9]{0,4})?$`), "must be a host name or an IPv4 address, with a port where that is not `port`")
	serverOwner  = stringvalidator.RegexMatches(regexp.MustCompile(ssmdocument.Owner.Pattern), "must be a user of the operating system: 1 to 32 lower-case letters, digits, hyphens and underscores, not beginning with a digit or a hyphen")
	lowerName    = stringvalidator.RegexMatches(regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`), "must have lower-case letters, digits and underscores")
)

func postgresqlSchema() schema.SingleNestedAttribute {
	text := func(description string, checks ...validator.String) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Validators: checks, MarkdownDescription: description}
	}
	required := func(description string, checks ...validator.String) schema.StringAttribute {
		return schema.StringAttribute{Required: true, Validators: checks, MarkdownDescription: description}
	}
	number := func(least, most int64, description string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.Between(least, most)}, MarkdownDescription: description}
	}
	return schema.SingleNestedAttribute{Optional: true, PlanModifiers: sameEngine(),
		MarkdownDescription: "PostgreSQL, 13 or newer, with streaming replication to one standby, instead of `db2`. Both nodes have the same paths, port and owner. See the guide [PostgreSQL](../guides/postgresql.md).",
		Attributes: map[string]schema.Attribute{
			"replication_mode": required("`sync`: a commit is acknowledged once the standby has it on disk, and a takeover loses none. `async`: it is acknowledged before, and a takeover loses at most `max_rpo_seconds` of commits.",
				stringvalidator.OneOf(string(postgresql.Sync), string(postgresql.Async))),
			"data_directory": required("Data directory of the server.", absolutePath),
			"bin_directory":  required("Directory of `pg_ctl`, `psql`, `pg_rewind` and their like, such as `/usr/lib/postgresql/15/bin`.", absolutePath),
			addresses: schema.MapAttribute{Required: true, ElementType: types.StringType,
				Validators:          []validator.Map{mapvalidator.SizeBetween(2, 2), mapvalidator.KeysAre(nodeName), mapvalidator.ValueStringsAre(hostAddress)},
				MarkdownDescription: "Where each node reaches the server of the other one: node id to `HOST` or `HOST:PORT`."},
			"owner":            text("Operating system user who owns the server. Default: `postgres`.", serverOwner),
			"port":             number(1, 65535, "TCP port of the server. Default: 5432."),
			"socket_directory": text("Directory of the server's Unix socket. Default: `/var/run/postgresql`.", absolutePath),
			"config_file":      text("Path of a `postgresql.conf` outside of the data directory.", absolutePath),
			"replication_user": text("Role that replicates, rewinds and probes. Default: `hadr`.", lowerName),
			"database":         text("Database of the probe's table. Default: `postgres`.", lowerName),
			"sslmode": text("`sslmode` of the connections between the nodes. Default: `prefer`.",
				stringvalidator.OneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full")),
			"sync_window_seconds":  number(1, 86400, "`sync`: for how long a standby trusts that its primary waits for it, once it does not hear it any more. A takeover must begin before. Default: 420."),
			"max_rpo_seconds":      number(1, 86400, "`async`: how many seconds of acknowledged commits a takeover may lose. Beyond that it is refused. Required there."),
			"max_lag_bytes":        number(1, 1<<50, "`async`: how many bytes of the log the standby may have lacked when it heard its primary last. Default: 16777216."),
			"rejoin_limit_seconds": number(10, 600, "For how long `pg_rewind` may run when an old primary comes back. It is killed then, and the node needs a reseed. Default: 300."),
			"status_document":      documentAttribute("postgresql_status"),
			"promote_document":     documentAttribute("postgresql_promote"),
			"path_check_document":  documentAttribute(pathCheck),
			"demote_document":      text("Name of the `hadr_command_document` of kind `postgresql_demote`, with which `hadr switchover` changes the roles in order. No function may run it.", documentName),
			"start_document":       text("Name of the `hadr_command_document` of kind `postgresql_start`. With it a primary whose server is down for certain is started in place where its standby cannot take over.", documentName),
			"rejoin_document":      text("Name of the `hadr_command_document` of kind `postgresql_rejoin`, with which `hadr rejoin` brings an old primary back as standby.", documentName),
			documentVersions:       versionsAttribute(engine.PostgreSQL),
		}}
}

// judgePostgreSQL compares what a takeover needs with how long the standby can
// prove what it has.
func judgePostgreSQL(c failover.Config, detection time.Duration) ([]budget.Finding, error) {
	s, err := postgresql.ParseSettings(c.Settings)
	if err != nil {
		return nil, err
	}
	return postgresql.CheckSettings(s, c.Policy, postgresql.Timing{
		Detection: detection, Fencing: c.Fencing, FenceTimeout: c.FenceTimeout, ClockOffset: c.MaxClockOffset,
	}), nil
}

// validatePostgreSQL checks what the attributes of `postgresql` say together.
func (m groupModel) validatePostgreSQL(context.Context) (diags diag.Diagnostics) {
	if m.PostgreSQL.IsNull() || m.PostgreSQL.IsUnknown() {
		return nil
	}
	at := path.Root(engine.PostgreSQL)
	problem := func(attribute path.Path, cause, next string) {
		diags.Append(diagnose.Problem{Tried: "checking group", Object: m.Name.ValueString(), Cause: cause, Next: next}.ErrorAt(attribute))
	}
	values := m.PostgreSQL.Attributes()
	async := values["replication_mode"].Equal(types.StringValue(string(postgresql.Async)))
	if async && values["max_rpo_seconds"].IsNull() {
		problem(at.AtName("max_rpo_seconds"), "replication_mode is async, so that a standby lacks the newest commits, and max_rpo_seconds does not say how many of them may be lost",
			"Set max_rpo_seconds, such as 420, or replication_mode = \"sync\"")
	}
	if async && m.Fencing.ValueString() == string(failover.PeerWindow) {
		problem(path.Root("fencing"), "fencing is peer_window, but an asynchronous primary waits for nobody: until it is stopped it may acknowledge commits that the new one lacks",
			"Set fencing to strict, which promotes once the old primary is stopped")
	}
	declared, ok := values[addresses].(types.Map)
	if !ok || declared.IsUnknown() || m.Nodes.IsUnknown() {
		return diags
	}
	nodes := slices.Sorted(maps.Keys(m.Nodes.Elements()))
	for _, id := range slices.Sorted(maps.Keys(declared.Elements())) {
		if !slices.Contains(nodes, id) {
			problem(at.AtName(addresses).AtMapKey(id), fmt.Sprintf("addresses names %q, but the nodes are %s", id, strings.Join(nodes, " and ")), "Give one address for each node, under its id")
		}
	}
	return diags
}
