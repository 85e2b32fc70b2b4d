package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

const pkg = "a package"

// host is a machine on which the document runs. It knows only the commands that
// the document may rely on.
type host struct {
	t         *testing.T
	root      string
	served    string // behind every address
	fetchErr  bool
	version   string // of the installed agent, "" = none
	installs  []string
	restarts  int
	active    bool // the unit stays up
	commands  []string
	installed string // version that the package brings
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func parameters() map[string]string {
	return map[string]string{
		"version": "0.1.0", "source": "https://packages.example.com/hadr/hadr-agent_0.1.0_amd64.deb", "sha256": digest(pkg),
		"table": "hadr-orders", "group": "orders", "node": "b", "metrics": "none",
	}
}

func (h *host) run(values map[string]string) (output string, code int) {
	h.t.Helper()
	script, err := Document().Render(values)
	if err != nil {
		h.t.Fatal(err)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "install")
	if err != nil {
		h.t.Fatalf("not POSIX: %v", err)
	}
	var out bytes.Buffer
	r, err := interp.New(interp.StdIO(nil, &out, &out), interp.Env(expand.ListEnviron("HADR_ROOT="+h.root, "PATH=/bin")),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return h.exec }))
	if err != nil {
		h.t.Fatal(err)
	}
	err = r.Run(h.t.Context(), file)
	var status interp.ExitStatus
	if errors.As(err, &status) {
		code = int(status)
	} else if err != nil {
		h.t.Fatal(err)
	}
	return out.String(), code
}

func (h *host) exec(ctx context.Context, args []string) error {
	io := interp.HandlerCtx(ctx)
	h.commands = append(h.commands, strings.Join(args, " "))
	fail := func(text string) error { fmt.Fprintln(io.Stderr, text); return interp.ExitStatus(1) }
	last := args[len(args)-1]
	switch args[0] {
	case "mkdir":
		for _, dir := range args[2:] {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fail(err.Error())
			}
		}
	case "mktemp":
		fmt.Fprintln(io.Stdout, h.t.TempDir())
	case "rm":
		_ = os.RemoveAll(last)
	case "mv":
		return os.Rename(args[1], args[2])
	case "cat":
		b, err := os.ReadFile(last)
		if err != nil {
			return fail(err.Error())
		}
		_, _ = io.Stdout.Write(b)
	case "curl", "aws":
		if h.fetchErr {
			return fail("404 Not Found")
		}
		to := last
		if args[0] == "curl" {
			to = args[len(args)-2]
		}
		return os.WriteFile(to, []byte(h.served), 0o644)
	case "sha256sum":
		line, err := os.ReadFile(last)
		if err != nil {
			return fail(err.Error())
		}
		want, file, _ := strings.Cut(strings.TrimSpace(string(line)), "  ")
		if b, err := os.ReadFile(file); err != nil || digest(string(b)) != want {
			return fail("FAILED")
		}
	case "dpkg", "rpm":
		h.installs = append(h.installs, filepath.Base(last))
		h.version = h.installed
	case "hadr-agent":
		if h.version == "" {
			return interp.ExitStatus(127)
		}
		fmt.Fprintln(io.Stdout, "hadr-agent version "+h.version)
	case "systemctl":
		if args[1] == "restart" {
			h.restarts++
		}
		if args[1] == "is-active" && !h.active {
			return interp.ExitStatus(3)
		}
	case "sleep":
	default:
		h.t.Fatalf("the document may not rely on %q", args[0])
	}
	return nil
}

func TestInstall(t *testing.T) {
	tests := []struct {
		name    string
		host    host
		change  func(map[string]string)
		outcome string
		says    string
		bundle  string // that was installed, "" = none
	}{
		{name: "a clean host", outcome: "healthy", says: "hadr-agent 0.1.0 runs as node b of group orders", bundle: "hadr-agent_0.1.0_amd64.deb"},
		{name: "from S3, as rpm", change: func(p map[string]string) { p["source"] = "s3://packages/hadr/hadr-agent-0.1.0-1.x86_64.rpm" }, outcome: "healthy", bundle: "hadr-agent-0.1.0-1.x86_64.rpm"},
		{name: "another digest: nothing is installed", host: host{served: "something else"}, outcome: "refused", says: "nothing was installed"},
		{name: "the address is wrong", host: host{fetchErr: true}, outcome: "failed", says: "404 Not Found"},
		{name: "the package holds another version", host: host{installed: "0.0.9"}, outcome: "failed", says: "does not say that it is version 0.1.0", bundle: "hadr-agent_0.1.0_amd64.deb"},
		{name: "the agent does not stay up", host: host{active: false, installed: "0.1.0"}, outcome: "failed", says: "does not stay up: journalctl -u hadr-agent", bundle: "hadr-agent_0.1.0_amd64.deb"},
		{name: "an older version gives way", host: host{version: "0.0.9"}, outcome: "healthy", bundle: "hadr-agent_0.1.0_amd64.deb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.host
			h.t, h.root = t, t.TempDir()
			if h.served == "" {
				h.served = pkg
			}
			if h.installed == "" {
				h.installed, h.active = "0.1.0", true
			}
			values := parameters()
			if tt.change != nil {
				tt.change(values)
			}
			out, code := h.run(values)
			if !strings.Contains(out, "=== hadr outcome\n"+tt.outcome+"\n") || !strings.Contains(out, tt.says) || !strings.HasSuffix(out, "=== hadr end\n") || (code == 0) != (tt.outcome == "healthy") {
				t.Errorf("code %d, want %s that says %q:\n%s", code, tt.outcome, tt.says, out)
			}
			if got := strings.Join(h.installs, ","); got != tt.bundle {
				t.Errorf("installed %q, want %q", got, tt.bundle)
			}
			if tt.outcome == "healthy" {
				env, err := os.ReadFile(filepath.Join(h.root, "etc/hadr/agent.env"))
				if want := "HADR_TABLE=hadr-orders\nHADR_GROUP=orders\nHADR_NODE=b\n"; err != nil || string(env) != want {
					t.Errorf("configured %q, %v", env, err)
				}
			}
		})
	}
}

// Installing what is installed already fetches and installs nothing.
func TestInstallAgain(t *testing.T) {
	h := host{t: t, root: t.TempDir(), served: pkg, installed: "0.1.0", active: true}
	values := parameters()
	h.run(values)
	values["metrics"] = "127.0.0.1:9788"
	if out, code := h.run(values); code != 0 || len(h.installs) != 1 || h.restarts != 2 {
		t.Errorf("code %d, %d installations, %d restarts:\n%s", code, len(h.installs), h.restarts, out)
	}
	if env, err := os.ReadFile(filepath.Join(h.root, "etc/hadr/agent.env")); err != nil || !strings.Contains(string(env), "HADR_METRICS=127.0.0.1:9788") {
		t.Errorf("configured %q, %v", env, err)
	}
}

// No value leaves the quotes of the script.
func TestParameters(t *testing.T) {
	bad := map[string][]string{
		"version": {"", "0.1", "0.1.0; reboot", "latest"},
		"source":  {"http://x.example.com/a.deb", "https://x.example.com/a.tar", "file:///a.deb", "https://x.example.com/a'$(id)'.deb", "s3://b/../a.sh"},
		"sha256":  {"", "abc", strings.Repeat("A", 64)},
		"table":   {"a", "a b", "a'b"},
		"group":   {"Orders", "o;"},
		"node":    {"", "B"},
		"metrics": {"", "0.0.0.0:9788", "127.0.0.1"},
	}
	for name, values := range bad {
		for _, v := range values {
			p := parameters()
			p[name] = v
			if err := Document().Validate(p); err == nil {
				t.Errorf("%s = %q is allowed", name, v)
			}
		}
	}
	if _, err := Document().Content(); err != nil {
		t.Error(err)
	}
}
