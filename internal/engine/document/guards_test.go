//go:build unix

package document

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const tableARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"

// work is a document that counts how often it did its work.
var work = Document{
	Kind: "work", Description: "works", Parameters: Order(),
	Body: Guards + "\nbegin\nprintf 'x' >>\"$state/worked\"\nfinish started 'done'\n",
}

// node is a disk on which documents run in the host's own shell.
type node struct {
	t    *testing.T
	root string
}

func newNode(t *testing.T) node {
	t.Helper()
	for _, program := range []string{"sh", "flock"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("documents need %s: %v", program, err)
		}
	}
	return node{t, t.TempDir()}
}

func (n node) file(name string) string { return filepath.Join(n.root, "var/lib/hadr/orders", name) }

func (n node) write(name, content string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(n.file(name)), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(n.file(name), []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) read(name string) string {
	b, _ := os.ReadFile(n.file(name))
	return strings.TrimSpace(string(b))
}

// order is a command in epoch 8 that may start within an hour.
func order(change map[string]string) map[string]string {
	p := map[string]string{
		"group": "orders", "table_arn": tableARN, "epoch": "8", "operation": "01JABC", "step": "promote", "attempt": "1",
		"deadline": fmt.Sprint(time.Now().Add(time.Hour).Unix()),
	}
	for name, value := range change {
		p[name] = value
	}
	return p
}

func (n node) run(change map[string]string) (out string, code int) {
	n.t.Helper()
	script, err := work.Render(order(change))
	if err != nil {
		n.t.Fatal(err)
	}
	cmd := exec.CommandContext(n.t.Context(), "sh", "-s")
	cmd.Stdin, cmd.Env = strings.NewReader(script), []string{"HADR_ROOT=" + n.root, "PATH=" + os.Getenv("PATH")}
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		n.t.Fatal(err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

func TestGuards(t *testing.T) {
	passed := fmt.Sprint(time.Now().Add(-time.Minute).Unix())
	tests := []struct {
		name    string
		before  func(node)
		order   map[string]string
		outcome string
		says    string
		worked  string
	}{
		{name: "a first command", outcome: "started", worked: "x"},
		{name: "the node's own table", before: func(n node) { n.write("table", tableARN+"\n") }, outcome: "started", worked: "x"},
		{name: "R12: another table", before: func(n node) { n.write("table", "arn:aws:dynamodb:eu-central-1:123456789012:table/other\n") }, outcome: "refused", says: "table/other"},
		{name: "R21: a later epoch was seen", before: func(n node) { n.write("epoch", "9\n") }, outcome: "refused", says: "epoch 8 is over"},
		{name: "the same epoch was seen", before: func(n node) { n.write("epoch", "8\n") }, outcome: "started", worked: "x"},
		{name: "the epoch is damaged", before: func(n node) { n.write("epoch", "eight") }, outcome: "refused", says: "damaged"},
		{name: "R21: too late", order: map[string]string{"deadline": passed}, outcome: "refused", says: "deadline"},
		{name: "R21: a killed run left no result", before: func(n node) { n.write("commands/01JABC.promote.1/intent", "") }, order: map[string]string{"deadline": passed}, outcome: "unknown", says: "left no result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode(t)
			if tt.before != nil {
				tt.before(n)
			}
			out, code := n.run(tt.order)
			r, err := ParseReport(out)
			if err != nil {
				t.Fatal(err)
			}
			if r["outcome"] != tt.outcome || !strings.Contains(r["reason"], tt.says) || (code == 0) != (tt.outcome == "started") {
				t.Errorf("exit code %d: %q; want %s, %q", code, r, tt.outcome, tt.says)
			}
			if n.read("worked") != tt.worked {
				t.Errorf("worked %q, want %q", n.read("worked"), tt.worked)
			}
		})
	}
}

// R21: a duplicate gets the first answer, whatever has changed since. The next
// attempt is another command.
func TestGuardsAnswerADuplicate(t *testing.T) {
	n := newNode(t)
	first, code := n.run(nil)
	n.write("epoch", "9\n")
	again, code2 := n.run(nil)
	if again != first || code != 0 || code2 != 0 || n.read("worked") != "x" {
		t.Errorf("exit codes %d, %d, worked %q\nfirst: %s\nagain: %s", code, code2, n.read("worked"), first, again)
	}
	n.write("epoch", "8\n")
	n.run(map[string]string{"attempt": "2"})
	if n.read("worked") != "xx" {
		t.Errorf("attempt 2: worked %q", n.read("worked"))
	}
}

// A refusal is a result, too.
func TestGuardsKeepARefusal(t *testing.T) {
	n := newNode(t)
	n.write("epoch", "9\n")
	first, _ := n.run(nil)
	n.write("epoch", "8\n")
	if again, code := n.run(nil); again != first || code == 0 {
		t.Errorf("exit code %d: %s", code, again)
	}
}

func TestGuardsOneAtATime(t *testing.T) {
	n := newNode(t)
	n.write("lock", "")
	held, err := os.Open(n.file("lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if out, code := n.run(nil); code == 0 || !strings.Contains(out, "another command works") || n.read("worked") != "" {
		t.Errorf("exit code %d, worked %q: %s", code, n.read("worked"), out)
	}
}

func TestGuardsMarkTheNode(t *testing.T) {
	n := newNode(t)
	n.run(nil)
	if n.read("table") != tableARN || n.read("epoch") != "8" || !strings.HasPrefix(n.read("commands/01JABC.promote.1/intent"), "epoch 8 deadline ") {
		t.Errorf("table %q, epoch %q, intent %q", n.read("table"), n.read("epoch"), n.read("commands/01JABC.promote.1/intent"))
	}
}
