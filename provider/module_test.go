package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

const address = "registry.terraform.io/hadr-dev/hadr"

// example is a working copy of an example, with the provider of this process.
type example struct {
	dir string
	env []string
}

func newExample(t *testing.T, a *testAWS, name string) example {
	t.Helper()
	work := t.TempDir()
	for _, dir := range []string{"modules", name} {
		must(t, os.CopyFS(filepath.Join(work, dir), os.DirFS(filepath.Join("..", dir))))
	}
	e := example{dir: filepath.Join(work, name), env: append(os.Environ(), "TF_REATTACH_PROVIDERS="+serve(t), "TF_INPUT=0")}
	must(t, a.landscape.WriteTFVars(filepath.Join(e.dir, "landscape.auto.tfvars")))
	return e
}

// serve runs the provider in this process, and returns how Terraform reaches it.
func serve(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reattach, done := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		err := tf6server.Serve(address, func() tfprotov6.ProviderServer {
			return providerserver.NewProtocol6(&hadrProvider{version: "test", code: testCode})()
		}, tf6server.WithDebug(ctx, reattach, done), tf6server.WithoutLogStderrOverride(), tf6server.WithLoggingSink(t))
		if err != nil {
			t.Error(err)
		}
	}()
	r := <-reattach
	t.Cleanup(func() { cancel(); <-done })
	b, err := json.Marshal(map[string]any{address: map[string]any{
		"Protocol": r.Protocol, "ProtocolVersion": r.ProtocolVersion, "Pid": r.Pid, "Test": true,
		"Addr": map[string]string{"Network": r.Addr.Network(), "String": r.Addr.String()},
	}})
	must(t, err)
	return string(b)
}

func (e example) terraform(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "terraform", append(args, "-no-color")...)
	cmd.Dir, cmd.Env = e.dir, e.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

func (e example) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := e.terraform(t, args...)
	must(t, err)
	return out
}

// planned is a plan of an example.
type planned struct {
	text    string
	changes map[string]change // by address
}

// change is what a plan does to a resource.
type change struct {
	Actions       []string
	Before, After map[string]any
	AfterUnknown  map[string]any `json:"after_unknown"`
}

func (p planned) empty() bool   { return len(p.changes) == 0 }
func (p planned) warnings() int { return strings.Count(p.text, "Warning:") }

// plan plans, and reads what the plan would change.
func (e example) plan(t *testing.T) planned {
	t.Helper()
	p := planned{text: e.must(t, "plan", "-out=plan.bin"), changes: map[string]change{}}
	cmd := exec.CommandContext(t.Context(), "terraform", "show", "-json", "plan.bin")
	cmd.Dir, cmd.Env = e.dir, e.env
	out, err := cmd.Output()
	must(t, err)
	var doc struct {
		Changes []struct {
			Address string
			Change  change
		} `json:"resource_changes"`
	}
	must(t, json.Unmarshal(out, &doc))
	for _, c := range doc.Changes {
		if !slices.Equal(c.Change.Actions, []string{"no-op"}) {
			p.changes[c.Address] = c.Change
		}
	}
	return p
}

// The life of the example: apply, nothing to do, a takeover, nothing to do but
// one warning, destroy.
func TestExampleDb2HADR(t *testing.T) {
	a := startPair(t)
	e := newExample(t, a, "examples/complete/db2-hadr")
	e.must(t, "init")
	e.must(t, "apply", "-auto-approve")
	if out, err := e.terraform(t, "plan", "-detailed-exitcode"); err != nil || strings.Contains(out, "Warning") {
		t.Fatalf("after apply there is something to do or to say: %v\n%s", err, out)
	}

	record := a.record("hadr-orders")
	prev, err := record.Load(t.Context(), "orders")
	must(t, err)
	next := prev
	next.Epoch, next.Primary = prev.Epoch+1, "b"
	must(t, record.Save(t.Context(), prev, next))
	a.move(t, "192.168.77.10", a.nodes["b"].eni)

	out, err := e.terraform(t, "plan", "-detailed-exitcode")
	if err != nil || !strings.Contains(out, "No changes") {
		t.Fatalf("after a takeover there is something to do: %v\n%s", err, out)
	}
	if n := strings.Count(out, "Warning:"); n != 1 || !strings.Contains(out, "Group is failed over") {
		t.Errorf("the plan has %d warnings, want the one about the takeover:\n%s", n, out)
	}
	e.must(t, "destroy", "-auto-approve")
}

func TestModuleRefusesAnAddressInsideTheVPC(t *testing.T) {
	a := startPair(t)
	e := newExample(t, a, "examples/complete/db2-hadr")
	main := filepath.Join(e.dir, "main.tf")
	b, err := os.ReadFile(main)
	must(t, err)
	must(t, os.WriteFile(main, []byte(strings.Replace(string(b), "192.168.77.10", "10.20.9.9", 1)), 0o600))
	e.must(t, "init")
	if out, err := e.terraform(t, "plan"); err == nil || !strings.Contains(out, "lies inside the VPC's CIDR block") {
		t.Errorf("plan with an address inside the VPC: %v\n%s", err, out)
	}
}
