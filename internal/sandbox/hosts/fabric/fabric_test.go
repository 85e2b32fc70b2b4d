package fabric_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const vip = "192.168.77.10"

// routes leads the VIP to one machine.
type routes struct {
	mu  sync.Mutex
	vip string
}

func (r *routes) move(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vip = to
}

func (r *routes) Owner(ip string) (string, bool) {
	id, ok := map[string]string{"10.0.1.10": "a", "10.0.2.10": "b", "10.0.3.10": "c"}[ip]
	return id, ok
}

func (r *routes) Route(_, ip string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.vip, ip == vip && r.vip != ""
}

type lab struct {
	t      *testing.T
	f      *fabric.Fabric
	routes *routes
}

// inBubble gives three machines; b listens on port 1 and echoes.
func inBubble(t *testing.T, scenario func(*testing.T, *lab)) {
	synctest.Test(t, func(t *testing.T) {
		r := &routes{vip: "b"}
		l := &lab{t: t, routes: r, f: fabric.New(clock.System(), func() fabric.Router { return r }, slog.New(slog.DiscardHandler))}
		for id, ip := range map[string]string{"a": "10.0.1.10", "b": "10.0.2.10", "c": "10.0.3.10"} {
			l.f.PowerOn(id, ip)
		}
		l.f.Bind("b", vip)
		l.listen("b")
		scenario(t, l)
		l.f.Close()
		time.Sleep(time.Minute)
	})
}

func (l *lab) listen(machine string) *fabric.Listener {
	l.t.Helper()
	ln, err := l.f.Listen(machine, 1, false)
	if err != nil {
		l.t.Fatal(err)
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return ln
}

func (l *lab) dial(from, ip string, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return l.f.Dial(ctx, fabric.Origin{Machine: from, RouteTable: "rtb"}, ip, 1)
}

func (l *lab) mustDial(from, ip string) net.Conn {
	l.t.Helper()
	conn, err := l.dial(from, ip, time.Second)
	if err != nil {
		l.t.Fatal(err)
	}
	return conn
}

// echo sends a word and returns what came back within a time.
func echo(conn net.Conn, word string, within time.Duration) (string, error) {
	if _, err := conn.Write([]byte(word)); err != nil {
		return "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(within))
	b := make([]byte, 64)
	n, err := conn.Read(b)
	_ = conn.SetReadDeadline(time.Time{})
	return string(b[:n]), err
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func TestDial(t *testing.T) {
	tests := []struct {
		name    string
		before  func(*lab)
		ip      string
		refused bool
		hangs   bool
	}{
		{name: "private address", ip: "10.0.2.10"},
		{name: "vip", ip: vip},
		{name: "nobody listens", ip: "10.0.3.10", refused: true},
		{name: "machine off", ip: "10.0.2.10", before: func(l *lab) { l.f.PowerOff("b") }, hangs: true},
		{name: "cut to the target", ip: "10.0.2.10", before: func(l *lab) { l.f.Cut("a", "b") }, hangs: true},
		{name: "cut back", ip: "10.0.2.10", before: func(l *lab) { l.f.Cut("b", "a") }, hangs: true},
		{name: "isolated", ip: "10.0.2.10", before: func(l *lab) { l.f.Isolate("b", true) }, hangs: true},
		{name: "no route", ip: vip, before: func(l *lab) { l.routes.move("") }, hangs: true},
		{name: "route to a machine without the address", ip: vip, before: func(l *lab) { l.routes.move("c") }, hangs: true},
		{name: "address removed", ip: vip, before: func(l *lab) { l.f.Unbind("b", vip) }, hangs: true},
		{name: "route to a machine that does not listen", ip: vip, before: func(l *lab) { l.routes.move("c"); l.f.Bind("c", vip) }, refused: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, l *lab) {
				if tt.before != nil {
					tt.before(l)
				}
				began := time.Now()
				conn, err := l.dial("a", tt.ip, 10*time.Second)
				switch {
				case tt.refused:
					if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > 0 {
						t.Errorf("after %s: %v", time.Since(began), err)
					}
				case tt.hangs:
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
						t.Errorf("after %s: %v", time.Since(began), err)
					}
				case err != nil:
					t.Error(err)
				default:
					if got, err := echo(conn, "hello", time.Second); got != "hello" {
						t.Errorf("%q %v", got, err)
					}
					_ = conn.Close()
				}
			})
		})
	}
}

func TestDialGoesThroughOnceTheLinkHeals(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		l.f.CutBoth("a", "b")
		time.AfterFunc(5*time.Second, func() { l.f.Heal("a", "b") })
		conn, err := l.dial("a", "10.0.2.10", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	})
}

// A cut connection is silent, and what was sent arrives once it heals.
func TestCutIsSilenceAndHealsWithoutLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		conn := l.mustDial("a", "10.0.2.10")
		defer conn.Close()
		l.f.Cut("a", "b")
		if got, err := echo(conn, "held", time.Minute); !isTimeout(err) {
			t.Fatalf("%q %v", got, err)
		}
		l.f.Heal("a", "b")
		b := make([]byte, 8)
		if n, err := conn.Read(b); string(b[:n]) != "held" {
			t.Errorf("%q %v", b[:n], err)
		}
	})
}

// Loss of power is silence; the end of a process is not.
func TestPowerOffIsSilent(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		conn := l.mustDial("a", "10.0.2.10")
		defer conn.Close()
		l.f.PowerOff("b")
		if got, err := echo(conn, "anyone?", time.Hour); !isTimeout(err) {
			t.Fatalf("%q %v", got, err)
		}
		// The rebooted machine has no such socket.
		l.f.PowerOn("b", "10.0.2.10")
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("after the reboot: %v", err)
		}
	})
}

func TestProcessEndIsSeenAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		ln, err := l.f.Listen("c", 1, false)
		if err != nil {
			t.Fatal(err)
		}
		conn := l.mustDial("a", "10.0.3.10")
		defer conn.Close()
		server, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.Write([]byte("last words")); err != nil {
			t.Fatal(err)
		}
		_ = server.Close()
		b, err := io.ReadAll(conn)
		if string(b) != "last words" || err != nil {
			t.Errorf("%q %v", b, err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("writing to a closed socket: %v", err)
		}
	})
}

// After the route has moved, bytes of an old connection meet a host without
// that socket: RST. Without a byte, nobody notices.
func TestMovedRouteResets(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		idle, busy := l.mustDial("a", vip), l.mustDial("a", vip)
		defer idle.Close()
		defer busy.Close()
		l.f.Bind("c", vip)
		l.routes.move("c")
		if _, err := echo(busy, "x", time.Second); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("busy: %v", err)
		}
		_ = idle.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := idle.Read(make([]byte, 1)); !isTimeout(err) {
			t.Errorf("idle: %v", err)
		}
	})
}

// A request to a dead primary is retransmitted, and reset by the new one.
func TestUnansweredRequestIsResetByTheNewOwner(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		conn := l.mustDial("a", vip)
		defer conn.Close()
		l.f.PowerOff("b")
		if _, err := conn.Write([]byte("request")); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Second, func() { l.f.Bind("c", vip); l.routes.move("c") })
		began := time.Now()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) || time.Since(began) > 32*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// Congestion blocks the sender while the other direction goes on.
func TestCongestion(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		conn := l.mustDial("a", "10.0.2.10")
		defer conn.Close()
		l.f.Congest("a", "b", true)
		time.AfterFunc(time.Minute, func() { l.f.Congest("a", "b", false) })
		began := time.Now()
		if got, err := echo(conn, "late", time.Hour); got != "late" || time.Since(began) != time.Minute {
			t.Errorf("%q after %s: %v", got, time.Since(began), err)
		}
	})
}

func TestListening(t *testing.T) {
	inBubble(t, func(t *testing.T, l *lab) {
		if _, err := l.f.Listen("b", 1, false); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a port in use: %v", err)
		}
		ln, err := l.f.Listen("c", 1, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.dial("a", "10.0.3.10", time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("loopback port from outside: %v", err)
		}
		conn, err := l.dial("c", "127.0.0.1", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		_ = ln.Close()
		if _, err := l.dial("c", "127.0.0.1", time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("closed port: %v", err)
		}
	})
}

// Clients outside reach the VIP as their route table leads it.
func TestListenVIP(t *testing.T) {
	r := &routes{vip: "b"}
	f := fabric.New(clock.System(), func() fabric.Router { return r }, slog.New(slog.DiscardHandler))
	f.PowerOn("b", "10.0.2.10")
	f.Bind("b", vip)
	l := &lab{t: t, f: f, routes: r}
	l.listen("b")
	defer f.Close()
	addr, err := f.ListenVIP("rtb", vip, 1)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := echo(conn, "hello", 10*time.Second); got != "hello" {
		t.Fatalf("%q %v", got, err)
	}
	f.PowerOn("c", "10.0.3.10")
	f.Bind("c", vip)
	r.move("c")
	if _, err := echo(conn, "x", 10*time.Second); err == nil || isTimeout(err) {
		t.Errorf("after the route moved: %v", err)
	}
}
