package hosts

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// gate stops a goroutine program as SIGSTOP stops a process: it does not get
// past its next use of clock or network.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while the program may run
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) freeze(frozen bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
		if frozen {
			g.open = make(chan struct{})
		}
	default:
		if !frozen {
			close(g.open)
		}
	}
}

// pass waits until the program may run or ctx ends.
func (g *gate) pass(ctx context.Context) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
	}
}

// body is what a goroutine program holds: its life, its clock and its sockets,
// which the kernel closes when it dies.
type body struct {
	*machine
	ctx  context.Context
	gate *gate

	mu    sync.Mutex
	dead  bool
	open  map[interface{ Close() error }]struct{}
	clock clock.Clock
}

func newBody(ctx context.Context, m *machine) *body {
	b := &body{machine: m, ctx: ctx, gate: newGate(), open: map[interface{ Close() error }]struct{}{}}
	b.clock = gatedClock{m.clock, b}
	return b
}

// hold remembers a socket; it is closed at once if the program is dead.
func (b *body) hold(c interface{ Close() error }) {
	b.mu.Lock()
	dead := b.dead
	if !dead {
		b.open[c] = struct{}{}
	}
	b.mu.Unlock()
	if dead {
		_ = c.Close()
	}
}

func (b *body) drop(c interface{ Close() error }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, c)
}

// die closes all sockets.
func (b *body) die() {
	b.mu.Lock()
	b.dead = true
	open := b.open
	b.open = nil
	b.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
}

// Dial implements Host.
func (b *body) Dial(ctx context.Context, ip string, port int) (net.Conn, error) {
	b.gate.pass(b.ctx)
	conn, err := b.machine.Dial(ctx, ip, port)
	if err != nil {
		return nil, err
	}
	b.hold(conn)
	return &gatedConn{conn, b}, nil
}

// Listen implements Host.
func (b *body) Listen(port int, local bool) (net.Listener, error) {
	l, err := b.machine.Listen(port, local)
	if err != nil {
		return nil, err
	}
	b.hold(l)
	return &gatedListener{l, b}, nil
}

type gatedListener struct {
	net.Listener
	b *body
}

func (l *gatedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.b.gate.pass(l.b.ctx)
	l.b.hold(conn)
	return &gatedConn{conn, l.b}, nil
}

func (l *gatedListener) Close() error {
	l.b.drop(l.Listener)
	return l.Listener.Close()
}

type gatedConn struct {
	net.Conn
	b *body
}

func (c *gatedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.b.gate.pass(c.b.ctx)
	return n, err
}

func (c *gatedConn) Write(p []byte) (int, error) {
	c.b.gate.pass(c.b.ctx)
	return c.Conn.Write(p)
}

func (c *gatedConn) Close() error {
	c.b.drop(c.Conn)
	return c.Conn.Close()
}

type gatedClock struct {
	clock.Clock
	b *body
}

// Stopwatch implements the one that clock.Stopwatch returns. It runs on while
// the program is stopped.
func (c gatedClock) Stopwatch() func() time.Duration { return clock.Stopwatch(c.Clock) }

func (c gatedClock) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Clock.Sleep(ctx, d)
	c.b.gate.pass(c.b.ctx)
	return err
}

func (c gatedClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.Clock.AfterFunc(d, func() {
		c.b.gate.pass(c.b.ctx)
		f()
	})
}

func (c gatedClock) NewTicker(d time.Duration) clock.Ticker {
	t := &gatedTicker{Ticker: c.Clock.NewTicker(d), c: make(chan time.Time, 1), done: make(chan struct{})}
	go t.run(c.b)
	return t
}

type gatedTicker struct {
	clock.Ticker
	c    chan time.Time
	done chan struct{}
	once sync.Once
}

func (t *gatedTicker) run(b *body) {
	for {
		select {
		case now := <-t.Ticker.C():
			b.gate.pass(b.ctx)
			select {
			case t.c <- now:
			default:
			}
		case <-t.done:
			return
		case <-b.ctx.Done():
			return
		}
	}
}

func (t *gatedTicker) C() <-chan time.Time { return t.c }

func (t *gatedTicker) Stop() {
	t.Ticker.Stop()
	t.once.Do(func() { close(t.done) })
}
