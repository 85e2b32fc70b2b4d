package db2_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
)

// runuser is that of util-linux in what matters here: its -c gives the command
// a session of its own, its --session-command does not.
const runuser = `case "$3" in
-c) exec setsid sh -c "$4" ;;
--session-command=*) exec sh -c "${3#--session-command=}" ;;
esac
exit 1`

// TestKilledProbeLeavesNobody: what a probe started is gone when its time is
// up, through either processor.
func TestKilledProbeLeavesNobody(t *testing.T) {
	for _, tool := range []string{"sh", "setsid"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	for name, resident := range map[string]*db2.Resident{
		"a processor of its own": nil,
		"the resident one":       {Clock: clock.System(), Start: func(script string) (db2.Child, error) { return agent.Shell{}.Start(script) }},
	} {
		t.Run(name, func(t *testing.T) {
			life := hangingDb2(t)
			late := errors.New("the probe's time is up")
			ctx, end := context.WithCancelCause(t.Context())
			died := make(chan struct{})
			go func() {
				defer close(died)
				f, err := os.Open(life) // waits until db2 opens it too
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = f.Close() }()
				r := bufio.NewReader(f)
				line, _ := r.ReadString('\n')
				end(late)
				pid, err := strconv.Atoi(strings.TrimSpace(line))
				if err != nil {
					t.Error(err)
				}
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
				_, _ = r.ReadByte() // until nobody can write any more
			}()
			l := db2.Local{Group: "orders", Shell: agent.Shell{}, Clock: clock.System(), Resident: resident}
			if err := l.Probe(ctx, "a", settings); !errors.Is(err, late) {
				t.Errorf("probe: %v", err)
			}
			select {
			case <-died:
			case <-time.After(10 * time.Second):
				t.Error("db2 lives on")
			}
		})
	}
}

// hangingDb2 puts a runuser and a db2 on the PATH that write the process number
// of db2 to a pipe, and then nothing. It returns the pipe, which ends with db2.
func hangingDb2(t *testing.T) (life string) {
	t.Helper()
	bin := t.TempDir()
	life = filepath.Join(bin, "life")
	if err := syscall.Mkfifo(life, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{"runuser": runuser, "db2": "exec 3>" + life + "\necho $$ >&3\nexec sleep 60"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return life
}
