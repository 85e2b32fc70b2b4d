package fabric

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
)

// ListenVIP opens a TCP port on the loopback interface of the sandbox that is
// vip:port as seen from subnets with routeTable, for clients outside of the
// fabric. Where packets vanish, a client sees an open connection without an
// answer: its own timeout decides, as with a black hole.
func (f *Fabric) ListenVIP(routeTable, vip string, port int) (net.Addr, error) {
	return f.ListenFor(Origin{RouteTable: routeTable}, vip, port)
}

// ListenFor opens a TCP port on the loopback interface of the sandbox that is
// ip:port as seen from an origin, for programs that dial no fabric.
func (f *Fabric) ListenFor(from Origin, ip string, port int) (net.Addr, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s:%d as seen from %+v: %w", ip, port, from, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.mu.Lock()
	f.closers = append(f.closers, func() { cancel(); _ = l.Close() })
	f.mu.Unlock()
	f.outside.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			f.outside.Go(func() { f.serve(ctx, client, from, ip, port) })
		}
	})
	return l.Addr(), nil
}

func (f *Fabric) serve(ctx context.Context, client net.Conn, from Origin, ip string, port int) {
	defer client.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = client.Close() })
	server, err := f.Dial(ctx, from, ip, port)
	if err != nil {
		abort(client)
		return
	}
	Relay(client, server)
}

// Relay copies between a socket of the operating system and a connection of
// the fabric until one of them ends. A reset is passed on as a reset.
func Relay(socket, fabric net.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := io.Copy(fabric, onlyReader{socket})
		if errors.Is(err, syscall.ECONNRESET) {
			abort(socket)
		}
		_ = fabric.Close()
		_ = socket.Close()
	})
	wg.Go(func() {
		_, err := io.Copy(onlyWriter{socket}, fabric)
		if errors.Is(err, syscall.ECONNRESET) {
			abort(socket)
		}
		_ = socket.Close()
		_ = fabric.Close()
	})
	wg.Wait()
}

// onlyReader and onlyWriter keep io.Copy from using splice, which would
// bypass the fabric's error values.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

func abort(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
