package fabric

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// loopback is a machine's own address for itself.
const loopback = "127.0.0.1"

// Origin is where a connection comes from.
type Origin struct {
	Machine    string // Outside for clients that are no machines
	RouteTable string // of the sender's subnet
}

// Dial connects to ip:port. As with TCP, a host that is there but does not
// listen refuses at once; where packets vanish, Dial tries again until ctx
// ends, and then returns its cause.
func (f *Fabric) Dial(ctx context.Context, from Origin, ip string, port int) (net.Conn, error) {
	address := Addr{ip, port}
	for {
		e, fate, changed := f.syn(from, ip, port)
		switch fate {
		case delivered:
			return e, nil
		case refused:
			return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
		}
		again := make(chan struct{})
		t := f.clock.AfterFunc(retransmission, func() { close(again) })
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("dial %s: no answer: %w", address, context.Cause(ctx))
		case <-changed:
		case <-again:
		}
		t.Stop()
	}
}

// syn sends the first packet of a connection.
func (f *Fabric) syn(from Origin, ip string, port int) (*End, fate, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, refused, f.changed
	}
	if from.Machine != Outside {
		if m := f.machines[from.Machine]; m == nil || !m.on {
			return nil, lost, f.changed
		}
	}
	to := from.Machine
	own := ip == loopback
	if m := f.machines[from.Machine]; m != nil && m.has(ip) {
		own = true
	}
	if !own {
		id, ok := f.target(from.RouteTable, ip)
		if !ok {
			return nil, lost, f.changed
		}
		to = id
	}
	m := f.machines[to]
	if m == nil || !m.on || (!own && !m.has(ip)) || !f.passes(from.Machine, to) || !f.passes(to, from.Machine) {
		return nil, lost, f.changed
	}
	l := m.listeners[port]
	if l == nil || (l.local && ip != loopback) {
		return nil, refused, f.changed
	}
	f.nextPort++
	source := ip
	if src := f.machines[from.Machine]; src != nil {
		source = src.private
	}
	c := &conn{routeTable: from.RouteTable, ip: ip}
	there, back := newPipe(), newPipe()
	a := &End{f: f, c: c, dialer: true, machine: from.Machine, in: back, out: there, local: Addr{source, f.nextPort}, remote: Addr{ip, port}}
	b := &End{f: f, c: c, machine: to, in: there, out: back, local: a.remote, remote: a.local}
	a.peer, b.peer = b, a
	c.ends = [2]*End{a, b}
	select {
	case l.queue <- b:
	default:
		return nil, lost, f.changed // backlog full: the SYN is dropped
	}
	f.conns[c] = struct{}{}
	return a, delivered, nil
}

// Listener accepts connections of one port of a machine.
type Listener struct {
	f       *Fabric
	machine string
	port    int
	local   bool
	queue   chan *End
	done    chan struct{}
	once    sync.Once
}

// Listen opens a port on all addresses of a machine, or on its loopback
// address only.
func (f *Fabric) Listen(machine string, port int, local bool) (*Listener, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machines[machine]
	if m == nil || !m.on {
		return nil, fmt.Errorf("listen on port %d of %s: %w", port, machine, syscall.ENETDOWN)
	}
	if m.listeners[port] != nil {
		return nil, fmt.Errorf("listen on port %d of %s: %w", port, machine, syscall.EADDRINUSE)
	}
	l := &Listener{f: f, machine: machine, port: port, local: local, queue: make(chan *End, 512), done: make(chan struct{})}
	m.listeners[port] = l
	return l, nil
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case e := <-l.queue:
		return e, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections that were not accepted are closed.
func (l *Listener) Close() error {
	l.f.mu.Lock()
	if m := l.f.machines[l.machine]; m != nil && m.listeners[l.port] == l {
		delete(m.listeners, l.port)
	}
	l.f.mu.Unlock()
	l.shut()
	for {
		select {
		case e := <-l.queue:
			_ = e.Close()
		default:
			return nil
		}
	}
}

func (l *Listener) shut() { l.once.Do(func() { close(l.done) }) }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr {
	if l.local {
		return Addr{loopback, l.port}
	}
	return Addr{"0.0.0.0", l.port}
}
