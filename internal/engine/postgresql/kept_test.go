package postgresql

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// fill makes every write of a file fail for want of space
// (https://man7.org/linux/man-pages/man4/full.4.html).
func fill(t *testing.T, file string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is a device of Linux")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", file+".agent"); err != nil {
		t.Fatal(err)
	}
}

// A standby that can't keep what it must know once its primary is gone is not
// fit, although its server is well, and says what to do.
func TestStandbyThatKeepsNothing(t *testing.T) {
	recorded, err := os.ReadFile("testdata/standby.txt")
	if err != nil {
		t.Fatal(err)
	}
	report, err := ParseReport(string(recorded))
	if err != nil {
		t.Fatal(err)
	}
	standby := wire{answer: func(string) string { return report.Answer }}
	primary := wire{answer: func(statement string) string {
		return map[string]string{"SHOW synchronous_standby_names": `"b"`, "SHOW synchronous_commit": "on"}[statement]
	}}
	tests := []struct {
		full []string
		want string // in its trouble
	}{
		{nil, ""},
		{[]string{"contact"}, "no space left on device"},
		{[]string{"synchronous"}, "no space left on device"},
		{[]string{"contact", "synchronous"}, "no space left on device"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.full), func(t *testing.T) {
			_, port, err := net.SplitHostPort(primary.accept(t, "tcp", "127.0.0.1:0").String())
			if err != nil {
				t.Fatal(err)
			}
			settings := declared(map[string]string{"socket_directory": "/s", "address_a": "127.0.0.1:" + port, "sslmode": "disable"})
			s, err := ParseSettings(settings)
			if err != nil {
				t.Fatal(err)
			}
			l := Local{Group: "orders", Node: "b", Root: standby.listen(t, s), Clock: clock.System(), Session: &Session{}, Shell: noShell{t}}
			defer l.Session.Close()
			for _, name := range tt.full {
				fill(t, filepath.Join(l.Root, stateDirectory, "orders", name))
			}
			full(t, l.View(t.Context(), settings), tt.want)
		})
	}
}

// The script says the same.
func TestStandbyWhoseScriptKeepsNothing(t *testing.T) {
	recorded, err := os.ReadFile("testdata/standby.txt")
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"": "",
		"sh: 12: cannot create /var/lib/hadr/orders/contact.77: No space left on device": "(No space left on device)",
		"sh: 12: printf: printf: I/O error":                                              "(I/O error)",
		"sh: 12: cannot create /var/lib/hadr/orders/contact.77: Read-only file system":   "(Read-only file system)",
	} {
		output := strings.Replace(string(recorded), "=== hadr end", "=== hadr unkept\n"+said+"\n=== hadr end", 1)
		l := Local{Group: "orders", Node: "b", Shell: printing(output), Clock: clock.System()}
		full(t, l.View(t.Context(), declared(nil)), want)
	}
}

// full holds a view to the trouble of a full disk, "" = none.
func full(t *testing.T, o failover.Observation, want string) {
	t.Helper()
	if o.Answer != failover.Answered || o.Role != failover.RoleStandby {
		t.Fatalf("view: %+v", o)
	}
	if want == "" {
		if o.Trouble != "" || strings.Contains(o.FitnessWhy, "keep") {
			t.Errorf("a standby that keeps everything: trouble %q, %s (%s)", o.Trouble, o.Fitness, o.FitnessWhy)
		}
		return
	}
	if !strings.Contains(o.Trouble, want) || !strings.Contains(o.Trouble, "free some space") {
		t.Errorf("trouble %q, want %q with its fix", o.Trouble, want)
	}
	if o.Fitness != failover.Unfit || !strings.Contains(o.FitnessWhy, want) || !strings.Contains(o.FitnessNext, "free some space") {
		t.Errorf("it looks healthier than it is: %s (%s), next %q", o.Fitness, o.FitnessWhy, o.FitnessNext)
	}
}

// noShell is a host on which no script has to run.
type noShell struct{ t *testing.T }

func (s noShell) Run(context.Context, string) (string, int, error) {
	s.t.Error("a script was run")
	return "", -1, os.ErrDeadlineExceeded
}
