package db2

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

func TestDocumentContent(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			d, err := DocumentOf(kind)
			must(t, err)
			content, err := d.Content()
			must(t, err)
			var got struct {
				SchemaVersion string
				Description   string
				Parameters    map[string]struct{ Type, Description, AllowedPattern string }
				MainSteps     []struct {
					Action, Name string
					Inputs       struct {
						TimeoutSeconds string
						RunCommand     []string
					}
				}
			}
			must(t, json.Unmarshal([]byte(content), &got))
			if got.SchemaVersion != "2.2" || len(got.MainSteps) != 1 || got.MainSteps[0].Action != "aws:runShellScript" {
				t.Errorf("document %+v", got)
			}
			// Every parameter that the script takes is declared and bounded at both ends.
			used := map[string]bool{}
			script := strings.Join(got.MainSteps[0].Inputs.RunCommand, "\n")
			for _, m := range regexp.MustCompile(`{{ (\w+) }}`).FindAllStringSubmatch(script, -1) {
				used[m[1]] = true
			}
			if len(used) != len(got.Parameters) {
				t.Errorf("script uses %v, declared are %d", used, len(got.Parameters))
			}
			for name, p := range got.Parameters {
				if !used[name] || p.Type != "String" || !strings.HasPrefix(p.AllowedPattern, "^") || !strings.HasSuffix(p.AllowedPattern, "$") {
					t.Errorf("parameter %s: %+v", name, p)
				}
			}
			if again, _ := d.Content(); again != content {
				t.Error("the same document has two texts")
			}
		})
	}
	if _, err := DocumentOf("other"); err == nil || !strings.Contains(err.Error(), "forced_takeover, path_check, rejoin, start, status, switchover, takeover") {
		t.Errorf("unknown kind: %v", err)
	}
}

// Nothing that a shell would act on passes, whatever the parameter.
func TestParametersKeepWithinTheirQuotes(t *testing.T) {
	for _, kind := range Kinds() {
		d, err := DocumentOf(kind)
		must(t, err)
		for _, p := range d.Parameters {
			for _, bad := range []string{"", " ", "a'b", `a"b`, "a;b", "$(id)", "`id`", "a b", "a|b", "a&b", "a\nb", "a\\b", "a>b", "../x", "{{ x }}", "orders\n", "1\n", "äb"} {
				values := map[string]string{}
				for _, q := range d.Parameters {
					values[q.Name] = good[q.Name]
				}
				if err := d.Validate(values); err != nil {
					t.Fatalf("%s: good values: %v", kind, err)
				}
				values[p.Name] = bad
				if err := d.Validate(values); err == nil {
					t.Errorf("%s: parameter %s = %q was allowed", kind, p.Name, bad)
				}
			}
		}
	}
}

var good = map[string]string{
	"group": "orders", "database": "HADRDB", "owner": "db2inst1", "table_arn": tableARN, "epoch": "8", "operation": "01JABC",
	"step": "promote", "attempt": "1", "deadline": "1772445660", "vip": vip, "port": "50000", "alone": "no",
}

func TestValidate(t *testing.T) {
	d, err := DocumentOf("path_check")
	must(t, err)
	tests := []struct {
		name   string
		values map[string]string
		says   string // "" = allowed
	}{
		{"good", map[string]string{"vip": "192.168.10.5", "port": "50000"}, ""},
		{"missing", map[string]string{"vip": "192.168.10.5"}, "port is missing"},
		{"one too many", map[string]string{"vip": "192.168.10.5", "port": "50000", "x": "y"}, "takes 2"},
		{"no address", map[string]string{"vip": "192.168.10.256", "port": "50000"}, "vip"},
		{"a name", map[string]string{"vip": "db.example.com", "port": "50000"}, "vip"},
		{"port 0", map[string]string{"vip": "192.168.10.5", "port": "0"}, "port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := d.Validate(tt.values)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Validate: %v, want %q", err, tt.says)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Documents run in whatever sh the host has.
func TestScriptsArePOSIX(t *testing.T) {
	for _, kind := range Kinds() {
		d, err := DocumentOf(kind)
		must(t, err)
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(d.Script()), kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		forces := regexp.MustCompile(`(?i)takeover hadr [^\n]*by force\b|form='by force'`).MatchString(d.Script())
		if forces != (kind == "forced_takeover") {
			t.Errorf("%s holds a plain BY FORCE: %v (R19)", kind, forces)
		}
	}
}

// The takeover document in the sh of this machine, as a process, with real
// mkdir, mv and flock. What belongs to Db2 and root is played.
func TestTakeoverInARealShell(t *testing.T) {
	for _, tool := range []string{"sh", "flock", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	root, bin := t.TempDir(), t.TempDir()
	for name, body := range map[string]string{
		"runuser": `shift 3; exec sh -c "$1"`,
		"db2":     `echo "$*" >>"$HADR_ROOT/asked"; echo PRIMARY >"$HADR_ROOT/role"; echo "DB20000I  The TAKEOVER HADR ON DATABASE command completed successfully."`,
		"db2pd":   `printf '                            HADR_ROLE = %s\n' "$(cat "$HADR_ROOT/role")"`,
		"ip":      `case "$2" in add) echo "    inet $3 scope host lo" >>"$HADR_ROOT/addresses" ;; show) cat "$HADR_ROOT/addresses" 2>/dev/null ;; esac`,
		"date":    `echo 1772445600`,
	} {
		must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(root, "role"), []byte("STANDBY\n"), 0o644))
	d, err := DocumentOf("takeover")
	must(t, err)
	script := d.Script()
	for name, value := range order() {
		script = strings.ReplaceAll(script, "{{ "+name+" }}", value)
	}
	run := func() string {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HADR_ROOT=" + root}
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	first, again := run(), run()
	if got := result(first, 0); got.Outcome != "ok" || got.Code != "DB20000I" {
		t.Errorf("result %+v\n%s", got, first)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the second answer differs:\n%s", diff)
	}
	asked := readFile(t, filepath.Join(root, "asked"))
	if asked != "takeover hadr on db HADRDB by force peer window only\n" {
		t.Errorf("Db2 was asked for %q", asked)
	}
}
