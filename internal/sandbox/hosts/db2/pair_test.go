package db2_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// offsetClock is the clock of a machine that runs wrong.
type offsetClock struct {
	clock.Clock
	by time.Duration
}

func (c *offsetClock) Now() time.Time { return c.Clock.Now().Add(c.by) }

// node is one machine of a pair with its db2sysc.
type node struct {
	t     *testing.T
	name  string
	ip    string
	root  string
	clock *offsetClock
	fab   *fabric.Fabric
	kill  context.CancelFunc
	done  chan struct{}
}

type pair struct {
	t      *testing.T
	fab    *fabric.Fabric
	a, b   *node
	atLast []func()
}

// then does something when the scenario is over, before the machines go off.
func (x *pair) then(f func()) { x.atLast = append(x.atLast, f) }

// inBubble runs a scenario in virtual time. /dev/shm or the test's directory
// holds the disks.
func inBubble(t *testing.T, p db2.Pair, scenario func(*testing.T, *pair)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := newPair(t, dir, p)
		defer x.close()
		scenario(t, x)
	})
}

func newPair(t *testing.T, dir string, p db2.Pair) *pair {
	fab := fabric.New(clock.System(), func() fabric.Router { return nil }, slog.New(slog.DiscardHandler))
	x := &pair{t: t, fab: fab}
	for i, name := range []string{"a", "b"} {
		n := &node{
			t: t, name: name, ip: fmt.Sprintf("10.0.%d.10", i+1), root: filepath.Join(dir, name),
			clock: &offsetClock{Clock: clock.System()}, fab: fab,
		}
		if i == 0 {
			x.a = n
		} else {
			x.b = n
		}
		fab.PowerOn(name, n.ip)
	}
	if err := p.Create(x.a.side(), x.b.side()); err != nil {
		t.Fatal(err)
	}
	return x
}

func (n *node) side() db2.Side {
	return db2.Side{Root: n.root, Hostname: "host-" + n.name, IP: n.ip, Node: n.name}
}

// up starts both instances and activates the standby, then the primary.
func (x *pair) up() {
	x.t.Helper()
	x.a.start()
	x.b.start()
	x.b.db2(0, "activate db SAMPLE")
	x.a.db2(0, "activate db SAMPLE")
}

func (x *pair) close() {
	for _, f := range x.atLast {
		f()
	}
	for _, n := range []*node{x.a, x.b} {
		if n.kill != nil {
			n.crash()
		}
	}
	x.fab.Close()
	time.Sleep(time.Minute) // timers of closed connections run out
	synctest.Wait()
}

// start runs db2sysc.
func (n *node) start() {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	n.kill, n.done = cancel, make(chan struct{})
	l, err := db2.FindLayout(n.root)
	if err != nil {
		n.t.Fatal(err)
	}
	go func() {
		defer close(n.done)
		if err := db2.Serve(ctx, l, n.clock, n); err != nil {
			n.t.Errorf("%s: %v", n.name, err)
		}
	}()
	synctest.Wait()
}

// crash ends db2sysc on a machine that goes on.
func (n *node) crash() {
	n.kill()
	<-n.done
	n.kill = nil
}

// vanish cuts the power.
func (n *node) vanish() {
	n.fab.PowerOff(n.name)
	n.crash()
}

// boot brings the machine back, with db2sysc but without an active database.
func (n *node) boot() {
	n.fab.PowerOn(n.name, n.ip)
	n.start()
}

func (n *node) Dial(ctx context.Context, ip string, port int) (net.Conn, error) {
	return n.fab.Dial(ctx, fabric.Origin{Machine: n.name}, ip, port)
}

func (n *node) Listen(port int, local bool) (net.Listener, error) {
	return n.fab.Listen(n.name, port, local)
}

func (n *node) env(out *bytes.Buffer, stdin string) db2.Env {
	return db2.Env{Root: n.root, Stdin: strings.NewReader(stdin), Stdout: out, Stderr: out, Clock: n.clock, Net: n}
}

// raw runs a db2 command and returns its text and code.
func (n *node) raw(command string) (string, int) {
	var out bytes.Buffer
	code := db2.CLP(context.Background(), n.env(&out, ""), strings.Fields(command))
	return out.String(), code
}

// run does the same with the text joined to one line.
func (n *node) run(command string) (string, int) {
	text, code := n.raw(command)
	return strings.Join(strings.Fields(text), " "), code
}

func (n *node) fillLogDevice(full bool) {
	n.t.Helper()
	if err := db2.FillLogDevice(context.Background(), n, full); err != nil {
		n.t.Fatal(err)
	}
}

// db2 runs a db2 command that must end with a code.
func (n *node) db2(want int, command string) string {
	n.t.Helper()
	text, code := n.run(command)
	if code != want {
		n.t.Fatalf("db2 %s on %s: exit code %d, want %d: %s", command, n.name, code, want, text)
	}
	return text
}

// pd returns the fields of db2pd -hadr.
func (n *node) pd() map[string]string {
	n.t.Helper()
	var out bytes.Buffer
	db2.PD(context.Background(), n.env(&out, ""), []string{"-db", "SAMPLE", "-hadr"})
	fields := map[string]string{"text": out.String()}
	for line := range strings.Lines(out.String()) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " ="); ok {
			fields[key] = strings.TrimSpace(value)
		}
	}
	return fields
}

// epoch returns the Unix seconds of a date of db2pd -hadr.
func (n *node) epoch(key string) int64 {
	var epoch int64
	if _, in, ok := strings.Cut(n.pd()[key], "("); ok {
		_, _ = fmt.Sscanf(in, "%d)", &epoch)
	}
	return epoch
}

func (n *node) state() string { return n.pd()["HADR_STATE"] }

// waitFor waits until db2pd shows a state.
func (n *node) waitFor(state db2.State, within time.Duration) {
	n.t.Helper()
	pause := 50 * time.Millisecond
	for end := time.Now().Add(within); ; time.Sleep(pause) {
		if time.Now().After(end.Add(2*time.Second - within)) {
			pause = 500 * time.Millisecond // a long wait needs no exact end
		}
		if n.state() == string(state) {
			return
		}
		if time.Now().After(end) {
			n.t.Fatalf("%s is %q after %s, want %s\n%s", n.name, n.state(), within, state, n.diag())
		}
	}
}

func (n *node) diag() string {
	b, _ := os.ReadFile(filepath.Join(n.root, "home/db2inst1/sqllib/db2dump/db2diag.log"))
	return string(b)
}

// writer commits without a pause and remembers what was acknowledged.
type writer struct {
	cancel context.CancelFunc
	done   chan struct{}
	acked  []int64
	failed string
}

// pace is how long a client thinks between commits.
const pace = 7 * time.Millisecond

func (n *node) write(client string) *writer { return n.writeEvery(client, pace) }

func (n *node) writeEvery(client string, pause time.Duration) *writer {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		conn, err := n.fab.Dial(ctx, fabric.Origin{}, n.ip, 50000)
		if err != nil {
			return
		}
		defer conn.Close()
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		defer stop()
		answers := newLines(conn)
		for seq := int64(1); ; seq++ {
			if _, err := fmt.Fprintf(conn, "COMMIT %s %d\n", client, seq); err != nil {
				return
			}
			line, err := answers()
			if err != nil {
				return
			}
			if !strings.HasPrefix(line, "ACK ") {
				w.failed = line
				return
			}
			w.acked = append(w.acked, seq)
			time.Sleep(pause)
		}
	}()
	return w
}

// stop ends the writer.
func (w *writer) stop() []int64 {
	w.cancel()
	<-w.done
	return w.acked
}

func newLines(conn net.Conn) func() (string, error) {
	buf := make([]byte, 0, 256)
	return func() (string, error) {
		for {
			if i := bytes.IndexByte(buf, '\n'); i >= 0 {
				line := string(buf[:i])
				buf = buf[i+1:]
				return line, nil
			}
			chunk := make([]byte, 256)
			n, err := conn.Read(chunk)
			if err != nil {
				return "", err
			}
			buf = append(buf, chunk[:n]...)
		}
	}
}

// lost returns the acknowledged commits of a client that a node does not have.
func (n *node) lost(client string, acked []int64) []int64 {
	n.t.Helper()
	l, err := db2.FindLayout(n.root)
	if err != nil {
		n.t.Fatal(err)
	}
	rows, err := db2.Rows(l, "SAMPLE")
	if err != nil {
		n.t.Fatal(err)
	}
	has := map[int64]bool{}
	for _, r := range rows {
		if r.Client == client {
			has[r.Seq] = true
		}
	}
	var lost []int64
	for _, seq := range acked {
		if !has[seq] {
			lost = append(lost, seq)
		}
	}
	return lost
}

func (n *node) rows(client string) []db2.Row {
	n.t.Helper()
	l, err := db2.FindLayout(n.root)
	if err != nil {
		n.t.Fatal(err)
	}
	all, err := db2.Rows(l, "SAMPLE")
	if err != nil {
		n.t.Fatal(err)
	}
	var rows []db2.Row
	for _, r := range all {
		if r.Client == client {
			rows = append(rows, r)
		}
	}
	return rows
}

// stop runs db2stop and waits for the end of db2sysc.
func (n *node) stop() {
	n.t.Helper()
	var out bytes.Buffer
	if code := db2.Stop(context.Background(), n.env(&out, "")); code != 0 {
		n.t.Fatalf("db2stop: %d %s", code, out.String())
	}
	<-n.done
	n.kill = nil
}
