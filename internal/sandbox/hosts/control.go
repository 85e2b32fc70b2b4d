package hosts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
)

// controlFile holds the path of the socket through which the processes of a
// machine reach their host. The socket itself is elsewhere: its path must be
// short.
const controlFile = "run/host"

// order is the first line of a connection to that socket, as JSON. For dial
// and accept, the bytes after the answer are the connection's.
type order struct {
	Op   string   `json:"op"` // dial, listen, accept, spawn, kill, unit, address
	IP   string   `json:"ip,omitempty"`
	Port int      `json:"port,omitempty"`
	On   bool     `json:"on,omitempty"` // listen: loopback only; address: add
	Name string   `json:"name,omitempty"`
	Verb string   `json:"verb,omitempty"`
	Args []string `json:"args,omitempty"`
	ID   int      `json:"id,omitempty"` // of an accepted connection
}

// outcome is the line that answers it.
type outcome struct {
	Error   string `json:"error,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	Text    string `json:"text,omitempty"`
	Code    int    `json:"code,omitempty"`
	ID      int    `json:"id,omitempty"`
	Remote  string `json:"remote,omitempty"`
}

// control serves the processes of one machine.
type control struct {
	m  *machine
	mu sync.Mutex
	// waiting are connections that a listener accepted and its process has not
	// picked up.
	waiting map[int]net.Conn
	next    int
}

func (x *processes) openControl(m *machine) error {
	dir, err := os.MkdirTemp("", "hadr-host-")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		_ = os.RemoveAll(dir)
		return fmt.Errorf("open the control socket: %w", err)
	}
	c := &control{m: m, waiting: map[int]net.Conn{}}
	power := m.power
	m.background(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.background(func() {
				stop := context.AfterFunc(power, func() { _ = conn.Close() })
				defer stop()
				defer conn.Close()
				c.serve(power, conn)
			})
		}
	})
	m.atPowerOff(func() { _ = l.Close(); _ = os.RemoveAll(dir) })
	return os.WriteFile(filepath.Join(m.root, controlFile), []byte(path), 0o644)
}

func (c *control) serve(ctx context.Context, conn net.Conn) {
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	var o order
	if err != nil || json.Unmarshal(line, &o) != nil {
		return
	}
	answer := func(r outcome, err error) {
		if err != nil {
			r.Error, r.Refused = err.Error(), errors.Is(err, syscall.ECONNREFUSED)
		}
		_, _ = conn.Write(append(mustJSON(r), '\n'))
	}
	switch o.Op {
	case "dial":
		c.dial(ctx, conn, o, answer)
	case "listen":
		c.listen(conn, o, answer)
	case "accept":
		c.mu.Lock()
		remote := c.waiting[o.ID]
		delete(c.waiting, o.ID)
		c.mu.Unlock()
		if remote != nil {
			fabric.Relay(conn, remote)
		}
	case "spawn":
		answer(outcome{}, c.m.Spawn(ctx, o.Name, o.Args...))
	case "kill":
		n, err := c.m.Kill(ctx, o.Name)
		answer(outcome{Code: n}, err)
	case "unit":
		text, code := c.m.Unit(ctx, o.Verb, o.Name)
		answer(outcome{Text: text, Code: code}, nil)
	case "address":
		answer(outcome{}, c.m.Address(ctx, o.IP, o.On))
	}
}

// dial connects for a process, until that gives up.
func (c *control) dial(ctx context.Context, conn net.Conn, o order, answer func(outcome, error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() { // the process sends nothing before the answer
		defer close(watched)
		var b [1]byte
		if _, err := conn.Read(b[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
			cancel()
		}
	}()
	remote, err := c.m.Dial(ctx, o.IP, o.Port)
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	<-watched
	_ = conn.SetReadDeadline(time.Time{})
	answer(outcome{}, err)
	if err == nil {
		fabric.Relay(conn, remote)
	}
}

// listen accepts connections for a process as long as it lives.
func (c *control) listen(conn net.Conn, o order, answer func(outcome, error)) {
	l, err := c.m.Listen(o.Port, o.On)
	answer(outcome{}, err)
	if err != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var b [1]byte
		_, _ = conn.Read(b[:])
		_ = l.Close()
	}()
	var ids []int
	for {
		remote, err := l.Accept()
		if err != nil {
			break
		}
		c.mu.Lock()
		c.next++
		id := c.next
		c.waiting[id] = remote
		c.mu.Unlock()
		ids = append(ids, id)
		answer(outcome{ID: id, Remote: remote.RemoteAddr().String()}, nil)
	}
	_ = conn.Close()
	<-gone
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids { // never picked up: the process is dead
		if remote := c.waiting[id]; remote != nil {
			_ = remote.Close()
			delete(c.waiting, id)
		}
	}
}
