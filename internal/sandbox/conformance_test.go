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

	file := filepath.Join(t.TempDir(), "results.json")
	args := append([]string{"run", "-modfile", soundClients(t, suite), ".", "-endpoint", s.Endpoint, "-json", file}, strings.Fields(os.Getenv(conformanceArgs))...)
	out, runErr := inSuite(t, suite, args...).CombinedOutput() // an error also if a check failed
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("the suite left no results: %v, %v\n%s", err, runErr, out)
	}
	var results []struct {
		Service, Name, Detail string
		Pass                  bool
	}
	if err := json.Unmarshal(raw, &results); err != nil {
		t.Fatal(err)
	}
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

// inSuite is a go command in the suite's module.
func inSuite(t *testing.T, suite string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = suite
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath")
	return cmd
}

// closedBody is where the SDK's request body says, once it is closed, that
// writing it failed.
var closedBody = regexp.MustCompile(`(?s)(\) WriteTo\(w io\.Writer\) \(int64, error\) \{.*?)return 0, io\.EOF`)

// soundClients returns a go.mod for the suite with which the SDK's clients do not
// close the connection under an answer. awsclient.PlainBody keeps ours from that;
// those of the suite repeat no call, and would take it for a fault of the endpoint
// now and then.
func soundClients(t *testing.T, suite string) string {
	t.Helper()
	const module = "github.com/aws/smithy-go"
	output := func(args ...string) string {
		out, err := inSuite(t, suite, args...).Output()
		if err != nil {
			t.Fatalf("go %s in the suite: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	output("mod", "download", module)
	mended := filepath.Join(t.TempDir(), "smithy-go")
	if err := os.CopyFS(mended, os.DirFS(output("list", "-m", "-f", "{{.Dir}}", module))); err != nil {
		t.Fatal(err)
	}
	body := filepath.Join(mended, "transport", "http", "internal", "io", "safe.go")
	code, err := os.ReadFile(body)
	if err != nil {
		t.Fatal(err)
	}
	if !closedBody.Match(code) {
		t.Fatalf("%s changed its request body: see whether a closed one still reports io.EOF to io.Copy, and if not, drop this and awsclient.PlainBody", module)
	}
	if err := os.WriteFile(body, closedBody.ReplaceAll(code, []byte("${1}return 0, nil")), 0o600); err != nil {
		t.Fatal(err)
	}
	modfile := filepath.Join(t.TempDir(), "go.mod") // go.sum is looked for beside it
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(suite, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(modfile), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output("mod", "edit", "-replace", module+"="+mended, modfile)
	return modfile
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
