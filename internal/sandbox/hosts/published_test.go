package hosts_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// echo is a server of this computer that knows no simulated network.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for s := bufio.NewScanner(c); s.Scan(); {
					fmt.Fprintln(c, "echo "+s.Text())
				}
			}()
		}
	}()
	return l.Addr().String()
}

// ask says a word to an address and returns the answer, "" if none comes in time.
func ask(address string, limit time.Duration) string {
	c, err := net.DialTimeout("tcp", address, limit)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(limit))
	fmt.Fprintln(c, "hello")
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

// A real server is found through the simulated network as long as its machine
// runs and can be reached, through all its boots.
func TestPublishedServer(t *testing.T) {
	s := newProcessSite(t)
	if err := s.hosts.Publish("i-a", 5432, "127.0.0.1:1"); err == nil {
		t.Error("a machine that was never there publishes")
	}
	for _, m := range []world.Machine{s.a, s.b} {
		if err := s.hosts.Boot(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.hosts.Publish("i-a", 5432, echo(t)); err != nil {
		t.Fatal(err)
	}
	address, err := s.hosts.Reach("i-b", s.a.PrivateIP, 5432)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"from b to a", func() {}, "echo hello"},
		{"a is cut off", func() { s.hosts.Isolate("i-a", true) }, ""},
		{"and back", func() { s.hosts.Isolate("i-a", false) }, "echo hello"},
		{"a is off", func() { s.hosts.Off("i-a") }, ""},
		{"and on again", func() {
			if err := s.hosts.Boot(s.a); err != nil {
				t.Error(err)
			}
		}, "echo hello"},
	} {
		step.do()
		limit := 10 * time.Second
		if step.want == "" {
			limit = 300 * time.Millisecond
		}
		if got := ask(address, limit); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// A process that has lost its environment ends with its machine all the same.
func TestProcessesBelongByTheirDirectory(t *testing.T) {
	s := newProcessSite(t)
	if err := s.hosts.Boot(s.a); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(s.hosts.Root("i-a"), "data")
	out, code := s.run("i-a", "mkdir "+data+" && cd "+data+" && env -i /bin/sh -c 'setsid sleep 600 </dev/null >/dev/null 2>&1 & echo $!'")
	if code != 0 {
		t.Fatal(out)
	}
	pid := strings.TrimSpace(out)
	lives := func() bool {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && !strings.Contains(string(b), ") Z ")
	}
	if !lives() {
		t.Skip("there is no /proc, or no such process")
	}
	s.hosts.Off("i-a")
	for range 100 {
		if !lives() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s outlived its machine", pid)
}
