package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Shell runs scripts as processes of this host.
type Shell struct{}

// outputGrace is how long the output of a script is read after its end: who
// left its process group holds it open for as long as it likes.
const outputGrace = time.Second

// Run runs a script in sh, in a process group of its own. When ctx ends the
// whole group is killed: a hung db2 client must not outlive its probe. It waits
// for nobody who left the group.
func (Shell) Run(ctx context.Context, script string) (output string, code int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-s")
	cmd.Stdin = strings.NewReader(script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputGrace
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out.String(), -1, fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode(), nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // the script itself ended well
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
	out, printed, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	cmd.Stdout = printed
	err = cmd.Start()
	_ = printed.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	p := &Process{group: -cmd.Process.Pid, in: in, lines: make(chan string, 16), ended: make(chan struct{})}
	go p.read(out)
	go func() {
		_ = cmd.Wait()
		_ = out.SetReadDeadline(time.Now().Add(outputGrace))
	}()
	return p, nil
}

// read hands out the lines of a program until nothing more comes.
func (p *Process) read(out *os.File) {
	defer close(p.lines)
	defer func() { _ = out.Close() }()
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		select {
		case p.lines <- scanner.Text():
		case <-p.ended: // nobody listens any more
		}
	}
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
