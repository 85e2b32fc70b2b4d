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
