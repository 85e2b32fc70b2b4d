package pgtest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a TCP address on loopback that leads to a server, and can lose what
// goes one way or the other. It stands for a network path, or for the endpoint's
// address and its route.
type Proxy struct {
	listener net.Listener
	done     sync.WaitGroup

	mu     sync.Mutex
	target string
	loseTo bool // what goes to the server is lost
	loseOf bool // what comes from it is lost
	open   map[net.Conn]bool
	closed bool
}

// NewProxy returns a proxy that leads to target until the test ends.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	p := &Proxy{listener: l, target: target, open: map[net.Conn]bool{}}
	p.done.Go(p.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.Reset()
		p.done.Wait()
	})
	return p
}

// Addr is its address, host and port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Point leads to another server from now on. Connections of before are reset,
// as those to a moved address are.
func (p *Proxy) Point(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	p.Reset()
}

// Lose loses what goes to the server, and what comes from it. New connections
// are accepted and hear nothing.
func (p *Proxy) Lose(to, of bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loseTo, p.loseOf = to, of
}

// Heal ends Lose. What was lost stays lost, so connections of before are reset.
func (p *Proxy) Heal() {
	p.Lose(false, false)
	p.Reset()
}

// Reset closes all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.serve(c) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		client.Close()
		return
	}
	if !p.track(client, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, &p.loseTo) })
	both.Go(func() { p.copy(client, server, &p.loseOf) })
	both.Wait()
	p.mu.Lock()
	delete(p.open, client)
	delete(p.open, server)
	p.mu.Unlock()
}

func (p *Proxy) track(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
		} else {
			p.open[c] = true
		}
	}
	return !p.closed
}

// copy moves bytes until one side ends, and then ends the other; the end of a
// connection gets lost as bytes do.
func (p *Proxy) copy(to, from net.Conn, lose *bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		lost := *lose
		p.mu.Unlock()
		if n > 0 && !lost {
			if _, err := to.Write(buffer[:n]); err != nil {
				from.Close()
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) || !lost {
				to.Close()
			}
			return
		}
	}
}
