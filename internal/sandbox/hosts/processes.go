package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// processes is the executor with processes of the operating system. Every
// program that the machine starts leads a process group of its own.
type processes struct{ h *Hosts }

// metadataFile holds the address of the machine's IMDS endpoint.
const metadataFile = "run/metadata"

// prepare links the commands, and opens the machine's socket to the fabric and
// its IMDS endpoint.
func (x *processes) prepare(m *machine) error {
	links := map[string]string{}
	for name := range programs {
		links[name] = x.h.opt.Binary
	}
	if x.h.opt.Agent != "" {
		links[unitAgent] = x.h.opt.Agent
	}
	for name, target := range links {
		link := filepath.Join(m.root, "bin", name)
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			return err
		}
	}
	if err := x.openControl(m); err != nil {
		return err
	}
	if x.h.opt.Metadata == nil {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the metadata endpoint: %w", err)
	}
	srv := &http.Server{Handler: x.h.opt.Metadata.Handler(m.id()), ReadHeaderTimeout: 10 * time.Second}
	m.background(func() { _ = srv.Serve(l) })
	m.atPowerOff(func() { _ = srv.Close() })
	return os.WriteFile(filepath.Join(m.root, metadataFile), []byte("http://"+l.Addr().String()+"/"), 0o644)
}

func (x *processes) env(m *machine) []string {
	env := m.env()
	if b, err := os.ReadFile(filepath.Join(m.root, metadataFile)); err == nil {
		env = append(env, "AWS_EC2_METADATA_SERVICE_ENDPOINT="+string(b))
	}
	if c := m.clock.shared(); c != "" {
		env = append(env, clock.EnvVar+"="+c)
	}
	return env
}

func (x *processes) spawn(m *machine, name string, args, env []string) (*process, error) {
	cmd := exec.Command(filepath.Join(m.root, "bin", name), args...)
	cmd.Env, cmd.Dir = append(x.env(m), env...), m.root
	log, err := os.OpenFile(filepath.Join(m.root, "var/log", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	return start(m, name, cmd)
}

// start starts a command as the leader of a process group.
func start(m *machine, name string, cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 2 * time.Second // a grandchild may hold the output open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	group := -cmd.Process.Pid
	signal := func(s syscall.Signal) func() { return func() { _ = syscall.Kill(group, s) } }
	p := &process{name: name, kill: signal(syscall.SIGKILL), term: signal(syscall.SIGTERM), done: make(chan struct{})}
	p.freeze = func(frozen bool) {
		if frozen {
			_ = syscall.Kill(group, syscall.SIGSTOP)
		} else {
			_ = syscall.Kill(group, syscall.SIGCONT)
		}
	}
	m.background(func() {
		defer close(p.done)
		_ = cmd.Wait()
		p.code = cmd.ProcessState.ExitCode()
	})
	return p, nil
}

// run runs a program for a service of the machine, such as db2start for the
// unit db2.
func (x *processes) run(ctx context.Context, m *machine, c *Call) int {
	cmd := exec.CommandContext(ctx, filepath.Join(m.root, "bin", c.Args[0]), c.Args[1:]...)
	cmd.Env, cmd.Dir = x.env(m), c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			return e.ExitCode()
		}
		fmt.Fprintln(c.Stderr, err)
		return 127
	}
	return 0
}

func (x *processes) script(ctx context.Context, m *machine, c world.Command) (world.CommandResult, error) {
	r := world.CommandResult{Code: -1, Started: x.h.world.Clock.Now()}
	file, err := os.CreateTemp(filepath.Join(m.root, "tmp"), "script-*.sh")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := file.WriteString(c.Script); err != nil {
		_ = file.Close()
		return r, err
	}
	if err := file.Close(); err != nil {
		return r, err
	}
	var out, errs bytes.Buffer
	cmd := exec.Command("/bin/sh", file.Name())
	cmd.Dir, cmd.Env = m.root, x.env(m)
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout, cmd.Stderr = &out, &errs
	p, err := start(m, "sh", cmd)
	if err != nil {
		return r, err
	}
	m.track(p)
	timedOut := make(chan struct{})
	if c.Timeout > 0 {
		t := x.h.world.Clock.AfterFunc(c.Timeout, func() { close(timedOut); p.kill() })
		defer t.Stop()
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		<-p.done
	}
	r.Stdout, r.Stderr, r.Ended = out.String(), errs.String(), x.h.world.Clock.Now()
	select {
	case <-timedOut:
		r.TimedOut = true
	default:
		r.Code = p.code
	}
	return r, nil
}

func (x *processes) freeze(m *machine, frozen bool) {
	s := syscall.SIGCONT
	if frozen {
		s = syscall.SIGSTOP
	}
	for _, pid := range processesOf(m.root) {
		_ = syscall.Kill(pid, s)
	}
}

// slaughter kills what left its process group, too. Everything is stopped
// first, so that nothing starts children meanwhile.
func (x *processes) slaughter(m *machine) {
	x.freeze(m, true)
	for range 3 {
		left := processesOf(m.root)
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(left) == 0 {
			return
		}
	}
}

// processesOf finds the processes of a machine by its directory in their
// environment, or by where they work: PostgreSQL writes its title over its
// environment (Linux; elsewhere only process groups are known).
func processesOf(root string) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, file := range dirs {
		if !belongs(filepath.Dir(file), root) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/environ", &pid); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// belongs reports whether a process, by its directory in /proc, is a machine's.
func belongs(process, root string) bool {
	b, err := os.ReadFile(filepath.Join(process, "environ"))
	if err != nil {
		return false
	}
	if strings.Contains("\x00"+string(b), "\x00HADR_ROOT="+root+"\x00") {
		return true
	}
	cwd, err := os.Readlink(filepath.Join(process, "cwd"))
	return err == nil && strings.HasPrefix(cwd, root+"/")
}
