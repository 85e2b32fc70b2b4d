package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Host is a machine with a disk, addresses and one server.
type Host struct {
	ID     string
	Root   string // HADR_ROOT
	Data   string
	Socket string
	IP     string // that the server listens on
	Port   string

	t   *Template
	env []string
}

// Where the server is on the disk of a host, as the settings of a group say.
const (
	DataDirectory   = "/data"
	SocketDirectory = "/run"
)

// The stand-ins for what needs root. Addresses are lines of a file.
const (
	runuser = "#!/bin/sh\nexec sh -c \"$4\"\n"
	ip4     = `#!/bin/sh
file=$HADR_ROOT/addresses
case "$1 $2" in
'addr show') cat "$file" ;;
'addr add') printf '    inet %s scope global lo\n' "$3" >>"$file" ;;
'addr del') sed "\| inet $3 |d" "$file" >"$file.new" && mv "$file.new" "$file" ;;
esac
`
)

// newHost makes a host whose disk holds a copy of the template.
func newHost(tb testing.TB, t *Template, id, ip, port string) *Host {
	tb.Helper()
	root := filepath.Join(t.dir, fmt.Sprintf("%s%d", id, t.hosts.Add(1)))
	must(tb, os.Mkdir(root, 0o700))
	must(tb, t.own(root))
	bin := filepath.Join(root, "bin")
	must(tb, os.Mkdir(bin, 0o755))
	must(tb, t.own(bin))
	must(tb, os.WriteFile(filepath.Join(bin, "runuser"), []byte(runuser), 0o755))
	must(tb, os.WriteFile(filepath.Join(bin, "ip"), []byte(ip4), 0o755))
	must(tb, os.WriteFile(filepath.Join(root, "addresses"), nil, 0o644))
	must(tb, t.own(filepath.Join(root, "addresses")))
	h := t.Install(tb, id, root, ip, port)
	tb.Cleanup(func() { _ = os.RemoveAll(root) })
	return h
}

// Install puts a copy of the template on the disk of a host, which is the
// directory root, and kills its server when the test ends.
func (t *Template) Install(tb testing.TB, id, root, ip, port string) *Host {
	tb.Helper()
	h := &Host{ID: id, Root: root, Data: root + DataDirectory, Socket: root + SocketDirectory, IP: ip, Port: port, t: t}
	h.env = []string{"HADR_ROOT=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + root, "LC_ALL=C.UTF-8"}
	must(tb, os.MkdirAll(h.Socket, 0o755))
	must(tb, t.own(h.Socket))
	if out, err := t.command("cp", "-a", filepath.Join(t.dir, "template"), h.Data).CombinedOutput(); err != nil {
		tb.Fatalf("copying the template: %v: %s", err, out)
	}
	h.Configure(tb, "postgresql.conf", "unix_socket_directories = '"+h.Socket+"'")
	h.Configure(tb, "postgresql.conf", "listen_addresses = '"+ip+"'")
	tb.Cleanup(func() {
		if tb.Failed() {
			log := h.Log()
			tb.Logf("end of the log of host %s:\n%s", id, log[max(0, len(log)-4000):])
		}
		_ = h.signal(syscall.SIGKILL)
	})
	return h
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// addresses are those of the two servers of a pair, which listen on the same
// port.
var addresses = [2]string{"127.0.0.1", "127.0.0.2"}

// FreePort returns a port that is free on both addresses of a pair, and these.
func FreePort(tb testing.TB) (port string, ips [2]string) {
	tb.Helper()
	for range 100 {
		first, err := net.Listen("tcp", net.JoinHostPort(addresses[0], "0"))
		must(tb, err)
		_, port, err := net.SplitHostPort(first.Addr().String())
		must(tb, err)
		second, err := net.Listen("tcp", net.JoinHostPort(addresses[1], port))
		_ = first.Close()
		if err == nil {
			_ = second.Close()
			return port, addresses
		}
	}
	tb.Fatalf("no port is free on both %v", addresses)
	return "", addresses
}

// Configure appends a line to a file of the data directory.
func (h *Host) Configure(tb testing.TB, file, line string) {
	tb.Helper()
	name := filepath.Join(h.Data, file)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(tb, err)
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	must(tb, err)
	must(tb, h.t.own(name))
}

// Run runs a script on the host, as an agent or Systems Manager would.
func (h *Host) Run(ctx context.Context, script string) (output string, code int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-s")
	cmd.Dir, cmd.Env = h.Root, h.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: h.t.cred}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdin = strings.NewReader(script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out.String(), -1, fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode(), nil
	}
	return out.String(), 0, err
}

// Start starts the server and waits until it answers.
func (h *Host) Start(tb testing.TB) {
	tb.Helper()
	if out, err := h.t.command(filepath.Join(h.t.bin, "pg_ctl"), "start", "-w", "-t", "60", "-D", h.Data, "-l", h.Data+".log", "-o", "-p "+h.Port).CombinedOutput(); err != nil {
		tb.Fatalf("starting host %s: %v: %s\n%s", h.ID, err, out, h.Log())
	}
}

// Stop stops the server in a mode of pg_ctl.
func (h *Host) Stop(tb testing.TB, mode string) {
	tb.Helper()
	if out, err := h.t.command(filepath.Join(h.t.bin, "pg_ctl"), "stop", "-w", "-t", "30", "-m", mode, "-D", h.Data).CombinedOutput(); err != nil {
		tb.Fatalf("stopping host %s: %v: %s", h.ID, err, out)
	}
}

// Program runs a program of the server's on its data directory.
func (h *Host) Program(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	out, err := h.t.command(filepath.Join(h.t.bin, name), append([]string{"-D", h.Data}, args...)...).CombinedOutput()
	if err != nil {
		tb.Fatalf("%s on host %s: %v: %s", name, h.ID, err, out)
	}
	return string(out)
}

// Log is what the server logged.
func (h *Host) Log() string {
	b, err := os.ReadFile(h.Data + ".log")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Connect opens a session as the owner of the server.
func (h *Host) Connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("host=%s port=%s user=%s dbname=postgres sslmode=disable", h.Socket, h.Port, h.t.owner))
}

// Query returns the only column of the only row that a statement gives, as
// text.
func (h *Host) Query(tb testing.TB, statement string) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	c, err := h.Connect(ctx)
	if err != nil {
		tb.Fatalf("host %s: %v\n%s", h.ID, err, h.Log())
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var answer *string
	if err := c.QueryRow(ctx, statement, pgx.QueryExecModeSimpleProtocol).Scan(&answer); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		tb.Fatalf("host %s: %s: %v", h.ID, statement, err)
	}
	if answer == nil {
		return ""
	}
	return *answer
}

// Crash kills every process of the server at once.
func (h *Host) Crash(tb testing.TB) { tb.Helper(); must(tb, h.signal(syscall.SIGKILL)) }

// Freeze halts every process of the server, and Thaw lets them go on.
func (h *Host) Freeze(tb testing.TB) { tb.Helper(); must(tb, h.signal(syscall.SIGSTOP)) }

// Thaw ends Freeze.
func (h *Host) Thaw(tb testing.TB) { tb.Helper(); must(tb, h.signal(syscall.SIGCONT)) }

// Alive reports whether the server's process is there, frozen or not.
func (h *Host) Alive() bool { return len(h.processes()) > 0 }

// signal sends a signal to the postmaster, and then to its children: a halted or
// dead postmaster starts no further ones.
func (h *Host) signal(s syscall.Signal) error {
	all := h.processes()
	if len(all) == 0 {
		return fmt.Errorf("host %s: no server runs", h.ID)
	}
	for _, pid := range all {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("host %s: signal %s to process %d: %w", h.ID, s, pid, err)
		}
	}
	return nil
}

// processes are the postmaster and its children, nil if there is none.
func (h *Host) processes() []int {
	b, err := os.ReadFile(filepath.Join(h.Data, "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(b), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil || postmaster <= 1 {
		return nil
	}
	if state := stat(postmaster); state == "" || state == "Z" {
		return nil
	}
	return append([]int{postmaster}, children(postmaster)...)
}

// children are the children of a process
// (https://man7.org/linux/man-pages/man5/proc_tid_children.5.html).
func children(parent int) (found []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, name := range threads {
		b, _ := os.ReadFile(name)
		for _, field := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// stat reads the state of a process, "" if it is gone
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
func stat(pid int) (state string) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	state, _, _ = strings.Cut(rest, " ")
	return state
}

// Stutter halts the server again and again until stop is called, as a disk does
// whose writes stall: nothing is lost, everything is late. It halts the whole
// server, since no disk can be slowed down without root.
func (h *Host) Stutter(tb testing.TB, halted, running time.Duration) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			_ = h.signal(syscall.SIGSTOP)
			sleep(ctx, halted)
			_ = h.signal(syscall.SIGCONT)
			sleep(ctx, running)
		}
	})
	stop = func() {
		cancel()
		done.Wait()
	}
	tb.Cleanup(stop)
	return stop
}

// Mark writes a file of the group orders in the node's state directory.
func (h *Host) Mark(tb testing.TB, name, text string) {
	tb.Helper()
	dir := h.Root
	for _, part := range []string{"var", "lib", "hadr", "orders"} {
		dir = filepath.Join(dir, part)
		if err := os.Mkdir(dir, 0o755); err == nil {
			must(tb, h.t.own(dir))
		}
	}
	file := filepath.Join(dir, name)
	must(tb, os.WriteFile(file, []byte(text+"\n"), 0o644))
	must(tb, h.t.own(file))
}
