package provider

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/budget"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// engineBlock is an attribute of hadr_group that declares an engine and its
// settings. Its name is the engine's.
type engineBlock struct {
	name   string
	types  map[string]attr.Type // of its attributes, which are settings on the record
	budget []string             // attributes that the timing is judged by
	judge  func(c failover.Config, detection time.Duration) ([]budget.Finding, error)
}

var engineBlocks = []engineBlock{
	{name: engine.Db2, types: db2Type, budget: []string{"syncmode", "peer_window_seconds", "hadr_timeout_seconds"}, judge: judgeDb2},
	{name: engine.PostgreSQL, types: postgresqlType, judge: judgePostgreSQL, budget: []string{
		"replication_mode", "data_directory", "bin_directory", "owner", "port", "socket_directory", "config_file", "replication_user", "database", "sslmode",
		"sync_window_seconds", "max_rpo_seconds", "max_lag_bytes", "rejoin_limit_seconds",
	}},
}

const (
	// documentVersions is the attribute with the versions of documents by their
	// kinds. Each is a setting of its own on the record.
	documentVersions = "document_versions"
	// addresses is the attribute with an address for each node. Each is a setting
	// of its own, too.
	addresses     = "addresses"
	addressPrefix = "address_"
)

func versionSetting(kind string) string { return documents[kind].kind + "_document_version" }

// block is where the model keeps an engine's attribute.
func (m *groupModel) block(name string) *types.Object {
	if name == engine.PostgreSQL {
		return &m.PostgreSQL
	}
	return &m.Db2
}

// engine is the one that is declared; the validators see to it that it is one.
func (m groupModel) engine() engineBlock {
	for _, b := range engineBlocks {
		if !m.block(b.name).IsNull() {
			return b
		}
	}
	return engineBlocks[0]
}

// settings are those of the declared engine, as the record has them.
func (m groupModel) settings(ctx context.Context, diags *diag.Diagnostics) map[string]string {
	settings := map[string]string{}
	for name, v := range m.block(m.engine().name).Attributes() {
		many, is := v.(types.Map)
		switch {
		case !is && !v.IsNull():
			settings[name] = settingText(v)
		case !is || hasUnknownValue(many.Elements()): // such as versions until the documents exist
		default:
			for key, value := range goMap(ctx, many, diags) {
				settings[entrySetting(name, key)] = value
			}
		}
	}
	return settings
}

// entrySetting is the setting for an entry of an attribute that is a map.
func entrySetting(attribute, key string) string {
	if attribute == documentVersions {
		return versionSetting(key)
	}
	return addressPrefix + key
}

func settingText(v attr.Value) string {
	switch v := v.(type) {
	case types.String:
		return v.ValueString()
	case types.Int64:
		return int64text(v.ValueInt64())
	}
	return ""
}

// flattenEngine fills in the attribute of the engine that is on the record.
func (m *groupModel) flattenEngine(c failover.Config, diags *diag.Diagnostics) {
	for _, b := range engineBlocks {
		*m.block(b.name) = types.ObjectNull(b.types)
		if b.name != c.Engine {
			continue
		}
		o, d := types.ObjectValue(b.types, b.values(c.Settings))
		diags.Append(d...)
		*m.block(b.name) = o
	}
}

func (b engineBlock) values(settings map[string]string) map[string]attr.Value {
	values := map[string]attr.Value{}
	for name, kind := range b.types {
		text := settings[name]
		switch {
		case name == documentVersions:
			values[name] = tfMap(b.versions(settings))
		case name == addresses:
			values[name] = tfMap(addressesOf(settings))
		case kind != attr.Type(types.Int64Type):
			values[name] = tfString(&text)
		default:
			n, err := strconv.ParseInt(text, 10, 64)
			values[name] = types.Int64Value(n)
			if err != nil {
				values[name] = types.Int64Null() // the plan writes it anew
			}
		}
	}
	return values
}

func (b engineBlock) versions(settings map[string]string) map[string]string {
	versions := map[string]string{}
	for _, kind := range documentKindsOf(b.name) {
		if v := settings[versionSetting(kind)]; v != "" {
			versions[kind] = v
		}
	}
	return versions
}

func addressesOf(settings map[string]string) map[string]string {
	found := map[string]string{}
	for name, value := range settings {
		if node, ok := strings.CutPrefix(name, addressPrefix); ok {
			found[node] = value
		}
	}
	return found
}
