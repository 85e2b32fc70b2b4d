// Package architecture holds the tests of the repository's layout: which
// package may import which. The rooms and their arrows are described in
// CONTRIBUTING.md.
package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hadr-dev/terraform-provider-hadr/"

// file is one Go file: its package directory and what it imports of ours and
// of others.
type file struct {
	name string
	dir  string // relative to the module, with slashes
	test bool
	ours []string
	all  []string
}

func files(t *testing.T) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	var found []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "." && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f := file{name: filepath.ToSlash(rel), dir: path.Dir(filepath.ToSlash(rel)), test: strings.HasSuffix(p, "_test.go")}
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.all = append(f.all, imported)
			if own, ok := strings.CutPrefix(imported, module); ok {
				f.ours = append(f.ours, own)
			}
		}
		found = append(found, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 50 {
		t.Fatalf("only %d Go files found: is the root right?", len(found))
	}
	return found
}

func within(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
}

// TestCoreIsPure: the core and the alarm model import the standard library
// only.
func TestCoreIsPure(t *testing.T) {
	for _, f := range files(t) {
		if f.test || !within(f.dir, "internal/failover", "internal/alarm") {
			continue
		}
		for _, i := range f.all {
			if strings.Contains(strings.SplitN(i, "/", 2)[0], ".") && !(within(f.dir, "internal/failover/check", "internal/failover/casefile") && strings.HasSuffix(i, "internal/failover")) {
				t.Errorf("%s imports %s; the core imports the standard library only", f.name, i)
			}
			if i == "time" || f.test {
				continue
			}
			if i == "os" || i == "net" || strings.HasPrefix(i, "net/") || i == "math/rand" || i == "log" {
				t.Errorf("%s imports %s; the core does no I/O", f.name, i)
			}
		}
	}
}

// TestCoreReadsNoClock: times come with the events.
func TestCoreReadsNoClock(t *testing.T) {
	for _, f := range files(t) {
		if f.test || !within(f.dir, "internal/failover", "internal/alarm", "internal/detection") {
			continue
		}
		src, err := os.ReadFile(filepath.Join("..", "..", f.name))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"time.Now(", "time.Since(", "time.Sleep(", "time.After("} {
			if strings.Contains(string(src), call) {
				t.Errorf("%s calls %s)", f.name, call)
			}
		}
	}
}

// TestArrows: every arrow points downwards.
func TestArrows(t *testing.T) {
	levels := []struct {
		room  []string
		never []string
		why   string
	}{
		{[]string{"internal/failover"}, []string{"internal", "provider", "lambdas", "cmd"}, "the core imports nothing of ours"},
		{[]string{"internal/clock", "internal/alarm"}, []string{"internal", "provider", "lambdas", "cmd"}, "they are leaves"},
		{
			[]string{"internal/statetable", "internal/engine", "internal/fence", "internal/redirect", "internal/command", "internal/evidence", "internal/notify", "internal/awsclient"},
			[]string{"provider", "lambdas", "cmd", "internal/agent", "internal/sandbox", "internal/diagnose", "internal/drift", "internal/endpoint"},
			"adapters know the core and control's ports, nothing above",
		},
		{
			[]string{"internal/detection"},
			[]string{
				"provider", "lambdas", "cmd", "internal/agent", "internal/awsclient", "internal/clock", "internal/command", "internal/control", "internal/diagnose",
				"internal/engine", "internal/evidence", "internal/failover", "internal/fence", "internal/redirect", "internal/sandbox", "internal/statetable",
			},
			"the model of detection knows the model of alarms alone",
		},
		{[]string{"internal/control"}, []string{"provider", "lambdas", "cmd", "internal/agent", "internal/sandbox", "internal/diagnose"}, "control is driven from above"},
		{[]string{"provider"}, []string{"lambdas", "cmd", "internal/sandbox", "internal/agent"}, "the provider declares, it does not act"},
		{[]string{"lambdas"}, []string{"provider", "cmd", "internal/sandbox", "internal/agent"}, "functions act, they do not declare"},
		{[]string{"internal/agent", "cmd/hadr-agent"}, []string{"provider", "lambdas", "internal/sandbox"}, "the agent is small"},
	}
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, level := range levels {
			if !within(f.dir, level.room...) {
				continue
			}
			for _, i := range f.ours {
				if within(i, level.room...) || !within(i, level.never...) {
					continue
				}
				t.Errorf("%s imports %s: %s", f.name, i, level.why)
			}
		}
	}
}

// TestSandboxIsOnlyForCommandsAndTests keeps simulated AWS out of the product,
// and the sandbox's services apart from each other.
func TestSandboxIsOnlyForCommandsAndTests(t *testing.T) {
	shared := []string{"internal/sandbox/wire", "internal/sandbox/world", "internal/sandbox/iam/policy"} // the last is a pure language
	for _, f := range files(t) {
		if f.test {
			continue
		}
		inside := within(f.dir, "internal/sandbox")
		for _, i := range f.ours {
			switch {
			case within(i, "internal/sandbox") && !inside && !within(f.dir, "cmd/hadr", "cmd/hadr-host"):
				t.Errorf("%s imports %s: only cmd/hadr, cmd/hadr-host and tests may", f.name, i)
			case inside && within(f.dir, "internal/sandbox/hosts") && within(i, "internal/engine", "internal/agent"):
				t.Errorf("%s imports %s: the simulated Db2 shares no code with the product's engine", f.name, i)
			case inside && service(f.dir) != "" && within(i, "internal/sandbox") && !within(i, shared...) && service(i) != service(f.dir):
				t.Errorf("%s imports %s: services know only wire and world", f.name, i)
			case inside && within(i, "internal/control", "internal/failover", "internal/statetable", "internal/engine", "provider", "lambdas"):
				t.Errorf("%s imports %s: the sandbox is AWS, it knows nothing of the product", f.name, i)
			}
		}
	}
}

// service returns the service room of a sandbox package, "" for the sandbox
// itself, which connects them, and for what all of them share.
func service(dir string) string {
	rest, ok := strings.CutPrefix(dir, "internal/sandbox/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "wire" || name == "world" || name == "landscape" || name == "control" {
		return ""
	}
	return name
}
