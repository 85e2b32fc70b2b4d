package provider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

const db2Block = `(?s)  db2 = \{.*?\n  \}\n`

// postgresqlGroup is the group of the other tests with another engine. The
// attributes of changes stand instead of those that a pair usually has.
func (a *testAWS) postgresqlGroup(changes map[string]string, change func(*groupConfig)) string {
	attributes := map[string]string{
		"replication_mode": `"sync"`, "data_directory": `"/var/lib/postgresql/15/main"`, "bin_directory": `"/usr/lib/postgresql/15/bin"`,
		"addresses": `{ a = "10.0.1.10", b = "10.0.2.10:5433" }`, "status_document": `"hadr-status"`, "promote_document": `"hadr-promote"`, "path_check_document": `"hadr-path-check"`,
	}
	for name, value := range changes {
		attributes[name] = value
	}
	block := "  postgresql = {\n"
	for _, name := range sortedKeys(attributes) {
		block += "    " + name + " = " + attributes[name] + "\n"
	}
	return regexp.MustCompile(db2Block).ReplaceAllString(a.group(change), block+"  }\n")
}

// The record has what the engine, the agents and an operation need; a change of
// the engine is another group.
func TestPostgreSQLGroup(t *testing.T) {
	a := startAWS(t).build(t)
	const name = "hadr_group.this"
	full := a.postgresqlGroup(map[string]string{
		"replication_mode": `"async"`, "max_rpo_seconds": "600", "max_lag_bytes": "1048576", "rejoin_limit_seconds": "120", "port": "5433", "owner": `"pg-orders"`,
		"demote_document": `"hadr-demote"`, "document_versions": `{ postgresql_promote = "3", path_check = "1" }`,
	}, nil)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config: full,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(name, tfjsonpath.New("active_primary"), knownvalue.StringExact("a")),
					statecheck.ExpectKnownValue(name, tfjsonpath.New("db2"), knownvalue.Null()),
				},
			},
			{ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"verify_on_create"}},
			{
				PreConfig: func() {
					c, err := a.record("hadr").ReadConfig(t.Context(), "orders")
					must(t, err)
					for setting, want := range map[string]string{
						"replication_mode": "async", "max_rpo_seconds": "600", "address_b": "10.0.2.10:5433", "promote_document_version": "3", "path_check_document_version": "1", "port": "5433",
					} {
						if c.Settings[setting] != want {
							t.Errorf("setting %s = %q, want %q", setting, c.Settings[setting], want)
						}
					}
					if c.Engine != "postgresql" || !strings.HasSuffix(c.Settings[settingTable], ":table/hadr") {
						t.Errorf("engine %q, settings %v", c.Engine, c.Settings)
					}
				},
				Config: a.postgresqlGroup(nil, nil),
			},
		},
	})
}

func TestPostgreSQLGroupRefuses(t *testing.T) {
	automatic := func(c *groupConfig) { c.Policy = "automatic" }
	strip := func(config, attribute string) string {
		return regexp.MustCompile(`(?m)^\s+`+attribute+` .*\n`).ReplaceAllString(config, "")
	}
	a := startAWS(t).build(t)
	tests := map[string]struct{ config, want string }{
		"no engine":                  {regexp.MustCompile(db2Block).ReplaceAllString(a.group(nil), ""), `(?s)Exactly\s+one\s+of\s+these\s+attributes.*db2,\s*postgresql`},
		"two engines":                {strings.Replace(a.group(nil), "  nodes = {", "  postgresql = { replication_mode = \"sync\", data_directory = \"/d\", bin_directory = \"/b\", addresses = { a = \"x\", b = \"y\" }, status_document = \"hadr-s\", promote_document = \"hadr-p\", path_check_document = \"hadr-c\" }\n  nodes = {", 1), `Exactly\s+one\s+of\s+these\s+attributes`},
		"mode":                       {a.postgresqlGroup(map[string]string{"replication_mode": `"semi"`}, nil), `(?s)postgresql\.replication_mode.*semi`},
		"async without RPO":          {a.postgresqlGroup(map[string]string{"replication_mode": `"async"`}, automatic), `(?s)max_rpo_seconds\s+does\s+not\s+say\s+how\s+many.*Set\s+max_rpo_seconds`},
		"a window that is too short": {a.postgresqlGroup(map[string]string{"sync_window_seconds": "120"}, automatic), `(?s)needs\s+367\s+s.*Declare\s+at\s+least\s+367`},
		"an RPO that is too short":   {a.postgresqlGroup(map[string]string{"replication_mode": `"async"`, "max_rpo_seconds": "30"}, automatic), `does\s+not\s+fit\s+into\s+max_rpo_seconds`},
		"async with peer_window":     {a.postgresqlGroup(map[string]string{"replication_mode": `"async"`, "max_rpo_seconds": "600"}, func(c *groupConfig) { c.Extra = `fencing = "peer_window"` }), `(?s)asynchronous\s+primary\s+waits\s+for\s+nobody.*Set\s+fencing\s+to\s+strict`},
		"an address of no node":      {a.postgresqlGroup(map[string]string{"addresses": `{ a = "10.0.1.10", c = "10.0.2.10" }`}, nil), `(?s)addresses\s+names\s+"c",\s+but\s+the\s+nodes\s+are\s+a\s+and\s+b`},
		"a relative path":            {a.postgresqlGroup(map[string]string{"data_directory": `"main"`}, nil), `(?s)data_directory.*absolute\s+path`},
		"a rejoin without an end":    {a.postgresqlGroup(map[string]string{"rejoin_limit_seconds": "3600"}, nil), `(?s)rejoin_limit_seconds.*between\s+10\s+and\s+600`},
		"a document of Db2":          {a.postgresqlGroup(map[string]string{"document_versions": `{ db2_takeover = "1" }`}, nil), `(?s)document_versions.*postgresql_promote`},
		"no way to promote":          {strip(a.postgresqlGroup(nil, nil), "promote_document"), `promote_document`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps:                    []resource.TestStep{{Config: tt.config, PlanOnly: true, ExpectError: regexp.MustCompile(tt.want)}},
			})
		})
	}
}
