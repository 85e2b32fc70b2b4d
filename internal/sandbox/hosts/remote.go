package hosts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// remote is the Host of a program that is a process of its own: it asks the
// sandbox through the machine's control socket.
type remote struct{ root string }

// Root implements Host.
func (h *remote) Root() string { return h.root }

// begin sends an order and returns the connection and the reader behind the
// answer line.
func (h *remote) begin(ctx context.Context, o order) (net.Conn, *bufio.Reader, outcome, error) {
	path, err := os.ReadFile(filepath.Join(h.root, controlFile))
	if err != nil {
		return nil, nil, outcome{}, fmt.Errorf("reach the host: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", string(path))
	if err != nil {
		return nil, nil, outcome{}, fmt.Errorf("reach the host: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	in := bufio.NewReader(conn)
	var r outcome
	_, err = conn.Write(append(mustJSON(o), '\n'))
	if err == nil && o.Op != "accept" {
		var line []byte
		if line, err = in.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &r)
		}
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && r.Refused:
		err = fmt.Errorf("%s: %w", r.Error, syscall.ECONNREFUSED)
	case err == nil && r.Error != "":
		err = errors.New(r.Error)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, r, err
	}
	return conn, in, r, nil
}

func (h *remote) ask(ctx context.Context, o order) (outcome, error) {
	conn, _, r, err := h.begin(ctx, o)
	if err == nil {
		_ = conn.Close()
	}
	return r, err
}

// buffered is a connection whose first bytes may be in a reader.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.in.Read(p) }

// Dial implements Host.
func (h *remote) Dial(ctx context.Context, ip string, port int) (net.Conn, error) {
	conn, in, _, err := h.begin(ctx, order{Op: "dial", IP: ip, Port: port})
	if err != nil {
		return nil, err
	}
	return &buffered{conn, in}, nil
}

// Listen implements Host.
func (h *remote) Listen(port int, local bool) (net.Listener, error) {
	conn, in, _, err := h.begin(context.Background(), order{Op: "listen", Port: port, On: local})
	if err != nil {
		return nil, err
	}
	return &remoteListener{h: h, conn: conn, in: in, port: port}, nil
}

type remoteListener struct {
	h    *remote
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex
	port int
}

// Accept implements net.Listener.
func (l *remoteListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := l.in.ReadBytes('\n')
	if err != nil {
		return nil, net.ErrClosed
	}
	var r outcome
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	conn, in, _, err := l.h.begin(context.Background(), order{Op: "accept", ID: r.ID})
	if err != nil {
		return nil, err
	}
	return &buffered{conn, in}, nil
}

// Close returns once the port is free. A pending Accept ends then, too.
func (l *remoteListener) Close() error {
	if c, ok := l.conn.(*net.UnixConn); ok {
		_ = c.CloseWrite()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.Copy(io.Discard, l.in) // until the host has closed the port
	return l.conn.Close()
}

// Addr implements net.Listener.
func (l *remoteListener) Addr() net.Addr { return &net.TCPAddr{Port: l.port} }

// Spawn implements Host.
func (h *remote) Spawn(ctx context.Context, name string, args ...string) error {
	_, err := h.ask(ctx, order{Op: "spawn", Name: name, Args: args})
	return err
}

// Kill implements Host.
func (h *remote) Kill(ctx context.Context, name string) (int, error) {
	r, err := h.ask(ctx, order{Op: "kill", Name: name})
	return r.Code, err
}

// Unit implements Host.
func (h *remote) Unit(ctx context.Context, verb, unit string) (string, int) {
	r, err := h.ask(ctx, order{Op: "unit", Verb: verb, Name: unit})
	if err != nil {
		return err.Error() + "\n", 1
	}
	return r.Text, r.Code
}

// Address implements Host.
func (h *remote) Address(ctx context.Context, ip string, add bool) error {
	_, err := h.ask(ctx, order{Op: "address", IP: ip, On: add})
	return err
}

// Exec implements Host. A command that runs out of time is ended with its
// whole process group.
func (h *remote) Exec(ctx context.Context, c *Call) int {
	path := c.Args[0]
	if !strings.Contains(path, "/") {
		for _, dir := range filepath.SplitList(c.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
				path = filepath.Join(dir, path)
				break
			}
		}
	}
	cmd := exec.Command(path, c.Args[1:]...)
	cmd.Args[0] = c.Args[0]
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	bounded := ctx.Done() != nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: bounded}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(c.Stderr, err)
		return 127
	}
	if bounded {
		stop := context.AfterFunc(ctx, func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			time.AfterFunc(time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		})
		defer stop()
	}
	err := cmd.Wait()
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		fmt.Fprintln(c.Stderr, err)
		return 126
	case e.ExitCode() < 0: // killed by a signal
		if s, ok := e.Sys().(syscall.WaitStatus); ok {
			return 128 + int(s.Signal())
		}
	}
	return e.ExitCode()
}
