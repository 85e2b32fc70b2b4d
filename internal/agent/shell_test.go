package agent

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestShell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on PATH")
	}
	output, code, err := Shell{}.Run(t.Context(), "echo out; echo err >&2; exit 4")
	if err != nil || code != 4 || output != "out\nerr\n" {
		t.Errorf("Run = %q, %d, %v", output, code, err)
	}
}

// TestShellKillsTheWholeGroup: a client that hangs does not outlive its probe.
func TestShellKillsTheWholeGroup(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on PATH")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	output, _, err := Shell{}.Run(ctx, "sleep 60 & echo $!; wait")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want the deadline", err)
	}
	pid, convErr := strconv.Atoi(strings.TrimSpace(output))
	if convErr != nil {
		t.Fatal(convErr)
	}
	// The child may be a zombie for a moment, which kill(2) still finds.
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// TestShellWaitsForNobodyOutside: a process that left the group and holds the
// output open costs a script neither its answer nor its deadline, and a program
// neither its end nor that of its lines.
func TestShellWaitsForNobodyOutside(t *testing.T) {
	for _, tool := range []string{"sh", "setsid"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on PATH", tool)
		}
	}
	const outside = "setsid sleep 30 & echo $!; "
	late := errors.New("late")
	tests := []struct {
		name string
		run  func() (output string, err error)
		want error
	}{
		{"a script that ends", func() (string, error) {
			output, code, err := Shell{}.Run(t.Context(), outside+"exit 0")
			if code != 0 {
				t.Errorf("code %d", code)
			}
			return output, err
		}, nil},
		{"a script that fails", func() (string, error) {
			output, code, err := Shell{}.Run(t.Context(), outside+"exit 4")
			if code != 4 {
				t.Errorf("code %d", code)
			}
			return output, err
		}, nil},
		{"a script that hangs", func() (string, error) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
			defer cancel()
			output, _, err := Shell{}.Run(ctx, outside+"wait")
			return output, err
		}, late},
		{"a program that ends", func() (string, error) { return program(outside+"exit 0", func(*Process) {}) }, nil},
		{"a program that is killed", func() (string, error) {
			return program("setsid sh -c 'echo $$; exec sleep 30' & wait", (*Process).Kill)
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			began := time.Now()
			output, err := tt.run()
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
			pid, convErr := strconv.Atoi(strings.TrimSpace(output))
			if convErr != nil {
				t.Fatalf("output %q, %v", output, err)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// program returns the first line of a program that is brought to its end.
func program(script string, end func(*Process)) (string, error) {
	p, err := Shell{}.Start(script)
	if err != nil {
		return "", err
	}
	defer p.Kill()
	first := <-p.Lines()
	end(p)
	for range p.Lines() { // until its end
	}
	return first, nil
}

func zombie(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

type script func(string) (string, int, error)

func (f script) Run(_ context.Context, s string) (string, int, error) { return f(s) }

func TestAddresses(t *testing.T) {
	bound := ""
	a := Addresses{script(func(s string) (string, int, error) {
		switch s {
		case "ip addr show":
			return "1: lo\n    inet 127.0.0.1/8 scope host lo\n" + bound, 0, nil
		case "ip addr add 10.99.0.1/32 dev lo":
			bound = "    inet 10.99.0.1/32 scope global lo\n"
			return "", 0, nil
		case "ip addr del 10.99.0.1/32 dev lo":
			bound = ""
			return "", 0, nil
		}
		return "RTNETLINK answers: Operation not permitted", 2, nil
	})}
	for range 2 { // the second time changes nothing
		if err := a.Hold(t.Context(), "10.99.0.1"); err != nil || bound == "" {
			t.Errorf("Hold: %v, bound %q", err, bound)
		}
	}
	for range 2 {
		if err := a.Release(t.Context(), "10.99.0.1"); err != nil || bound != "" {
			t.Errorf("Release: %v, bound %q", err, bound)
		}
	}
	if err := a.Hold(t.Context(), "10.99.0.9"); err == nil || !strings.Contains(err.Error(), "not permitted") {
		t.Errorf("Hold that is denied: %v", err)
	}
	if err := a.Hold(t.Context(), "10.0.0.1; reboot"); err == nil {
		t.Error("something that is no address reached the shell")
	}
}

// TestProcess: a program that runs on answers line by line, and is killed with
// everything that it started.
func TestProcess(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on PATH")
	}
	defer goleak.VerifyNone(t)
	p, err := Shell{}.Start(`sleep 60 & echo $!; while read -r line; do echo "got $line"; done`)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(<-p.Lines())
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		if err := p.Send(word + "\n"); err != nil {
			t.Fatal(err)
		}
		if line := <-p.Lines(); line != "got "+word {
			t.Errorf("answer %q to %q", line, word)
		}
	}
	p.Kill()
	p.Kill()
	for range p.Lines() { // until its end
	}
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d still runs", pid)
	}
}
