package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

// Every variable and output is described, and the README says what the module
// has.
func TestModulesAreDescribed(t *testing.T) {
	dirs, err := filepath.Glob("../../../modules/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no modules (%v)", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			m, diags := tfconfig.LoadModule(dir)
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			tables, err := render(m)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := splice(string(text), tables)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, string(text)); d != "" {
				t.Errorf("README.md is out of date, run `make generate` (-want +got):\n%s", d)
			}
			for name := range m.RequiredProviders {
				if name != "hadr" {
					t.Errorf("the module needs the provider %s, too", name)
				}
			}
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	tests := map[string]*tfconfig.Module{
		"variable x needs a description": {Variables: map[string]*tfconfig.Variable{"x": {Name: "x", Type: "string"}}},
		"output y needs a description":   {Outputs: map[string]*tfconfig.Output{"y": {Name: "y"}}},
	}
	for want, m := range tests {
		if _, err := render(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("render: %v, want %q", err, want)
		}
	}
}

func TestSpliceNeedsMarkers(t *testing.T) {
	if _, err := splice("# Module\n", "tables"); err == nil {
		t.Error("a README without markers was accepted")
	}
}
