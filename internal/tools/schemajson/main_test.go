package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestRunPrintsEveryResource(t *testing.T) {
	var b bytes.Buffer
	if err := run(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	var out struct {
		ProviderSchemas map[string]struct {
			ResourceSchemas map[string]struct {
				Block struct {
					Attributes map[string]struct {
						Type       json.RawMessage `json:"type"`
						NestedType *struct {
							NestingMode string `json:"nesting_mode"`
						} `json:"nested_type"`
					} `json:"attributes"`
				} `json:"block"`
			} `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	group, ok := out.ProviderSchemas[address].ResourceSchemas["hadr_group"]
	if !ok {
		t.Fatal("hadr_group is missing")
	}
	var roles bytes.Buffer
	if err := json.Compact(&roles, group.Block.Attributes["roles"].Type); err != nil || roles.String() != `["map","string"]` {
		t.Errorf("roles has type %s (%v)", roles.String(), err)
	}
	if n := group.Block.Attributes["nodes"].NestedType; n == nil || n.NestingMode != "map" {
		t.Errorf("nodes is nested as %+v, want map", n)
	}
}
