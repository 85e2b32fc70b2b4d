package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Shell runs scripts as processes of this host.
type Shell struct{}

// Run runs a script in sh, in a process group of its own. When ctx ends the
// whole group is killed: a hung db2 client must not outlive its probe.
func (Shell) Run(ctx context.Context, script string) (output string, code int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-s")
	cmd.Stdin = strings.NewReader(script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out.String(), -1, fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode(), nil
	case err != nil:
		return out.String(), -1, fmt.Errorf("running a shell: %w", err)
	}
	return out.String(), 0, nil
}

// Process is a program that runs on, line by line.
type Process struct {
	group int
	in    io.WriteCloser
	lines chan string
	ended chan struct{}
	once  sync.Once
}

// Start starts a script in sh, in a process group of its own. Kill must be
// called in the end, also of one that has ended by itself.
func (Shell) Start(script string) (*Process, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	p := &Process{group: -cmd.Process.Pid, in: in, lines: make(chan string, 16), ended: make(chan struct{})}
	go func() {
		defer close(p.lines)
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			select {
			case p.lines <- scanner.Text():
			case <-p.ended: // nobody listens any more
			}
		}
		_ = cmd.Wait()
	}()
	return p, nil
}

// Send writes to the program's standard input.
func (p *Process) Send(text string) error {
	_, err := io.WriteString(p.in, text)
	return err
}

// Lines are what the program prints, closed at its end.
func (p *Process) Lines() <-chan string { return p.lines }

// Kill ends the whole process group.
func (p *Process) Kill() {
	p.once.Do(func() {
		close(p.ended)
		_ = syscall.Kill(p.group, syscall.SIGKILL)
		_ = p.in.Close()
	})
}
