package sandbox_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
)

// conformanceDir names the environment variable with the directory of the
// conformance suite, a Go module that checks an endpoint against documented
// AWS behaviour. conformanceArgs holds further flags for it, such as -slow.
const (
	conformanceDir  = "HADR_CONFORMANCE"
	conformanceArgs = "HADR_CONFORMANCE_ARGS"
)

// maxExempt keeps the list of exemptions from becoming a habit.
const maxExempt = 15

// TestConformance runs the suite against a sandbox on loopback, whose hosts and
// functions are processes.
func TestConformance(t *testing.T) {
	suite := os.Getenv(conformanceDir)
	if suite == "" {
		t.Skipf("%s is not set: it names the directory of the conformance suite", conformanceDir)
	}
	host := filepath.Join(t.TempDir(), "hadr-host")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", host, "../../cmd/hadr-host").CombinedOutput(); err != nil {
		t.Fatalf("building the programs of the hosts: %v\n%s", err, out)
	}
	s := start(t, sandbox.Options{Listen: "127.0.0.1:0", Binary: host})

	results := conformance(t, suite, s.Endpoint, strings.Fields(os.Getenv(conformanceArgs))...)
	repeat(t, results, func(name string) []checked {
		return conformance(t, suite, s.Endpoint, "-slow", "-optional", "-run", "^"+regexp.QuoteMeta(name)+"$")
	})
	exempt := readExempt(t)
	for _, r := range results {
		reason, known := exempt[r.Name]
		switch {
		case !r.Pass && !known:
			t.Errorf("%s: %s: %s", r.Service, r.Name, r.Detail)
		case r.Pass && known:
			t.Errorf("%s: %s passes, but is exempt (%s): take it off the list", r.Service, r.Name, reason)
		}
	}
	t.Logf("%d checks", len(results))
}

// checked is how a check of the suite went.
type checked struct {
	Service, Name, Detail string
	Pass                  bool
}

// conformance runs the suite against an endpoint.
func conformance(t *testing.T, suite, endpoint string, args ...string) []checked {
	t.Helper()
	file := filepath.Join(t.TempDir(), "results.json")
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", ".", "-endpoint", endpoint, "-json", file}, args...)...)
	cmd.Dir = suite
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, runErr := cmd.CombinedOutput() // an error also if a check failed
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("the suite left no results: %v, %v\n%s", err, runErr, out)
	}
	var results []checked
	if err := json.Unmarshal(raw, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// ownFault is how a call ends whose client closes the connection under the
// answer. The suite's clients have that fault of the SDK, do not repeat such a
// call, and meet it now and then on a machine with few processors: see
// awsclient.PlainBody. It says nothing of the endpoint.
const ownFault = "use of closed network connection"

// repeats is how often a check is run again that such a fault has ended.
const repeats = 3

// repeat runs those checks again that a fault of their own client has ended, and
// keeps what they say then.
func repeat(t *testing.T, results []checked, run func(name string) []checked) {
	t.Helper()
	for i := range results {
		for n := 0; n < repeats && !results[i].Pass && strings.Contains(results[i].Detail, ownFault); n++ {
			t.Logf("%s: the check's own client closed its connection; running it again", results[i].Name)
			for _, r := range run(results[i].Name) {
				if r.Name == results[i].Name {
					results[i] = r
				}
			}
		}
	}
}

// TestRepeat: only a fault of the client is tried again, and not for ever.
func TestRepeat(t *testing.T) {
	broken := "read tcp 127.0.0.1:1->127.0.0.1:2: use of closed network connection"
	tests := []struct {
		name    string
		details []string // of each run; "" = it passes
		pass    bool
		runs    int
	}{
		{"passes", []string{""}, true, 1},
		{"a difference from AWS stays one", []string{"status Failed", ""}, false, 1},
		{"the client's fault", []string{broken, ""}, true, 2},
		{"the client's fault, then a difference", []string{broken, "status Failed", ""}, false, 2},
		{"the client's fault each time", []string{broken, broken, broken, broken, ""}, false, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := 0
			run := func(name string) []checked {
				detail := tt.details[runs]
				runs++
				return []checked{{Name: "another"}, {Name: name, Detail: detail, Pass: detail == ""}}
			}
			results := run("check")[1:]
			repeat(t, results, run)
			if results[0].Pass != tt.pass || runs != tt.runs {
				t.Errorf("passes: %v after %d runs, want %v after %d", results[0].Pass, runs, tt.pass, tt.runs)
			}
		})
	}
}

// readExempt returns the reasons by the names of the checks.
func readExempt(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/conformance_exempt.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, " | ")
		if !ok || strings.TrimSpace(reason) == "" {
			t.Fatalf("%q gives no reason", line)
		}
		reasons[name] = reason
	}
	if len(reasons) > maxExempt {
		t.Fatalf("%d checks are exempt, more than %d", len(reasons), maxExempt)
	}
	return reasons
}
