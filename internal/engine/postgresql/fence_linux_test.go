package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	return standAs(t, name, dir, nil)
}

// standAs starts it as another user.
func standAs(t *testing.T, name, dir string, as *syscall.Credential) *exec.Cmd {
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
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

// rights is an environment variable that makes TestFenceWithTheRightsOfItsUnit
// look for a server, instead of starting itself with fewer rights.
const rights = "HADR_TEST_LOOK_IN"

// The unit of the agent takes rights of root away. Those that it leaves have to
// do for finding a server that runs as another user, and a server of a third one
// must not be in the way.
func TestFenceWithTheRightsOfItsUnit(t *testing.T) {
	if data := os.Getenv(rights); data != "" {
		pids, err := serverProcesses(data)
		fmt.Printf("found %v, %v.\n", pids, err)
		return
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("needs root and setpriv: %v", err)
	}
	const owner, third = 65534, 65533
	server := standAs(t, "postgres", owned(t, owner), &syscall.Credential{Uid: owner, Gid: owner})
	standAs(t, "postgres", owned(t, third), &syscall.Credential{Uid: third, Gid: third})
	full := unitRights(t)
	blind := strings.Replace(full, ",+sys_ptrace", "", 1)
	tests := []struct{ name, rights, data, says string }{
		{"the server of a directory", full, server.Dir, fmt.Sprintf("found [%d], <nil>.", server.Process.Pid)},
		{"a directory without one", full, t.TempDir(), "found [], <nil>."},
		{"without the right to look nothing is claimed", blind, server.Dir, "with CAP_SYS_PTRACE"},
		{"nor are servers of other users in the way", blind, owned(t, 65532), "found [], <nil>."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), setpriv, "--bounding-set", tt.rights, os.Args[0], "-test.run", "^TestFenceWithTheRightsOfItsUnit$")
			cmd.Env = append(os.Environ(), rights+"="+tt.data)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.says) {
				t.Errorf("%v: %s\nwant %q", err, out, tt.says)
			}
		})
	}
}

// unitRights are those that the unit of the agent leaves to root, in the words of
// setpriv.
func unitRights(t *testing.T) string {
	t.Helper()
	unit, err := os.ReadFile("../../../cmd/hadr-agent/package/hadr-agent.service")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(unit)) {
		if set, ok := strings.CutPrefix(strings.TrimSpace(line), "CapabilityBoundingSet="); ok {
			return "-all,+" + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(set, "CAP_", ""), " ", ",+"))
		}
	}
	t.Fatal("the unit names no rights")
	return ""
}

// owned is a directory of another user, who can also reach its neighbours.
func owned(t *testing.T, uid int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, uid, uid)); err != nil {
		t.Fatal(err)
	}
	return dir
}
