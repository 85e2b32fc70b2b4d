package postgresql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What people are told of outputs that real servers gave.
func TestExplain(t *testing.T) {
	tests := []struct {
		file, node string
		change     map[string]string
		says       []string
	}{
		{"standby", "b", nil, []string{"role:       standby", "streaming", "it may be promoted: no acknowledged commit is lost", "left, until"}},
		{"standby", "b", map[string]string{"replication_mode": "async", "max_rpo_seconds": "600"}, []string{"it may be promoted: acknowledged commits of at most"}},
		{"down", "a", nil, []string{"role:       primary", "no_server", "it may not be promoted: its server does not run", "pg_ctl start"}},
		{"frozen", "a", nil, []string{"not read:", "the server runs and gives no answer"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			output, err := os.ReadFile(filepath.Join("testdata", tt.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			x, err := Explain(string(output), tt.node, declared(tt.change))
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := x.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.says {
				if !strings.Contains(b.String(), want) {
					t.Errorf("explained as\n%swant %q", b.String(), want)
				}
			}
		})
	}
	if x, err := Explain("=== hadr host_time\n1", "a", declared(nil)); err != nil || x.OK || !strings.Contains(x.Error, "not complete") || x.Next == "" {
		t.Errorf("half an output: %+v, %v", x, err)
	}
	if _, err := Explain("", "a", nil); err == nil {
		t.Error("explained without settings")
	}
}
