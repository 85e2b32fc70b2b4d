package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const samples = "../../internal/engine/db2/testdata"

// explained runs hadr explain.
func explained(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	cmd := root()
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"explain"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestExplainCountsFromNow(t *testing.T) {
	file := filepath.Join(samples, "db2pd", "s03-standby-disconnected-peer-in-window.txt")
	for now, want := range map[string]float64{"2026-03-02T10:00:00Z": 220, "2026-03-02T11:03:35.5+01:00": 4.5} {
		out, err := explained(t, "", "db2pd", file, "--json", "--now", now)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Databases []struct {
				Blocks []struct {
					Left float64 `json:"seconds_to_peer_window_end"`
					Open bool    `json:"peer_window_takeover_possible"`
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if b := got.Databases[0].Blocks[0]; b.Left != want || b.Open != (want >= 5) {
			t.Errorf("at %s: %+v, want %g s", now, b, want)
		}
	}
}

func TestExplainReadsStandardInput(t *testing.T) {
	reply, err := os.ReadFile(filepath.Join(samples, "clp", "c16-sql1770n-rc9.txt"))
	if err != nil {
		t.Fatal(err)
	}
	piped, err := explained(t, string(reply), "clp", "-")
	if err != nil {
		t.Fatal(err)
	}
	read, err := explained(t, "", "clp", filepath.Join(samples, "clp", "c16-sql1770n-rc9.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read, piped); diff != "" || !strings.Contains(piped, "reason code  9") {
		t.Errorf("file and standard input (-file +input):\n%s", diff)
	}
}

func TestExplainConfiguration(t *testing.T) {
	out, err := explained(t, "", "clp", filepath.Join(samples, "clp", "g03-db-cfg-standard.txt"))
	if err != nil || !strings.Contains(out, "STANDARD") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestExplainRejectsWhatIsNoOutput(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(samples, "db2pd", "s01-standby-peer-normal.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		input string
		args  []string
		says  string
	}{
		"empty":            {"", []string{"db2pd", "-"}, "empty_output"},
		"truncated":        {string(whole[:400]), []string{"db2pd", "-"}, "incomplete_output"},
		"something else":   {"bash: db2pd: command not found", []string{"db2pd", "-"}, "incomplete_output"},
		"binary":           {"\x7fELF\x02\x01\x01\x00", []string{"db2pd", "-"}, "not text"},
		"binary reply":     {"S\x00Q\x00L\x00", []string{"clp", "-"}, "not text"},
		"huge":             {strings.Repeat("x", explainLimit+1), []string{"db2pd", "-"}, "larger than 4 MiB"},
		"huge reply":       {strings.Repeat("x", explainLimit+1), []string{"clp", "-"}, "larger than 4 MiB"},
		"missing":          {"", []string{"clp", filepath.Join(t.TempDir(), "none.txt")}, "none.txt"},
		"a directory":      {"", []string{"clp", t.TempDir()}, "reading"},
		"a time of no use": {string(whole), []string{"db2pd", "-", "--now", "03:00"}, "--now"},
		"no file":          {"", []string{"db2pd"}, "wants one file"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := explained(t, c.input, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q; printed %q", err, c.says, out)
			}
		})
	}
}

func TestExplainGivesTheClassOfBadOutputAsJSON(t *testing.T) {
	out, err := explained(t, "", "db2pd", "-", "--json")
	if err != nil || !strings.Contains(out, `"error_class": "empty_output"`) || !strings.Contains(out, `"ok": false`) {
		t.Errorf("%v:\n%s", err, out)
	}
}
