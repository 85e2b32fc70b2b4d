package fabric

import (
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// window is what TCP takes from a sender before the reader reads.
const window = 256 << 10

// retransmission is how long unacknowledged bytes wait for their next try.
const retransmission = time.Second

type conn struct {
	ends       [2]*End // dialer, listener
	routeTable string
	ip         string // what the dialer dialed
}

// End is one side of a connection. It implements net.Conn.
type End struct {
	f       *Fabric
	c       *conn
	dialer  bool
	machine string
	peer    *End
	in, out *pipe
	local   Addr
	remote  Addr
}

// Addr is an address in the fabric.
type Addr struct {
	IP   string
	Port int
}

// Network implements net.Addr.
func (Addr) Network() string { return "tcp" }

func (a Addr) String() string { return net.JoinHostPort(a.IP, strconv.Itoa(a.Port)) }

// pipe is one direction: what its writer sent and its reader has not read.
type pipe struct {
	mu   sync.Mutex
	cond *sync.Cond
	buf  []byte

	held         bool // packets do not reach the reader now
	fin          bool // the writer closed
	reset        bool // RST arrived at both ends of this direction
	writerGone   bool // the writer's machine vanished
	readerGone   bool // the reader's machine vanished
	readerClosed bool
	retrying     bool

	readBy, writeBy time.Time // deadlines
}

func newPipe() *pipe {
	p := &pipe{}
	p.cond = sync.NewCond(&p.mu)
	return p
}

// fate of a packet.
type fate int

const (
	delivered fate = iota
	lost           // silence
	refused        // answered with RST
	congested      // the reader's window is closed
)

// fate says what happens to a packet that e sends now.
func (e *End) fate() fate {
	f := e.f
	f.mu.Lock()
	defer f.mu.Unlock()
	to := e.peer.machine
	reached := to
	if e.dialer && to != Outside && e.machine != to {
		id, ok := f.target(e.c.routeTable, e.c.ip)
		if !ok {
			return lost
		}
		reached = id
	}
	if !f.passes(e.machine, reached) {
		return lost
	}
	if reached != to {
		if m := f.machines[reached]; m == nil || !m.on || !m.has(e.c.ip) {
			return lost
		}
		return refused
	}
	if to != Outside {
		m := f.machines[to]
		if m == nil || !m.on || (e.dialer && e.machine != to && !m.has(e.c.ip)) {
			return lost
		}
		if e.out.isReaderGone() {
			return refused // rebooted: no such socket
		}
	}
	if f.congested[link{e.machine, to}] {
		return congested
	}
	return delivered
}

func (p *pipe) isReaderGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readerGone
}

// retransmit tries to deliver what e has sent.
func (e *End) retransmit() {
	fate := e.fate()
	p := e.out
	p.mu.Lock()
	if p.writerGone {
		p.mu.Unlock()
		return
	}
	pending := len(p.buf) > 0 || p.fin
	p.held = fate != delivered
	if fate == refused && pending {
		p.mu.Unlock()
		e.rst()
		return
	}
	if p.held && fate != congested && pending && !p.retrying {
		p.retrying = true
		e.f.clock.AfterFunc(retransmission, func() {
			p.mu.Lock()
			p.retrying = false
			p.mu.Unlock()
			e.retransmit()
		})
	}
	p.cond.Broadcast()
	p.mu.Unlock()
}

// rst ends the connection for e only: the host that it talked to has no such
// socket any more.
func (e *End) rst() {
	for _, p := range []*pipe{e.in, e.out} {
		p.mu.Lock()
		p.reset = true
		p.buf = nil
		p.cond.Broadcast()
		p.mu.Unlock()
	}
	e.forget()
}

// vanish is the loss of e's machine.
func (e *End) vanish() {
	e.out.mu.Lock()
	e.out.writerGone = true
	e.out.buf = nil
	e.out.cond.Broadcast()
	e.out.mu.Unlock()
	e.in.mu.Lock()
	e.in.readerGone = true
	e.in.cond.Broadcast()
	e.in.mu.Unlock()
}

func (e *End) forget() {
	go func() { // callers may hold the fabric's lock
		e.f.mu.Lock()
		defer e.f.mu.Unlock()
		delete(e.f.conns, e.c)
	}()
}

// Read implements net.Conn.
func (e *End) Read(b []byte) (int, error) {
	p := e.in
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.readerGone || p.readerClosed:
			return 0, net.ErrClosed
		case p.reset:
			return 0, syscall.ECONNRESET
		case len(p.buf) > 0 && !p.held:
			n := copy(b, p.buf)
			p.buf = p.buf[n:]
			if len(p.buf) == 0 {
				p.buf = nil
			}
			p.cond.Broadcast()
			return n, nil
		case p.fin && !p.held:
			return 0, io.EOF
		case expired(p.readBy):
			return 0, os.ErrDeadlineExceeded
		}
		p.cond.Wait()
	}
}

// Write implements net.Conn.
func (e *End) Write(b []byte) (int, error) {
	sent := 0
	p := e.out
	for sent < len(b) {
		fate := e.fate()
		p.mu.Lock()
		switch {
		case p.writerGone || p.fin:
			p.mu.Unlock()
			return sent, net.ErrClosed
		case p.reset || (p.readerClosed && fate == delivered):
			p.mu.Unlock()
			return sent, syscall.ECONNRESET
		case expired(p.writeBy):
			p.mu.Unlock()
			return sent, os.ErrDeadlineExceeded
		case fate == refused:
			p.mu.Unlock()
			e.rst()
			return sent, syscall.ECONNRESET
		case fate == congested || len(p.buf) >= window:
			p.cond.Wait()
			p.mu.Unlock()
			continue
		}
		n := min(len(b)-sent, window-len(p.buf))
		p.buf = append(p.buf, b[sent:sent+n]...)
		sent += n
		wasHeld := p.held
		p.held = fate != delivered
		p.cond.Broadcast()
		p.mu.Unlock()
		if fate != delivered || wasHeld {
			e.retransmit()
		}
	}
	return sent, nil
}

// Close implements net.Conn: the peer reads what was sent and then EOF.
func (e *End) Close() error {
	e.out.mu.Lock()
	silent := e.out.writerGone
	e.out.fin = e.out.fin || !silent
	e.out.cond.Broadcast()
	e.out.mu.Unlock()
	e.in.mu.Lock()
	e.in.readerClosed = true
	e.in.cond.Broadcast()
	both := e.in.fin || e.in.writerGone || e.in.reset
	e.in.mu.Unlock()
	if !silent {
		e.retransmit()
	}
	if both {
		e.forget()
	}
	return nil
}

// LocalAddr implements net.Conn.
func (e *End) LocalAddr() net.Addr { return e.local }

// RemoteAddr implements net.Conn.
func (e *End) RemoteAddr() net.Addr { return e.remote }

// SetDeadline implements net.Conn.
func (e *End) SetDeadline(t time.Time) error {
	return errFirst(e.SetReadDeadline(t), e.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (e *End) SetReadDeadline(t time.Time) error {
	e.in.deadline(&e.in.readBy, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (e *End) SetWriteDeadline(t time.Time) error {
	e.out.deadline(&e.out.writeBy, t)
	return nil
}

func (p *pipe) deadline(field *time.Time, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*field = t
	p.cond.Broadcast()
	if d := time.Until(t); !t.IsZero() && d > 0 {
		time.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.cond.Broadcast()
		})
	}
}

func expired(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
