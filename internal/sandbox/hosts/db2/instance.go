package db2

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Network is the machine's network as db2sysc and the commands use it.
type Network interface {
	// Dial connects to ip:port, or returns when ctx ends.
	Dial(ctx context.Context, ip string, port int) (net.Conn, error)
	// Listen opens a port, on the loopback address only if local is set.
	Listen(port int, local bool) (net.Listener, error)
}

// ipcPort is where the commands of the machine reach db2sysc.
const ipcPort = 60000

const loopback = "127.0.0.1"

// Instance is a running db2sysc.
type Instance struct {
	layout Layout
	cfg    InstanceConfig
	clock  clock.Clock
	net    Network

	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup
	databases map[string]*database
	only      *database // what applications use
	locks     *lockTable
	levers    levers
	diagMu    sync.Mutex
}

// Serve runs db2sysc until ctx ends or db2stop. It activates no database.
func Serve(ctx context.Context, l Layout, c clock.Clock, n Network) error {
	cfg, err := l.Instance()
	if err != nil {
		return fmt.Errorf("start the instance: %w", err)
	}
	in := &Instance{layout: l, cfg: cfg, clock: c, net: n, databases: map[string]*database{}, locks: newLockTable()}
	in.levers.changed = make(chan struct{})
	in.ctx, in.cancel = context.WithCancel(ctx)
	defer in.cancel()
	// The port comes first: it keeps a second db2sysc away from the logs.
	ipc, err := n.Listen(ipcPort, true)
	if err != nil {
		return fmt.Errorf("start the instance: %w", err)
	}
	defer func() { _ = ipc.Close() }()
	names, err := l.databases()
	if err != nil {
		return err
	}
	for _, name := range names {
		d, err := openDatabase(in, name)
		if err != nil {
			return fmt.Errorf("open database %s: %w", name, err)
		}
		defer func() { _ = d.log.close() }()
		in.databases[name] = d
		in.only = d
	}
	applications, err := n.Listen(cfg.Port, false)
	if err != nil {
		return fmt.Errorf("open the port for applications: %w", err)
	}
	in.diag("Database manager started")
	in.serve(ipc, in.serveCommands)
	in.serve(applications, in.serveApplication)
	<-in.ctx.Done()
	for _, d := range in.databases {
		d.mu.Lock()
		r := d.run
		d.mu.Unlock()
		if r != nil {
			d.stop(r)
		}
	}
	in.wg.Wait()
	return nil
}

func (in *Instance) background(f func()) { in.wg.Go(f) }

// serve accepts connections until the instance ends.
func (in *Instance) serve(l net.Listener, handle func(context.Context, net.Conn)) {
	in.background(func() {
		stop := context.AfterFunc(in.ctx, func() { _ = l.Close() })
		defer stop()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in.background(func() {
				ctx, cancel := context.WithCancel(in.ctx)
				defer cancel()
				context.AfterFunc(ctx, func() { _ = conn.Close() })
				handle(ctx, conn)
			})
		}
	})
}

// serveApplication speaks the load generator's protocol. Like any connection
// of an application, the first commit activates an inactive primary.
func (in *Instance) serveApplication(ctx context.Context, conn net.Conn) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		answer := in.answer(ctx, strings.Fields(lines.Text()))
		if _, err := conn.Write([]byte(answer + "\n")); err != nil {
			return
		}
	}
}

func (in *Instance) answer(ctx context.Context, words []string) string {
	if len(words) != 3 || words[0] != "COMMIT" {
		return "ERR want: COMMIT <client> <seq>"
	}
	seq, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return "ERR the sequence is not a number"
	}
	d := in.only
	if d == nil {
		return "ERR no database"
	}
	if err := in.levers.delay(ctx, in.clock); err != nil {
		return "ERR " + err.Error()
	}
	if bad := d.connectable(ctx); bad != nil {
		return "ERR " + oneLine(bad.Text)
	}
	pos, err := d.commitClient(ctx, words[1], seq)
	if err != nil {
		return "ERR " + oneLine(sqlError(err).Text)
	}
	return "ACK " + in.cfg.Hostname + " " + strconv.FormatInt(pos, 10)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// connectable answers a connection request: nil if it succeeds.
func (d *database) connectable(ctx context.Context) *reply {
	d.mu.Lock()
	active, role := d.active(), d.cfg.Role
	reads := active && d.in.cfg.ReadsOnStandby && d.run.state != LocalCatchup
	d.mu.Unlock()
	if role == Standby && !reads {
		return &msgOnStandby
	}
	if active {
		return nil
	}
	if r := d.activate(ctx, false); r.Code == codeError {
		return &r
	}
	return nil
}

// sqlError words the failure of a statement.
func sqlError(err error) reply {
	switch {
	case errors.Is(err, errOnStandby):
		return msgReadOnly
	case errors.Is(err, errInactive):
		return msgNoConnection
	}
	return msgGone
}

// diag appends to db2diag.log.
func (in *Instance) diag(format string, args ...any) {
	in.diagMu.Lock()
	defer in.diagMu.Unlock()
	file := in.layout.diagFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = fmt.Fprintf(f, "%s  %s\n", in.clock.Now().Format("2006-01-02-15.04.05.000000"), fmt.Sprintf(format, args...))
}

// request is a command for db2sysc.
type request struct {
	Op       string            `json:"op"`
	Database string            `json:"database,omitempty"`
	Text     string            `json:"text,omitempty"` // SQL
	Variant  Variant           `json:"variant,omitempty"`
	Role     Role              `json:"role,omitempty"`
	Force    bool              `json:"force,omitempty"`
	Manual   bool              `json:"manual_commit,omitempty"`
	Hang     bool              `json:"hang,omitempty"`
	Slow     time.Duration     `json:"slow,omitempty"`
	Sets     map[string]string `json:"sets,omitempty"`
}

// serveCommands answers the commands of one connection in their order. A
// client that goes away interrupts its command.
func (in *Instance) serveCommands(ctx context.Context, conn net.Conn) {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	s := &sqlSession{in: in, lockTimeout: -1}
	defer s.rollback()
	requests := make(chan request)
	in.background(func() {
		defer close(requests)
		defer interrupt()
		dec := json.NewDecoder(conn)
		for {
			var q request
			if dec.Decode(&q) != nil {
				return
			}
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	})
	enc := json.NewEncoder(conn)
	for q := range requests {
		if enc.Encode(in.do(ctx, s, q)) != nil {
			return
		}
		if q.Op == "stop" {
			in.cancel()
		}
	}
}

func (in *Instance) do(ctx context.Context, s *sqlSession, q request) reply {
	d := in.databases[strings.ToUpper(q.Database)]
	switch q.Op {
	case "ping":
		return reply{}
	case "lever":
		in.levers.set(q.Hang, q.Slow)
		return reply{}
	case "log_device":
		in.levers.fill(q.Hang)
		return reply{}
	case "stop":
		for _, d := range in.databases {
			d.deactivate(ctx, false)
		}
		return reply{}
	case "connect", "sql", "terminate", "reset":
		return s.do(ctx, q)
	}
	if d == nil {
		return noDatabase(q.Database)
	}
	switch q.Op {
	case "activate":
		return d.activate(ctx, true)
	case "deactivate":
		return d.deactivate(ctx, true)
	case "takeover":
		return d.takeover(in.ctx, q.Variant)
	case "start_hadr":
		return d.startHADR(ctx, q.Role, q.Force)
	case "stop_hadr":
		return d.stopHADR(ctx)
	case "db_cfg":
		d.mu.Lock()
		defer d.mu.Unlock()
		return reply{Text: d.cfg.text(in.cfg.edition())}
	case "update_cfg":
		return d.updateConfig(q.Sets)
	case "hadr":
		return reply{Text: d.report().text()}
	}
	return msgCannotWrap
}
