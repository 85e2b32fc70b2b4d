package db2

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// host is a machine on which documents run: a disk, addresses, a clock and a
// database that answers as told. It knows only the commands that a document
// may rely on, and fails on any other.
type host struct {
	t         *testing.T
	root      string
	now       time.Time
	addresses []string
	listening []string // "ip:port" that answer

	role     string               // of the database, "" = db2pd prints nothing of use
	state    string               // HADR_STATE
	pd       func() string        // instead of the usual output of db2pd
	pdCode   int                  // of timeout and db2pd
	takeover func() (string, int) // db2 takeover
	locked   bool                 // somebody holds the lock
	registry map[string]string    // of db2set

	started func() (string, int) // db2 start hadr, db2 activate db

	forced   int      // takeovers within the window that were asked of Db2
	plain    int      // takeovers by plain force
	inOrder  int      // takeovers without force
	alone    int      // starts as primary by force
	killed   int      // database servers that were killed
	ran      []string // commands, in order
	bindings []string // changes of addresses
	bindErr  bool
}

func newHost(t *testing.T) *host {
	h := &host{t: t, root: t.TempDir(), now: hostNow, addresses: []string{"10.0.2.10/24"}, role: "STANDBY", state: "DISCONNECTED_PEER"}
	h.takeover = func() (string, int) {
		h.role, h.state = "PRIMARY", "DISCONNECTED"
		return "DB20000I  The TAKEOVER HADR ON DATABASE command completed successfully.", 0
	}
	return h
}

// run executes a document with parameters, as Systems Manager would.
func (h *host) run(kind string, parameters map[string]string) (stdout string, code int) {
	h.t.Helper()
	d, err := DocumentOf(kind)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := d.Validate(parameters); err != nil {
		h.t.Fatal(err)
	}
	script := d.Script()
	for name, value := range parameters {
		script = strings.ReplaceAll(script, "{{ "+name+" }}", value)
	}
	var out, errs bytes.Buffer
	code = h.shell(context.Background(), script, &out, &errs)
	if errs.Len() > 0 {
		h.t.Logf("stderr: %s", errs.String())
	}
	return out.String(), code
}

func (h *host) shell(ctx context.Context, script string, out, errs *bytes.Buffer) int {
	h.t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "document")
	if err != nil {
		h.t.Fatalf("not POSIX: %v", err)
	}
	r, err := interp.New(
		interp.StdIO(nil, out, errs), interp.Env(expand.ListEnviron("HADR_ROOT="+h.root, "PATH=/bin")),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return h.exec }),
	)
	if err != nil {
		h.t.Fatal(err)
	}
	err = r.Run(ctx, file)
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	h.t.Fatalf("script: %v", err)
	return -1
}

func (h *host) exec(ctx context.Context, args []string) error {
	io := interp.HandlerCtx(ctx)
	h.ran = append(h.ran, strings.Join(args, " "))
	say := func(format string, a ...any) { fmt.Fprintf(io.Stdout, format+"\n", a...) }
	switch args[0] {
	case "runuser": // -l OWNER -c COMMAND
		var out, errs bytes.Buffer
		code := h.shell(ctx, args[4], &out, &errs)
		_, _ = io.Stdout.Write(out.Bytes())
		return exit(code)
	case "timeout": // -k GRACE LIMIT COMMAND...
		return h.exec(ctx, args[4:])
	case "flock": // -o -n -E CODE FILE COMMAND...
		if h.locked {
			code, _ := strconv.Atoi(args[4])
			return exit(code)
		}
		return h.exec(ctx, args[6:])
	case "db2pd":
		say("%s", h.hadr())
		return exit(h.pdCode)
	case "db2set": // VARIABLE
		say("%s", h.registry[args[1]])
	case "db2start":
	case "db2_kill":
		h.killed++
		h.role = ""
	case "db2":
		return h.db2(strings.Join(args[1:], " "), say)
	case "date":
		format := strings.NewReplacer("%s", fmt.Sprint(h.now.Unix()), "%N", fmt.Sprintf("%09d", h.now.Nanosecond()))
		say("%s", format.Replace(strings.TrimPrefix(args[1], "+")))
	case "sleep":
		n, _ := strconv.Atoi(args[1])
		h.now = h.now.Add(time.Duration(n) * time.Second)
	case "hostname":
		say("hadr-b")
	case "ip":
		return h.ip(args[1:], say)
	case "nc": // -z -w SECONDS IP PORT
		for _, l := range h.listening {
			if l == args[4]+":"+args[5] {
				return nil
			}
		}
		return exit(1)
	case "mkdir":
		return h.mkdir(args[1:])
	case "cat":
		b, err := os.ReadFile(args[1])
		_, _ = io.Stdout.Write(b)
		return failed(err)
	case "mv":
		return failed(os.Rename(args[1], args[2]))
	default:
		h.t.Errorf("a document relies on the command %q", args)
		return exit(127)
	}
	return nil
}

func exit(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(code)
}

func failed(err error) error {
	if err != nil {
		return exit(1)
	}
	return nil
}

func (h *host) mkdir(args []string) error {
	if args[0] == "-p" {
		return failed(os.MkdirAll(args[1], 0o755))
	}
	return failed(os.Mkdir(args[0], 0o755))
}

func (h *host) ip(args []string, say func(string, ...any)) error {
	switch strings.Join(args[:2], " ") {
	case "addr show":
		for _, a := range h.addresses {
			say("    inet %s scope global eth0", a)
		}
		return nil
	case "addr add":
		if h.bindErr {
			return exit(2)
		}
		h.addresses = append(h.addresses, args[2])
	case "addr del":
		var rest []string
		for _, a := range h.addresses {
			if a != args[2] {
				rest = append(rest, a)
			}
		}
		h.addresses = rest
	}
	h.bindings = append(h.bindings, args[1]+" "+args[2])
	return nil
}

func (h *host) hadr() string {
	if h.pd != nil {
		return h.pd()
	}
	if h.role == "" {
		return "Unable to attach to database manager on member 0."
	}
	return fmt.Sprintf(`
Database Member 0 -- Database HADRDB -- Standby -- Up 0 days 00:10:00 -- Date 2026-03-02-10.00.00.000000

                            HADR_ROLE = %s
                        HADR_SYNCMODE = NEARSYNC
                           STANDBY_ID = 0
                           HADR_STATE = %s
                  HADR_CONNECT_STATUS = DISCONNECTED
                 PEER_WINDOW(seconds) = 300
                      PEER_WINDOW_END = 03/02/2026 10:03:20.000000 (%d)`, h.role, h.state, hostNow.Unix()+200)
}

func (h *host) db2(command string, say func(string, ...any)) error {
	switch {
	case command == "takeover hadr on db HADRDB by force peer window only":
		h.forced++
		text, code := h.takeover()
		say("%s", text)
		return exit(code)
	case command == "start hadr on db HADRDB as standby", command == "activate db HADRDB":
		if h.started != nil {
			text, code := h.started()
			say("%s", text)
			return exit(code)
		}
		if strings.HasPrefix(command, "start") {
			h.role = "STANDBY"
		}
		say("DB20000I  The command completed successfully.")
		return nil
	case command == "takeover hadr on db HADRDB":
		h.inOrder++
		text, code := h.takeover()
		say("%s", text)
		return exit(code)
	case command == "takeover hadr on db HADRDB by force":
		h.plain++
		text, code := h.takeover()
		say("%s", text)
		return exit(code)
	case command == "start hadr on db HADRDB as primary by force":
		h.alone++
		say("DB20000I  The START HADR ON DATABASE command completed successfully.")
		return nil
	case strings.HasPrefix(command, "get db cfg for"):
		say(" HADR database role                                      = %s", cmp.Or(h.role, "STANDBY"))
		return nil
	}
	h.t.Errorf("a document asked Db2 for %q", command)
	return exit(4)
}

// file is a file of the group's directory on the host.
func (h *host) file(name string) string {
	return filepath.Join(h.root, "var/lib/hadr/orders", name)
}

func (h *host) write(name, content string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.file(name)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.file(name), []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) holds(ip string) bool {
	for _, a := range h.addresses {
		if strings.HasPrefix(a, ip+"/") {
			return true
		}
	}
	return false
}
