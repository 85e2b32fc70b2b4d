package lambda

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// initLimit is how long the code may initialise itself. It is measured in real
// time: a sped-up sandbox does not start processes faster.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
const initLimit = 10 * time.Second

// architectures are Lambda's names for those of Go.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "arm64"}

// Process runs the bootstrap of the uploaded code as a process of this host for
// each environment, with a runtime API of its own on the loopback interface.
type Process struct {
	dir  string
	wall clock.Clock

	mu     sync.Mutex
	closed bool
	codes  map[string]*unpacked // by SHA-256
	live   map[*processEnvironment]bool
}

// unpacked is code on disk.
type unpacked struct {
	once sync.Once
	dir  string
	err  error
}

// NewProcess returns an executor that keeps its files in a directory of its own
// below dir, or below the system's for temporary files if dir is "".
func NewProcess(dir string) (*Process, error) {
	own, err := os.MkdirTemp(dir, "hadr-lambda-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the code of functions: %w", err)
	}
	return &Process{dir: own, wall: clock.System(), codes: map[string]*unpacked{}, live: map[*processEnvironment]bool{}}, nil
}

// Close stops all environments and removes the code.
func (p *Process) Close() {
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Keys(p.live))
	p.mu.Unlock()
	for _, e := range all {
		e.Stop()
	}
	_ = os.RemoveAll(p.dir) // what is left lies with other temporary files
}

func (p *Process) unpack(c *Code) (string, error) {
	p.mu.Lock()
	u := p.codes[c.SHA256]
	if u == nil {
		u = &unpacked{dir: filepath.Join(p.dir, fmt.Sprintf("code-%d", len(p.codes)))}
		p.codes[c.SHA256] = u
	}
	p.mu.Unlock()
	u.once.Do(func() {
		if u.err = os.Mkdir(u.dir, 0o755); u.err == nil {
			u.err = c.extract(u.dir)
		}
	})
	return u.dir, u.err
}

// Start implements Executor.
func (p *Process) Start(ctx context.Context, s Spec) (Environment, error) {
	if host := architectures[runtime.GOARCH]; s.Architecture != host {
		return nil, &Failure{Type: "Runtime.InvalidEntrypoint", Fatal: true,
			Message: fmt.Sprintf("the sandbox's host is %s and cannot run code for %s: build the function for %s, or set its architectures to [%q]", host, s.Architecture, host, host)}
	}
	dir, err := p.unpack(s.Code)
	if err != nil {
		return nil, fmt.Errorf("unpacking the code of %s: %w", s.Function, err)
	}
	if err := checkBootstrap(dir); err != nil {
		return nil, err
	}
	api, err := newRuntimeAPI()
	if err != nil {
		return nil, fmt.Errorf("opening a runtime API for %s: %w", s.Function, err)
	}
	e := &processEnvironment{executor: p, spec: s, api: api, exited: make(chan struct{})}
	if err := e.launch(dir); err != nil {
		api.close()
		return nil, err
	}
	if err := e.initialise(ctx); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

func checkBootstrap(dir string) error {
	info, err := os.Stat(filepath.Join(dir, "bootstrap"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Failure{Type: "Runtime.InvalidEntrypoint", Message: "Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]", Fatal: true}
	case err != nil:
		return fmt.Errorf("looking for the bootstrap: %w", err)
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return &Failure{Type: "Runtime.InvalidEntrypoint", Message: "fork/exec /var/task/bootstrap: permission denied", Fatal: true}
	}
	return nil
}

// processEnvironment is a bootstrap that runs.
type processEnvironment struct {
	executor *Process
	spec     Spec
	api      *runtimeAPI
	cmd      *exec.Cmd
	exited   chan struct{} // closed when the process is gone
	exitErr  error         // valid then
	stop     sync.Once
}

func (e *processEnvironment) launch(dir string) error {
	e.cmd = exec.Command(filepath.Join(dir, "bootstrap"))
	e.cmd.Dir = dir
	for _, k := range sortedKeys(e.spec.Env) {
		e.cmd.Env = append(e.cmd.Env, k+"="+e.spec.Env[k])
	}
	e.cmd.Env = append(e.cmd.Env, "AWS_LAMBDA_RUNTIME_API="+e.api.address(), "LAMBDA_TASK_ROOT="+dir, "LAMBDA_RUNTIME_DIR="+dir)
	ownGroup(e.cmd)
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("opening a pipe for the output of %s: %w", e.spec.Function, err)
	}
	e.cmd.Stdout, e.cmd.Stderr = in, in
	p := e.executor
	p.mu.Lock()
	defer p.mu.Unlock()
	err = errors.New("the sandbox is closing")
	if !p.closed {
		err = e.cmd.Start()
	}
	_ = in.Close() // the process has its own copy
	if err != nil {
		_ = out.Close()
		return &Failure{Type: "Runtime.InvalidEntrypoint", Message: err.Error(), Fatal: true}
	}
	p.live[e] = true
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines(out, e.spec.Log)
	}()
	go func() {
		e.exitErr = e.cmd.Wait()
		killGroup(e.cmd) // what the process left behind
		<-read
		_ = out.Close()
		close(e.exited)
	}()
	return nil
}

// lines calls log for every line of r, in parts if a line is very long.
func lines(r io.Reader, log func(string)) {
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := b.ReadSlice('\n')
		if s := strings.TrimRight(string(line), "\r\n"); s != "" {
			log(s)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// initialise waits until the code asks for its first event.
func (e *processEnvironment) initialise(ctx context.Context) error {
	late := make(chan struct{})
	timer := e.executor.wall.AfterFunc(initLimit, func() { close(late) })
	defer timer.Stop()
	select {
	case <-e.api.ready:
		return nil
	case f := <-e.api.initFailure:
		return f
	case <-e.exited:
		select {
		case f := <-e.api.initFailure: // reported, then exited
			return f
		default:
			return e.exit()
		}
	case <-late:
		return &Failure{Type: "Sandbox.Timedout", Message: fmt.Sprintf("Init timed out after %.2f seconds", initLimit.Seconds()), Fatal: true}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *processEnvironment) exit() *Failure {
	message := "Runtime exited without providing a reason"
	if e.exitErr != nil {
		message = "Runtime exited with error: " + e.exitErr.Error()
	}
	return &Failure{Type: "Runtime.ExitError", Message: message, Fatal: true}
}

// Invoke implements Environment.
func (e *processEnvironment) Invoke(ctx context.Context, in Invocation) ([]byte, error) {
	p := &pending{Invocation: in, deadline: e.realDeadline(in.Deadline), done: make(chan answer, 1)}
	select {
	case e.api.next <- p:
	case <-e.exited:
		return nil, e.exit()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case a := <-p.done:
		return a.payload, a.err()
	case <-e.exited:
		select {
		case a := <-p.done: // answered, then exited
			return a.payload, a.err()
		default:
			return nil, e.exit()
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// realDeadline translates a deadline of the world's clock: the runtime inside
// the process compares it with the clock of the host.
func (e *processEnvironment) realDeadline(deadline time.Time) time.Time {
	return e.executor.wall.Now().Add(clock.Real(e.spec.Clock, deadline.Sub(e.spec.Clock.Now())))
}

// Stop implements Environment.
func (e *processEnvironment) Stop() {
	e.stop.Do(func() {
		select {
		case <-e.exited: // its process ID may be another's by now
		default:
			killGroup(e.cmd)
		}
		<-e.exited
		e.api.close()
		e.executor.mu.Lock()
		delete(e.executor.live, e)
		e.executor.mu.Unlock()
	})
}
