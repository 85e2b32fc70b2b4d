package postgresql

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// deaf is a shell in which nothing can be started any more.
type deaf struct{}

func (deaf) Run(context.Context, string) (string, int, error) {
	return "", -1, os.ErrDeadlineExceeded
}

// stand starts a process that looks like a server in a data directory.
func stand(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), name)
	b, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "60")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Skipf("a copy of sleep can't be run: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	return cmd
}

func fenceable(t *testing.T) (Local, map[string]string, string) {
	t.Helper()
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	settings := declared(map[string]string{"data_directory": data})
	if _, err := ParseSettings(settings); err != nil {
		t.Skipf("the temporary directory is no path for a document: %v", err)
	}
	return Local{Group: "orders", Node: "a", Shell: deaf{}, Clock: clock.System()}, settings, data
}

// On a host that can start nothing the server is killed, its neighbours are not.
func TestFenceKillsWhatCannotBeStopped(t *testing.T) {
	l, settings, data := fenceable(t)
	server, other := stand(t, "postgres", data), stand(t, "postgres", t.TempDir())
	shell := stand(t, "editor", data)
	got, err := l.Fence(t.Context(), settings, time.Minute)
	if err != nil || got.How != "killed" {
		t.Fatalf("fence: %+v, %v", got, err)
	}
	if err := server.Wait(); err == nil || server.ProcessState.Success() {
		t.Errorf("the server ended by itself: %v", err)
	}
	for _, cmd := range []*exec.Cmd{other, shell} {
		if pids, err := serverProcesses(cmd.Dir); cmd == other && (err != nil || len(pids) != 1) {
			t.Errorf("the server in %s: %v, %v", cmd.Dir, pids, err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Errorf("a process that is not the server was killed: %v", err)
		}
	}
}

func TestFenceOfNoServer(t *testing.T) {
	l, settings, _ := fenceable(t)
	if got, err := l.Fence(t.Context(), settings, time.Minute); err != nil || got.How != "was down" {
		t.Errorf("fence: %+v, %v", got, err)
	}
	if err := l.Kill(t.Context(), settings); err != nil {
		t.Errorf("kill: %v", err)
	}
	if _, err := l.Fence(t.Context(), settings, time.Second/2); err == nil {
		t.Error("a limit of half a second is allowed")
	}
}
