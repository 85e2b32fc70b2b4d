package hosts_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// hadr-agent runs once its configuration is there, and is restarted.
func TestAgentUnit(t *testing.T) {
	var mu sync.Mutex
	starts, group := 0, ""
	agent := func(ctx context.Context, c *hosts.Call) int {
		mu.Lock()
		starts++
		group = c.Getenv("HADR_GROUP")
		mu.Unlock()
		_ = c.Clock.Sleep(ctx, 10*time.Second)
		return 1
	}
	inBubble(t, hosts.Options{Commands: map[string]hosts.CommandFunc{"hadr-agent": agent}}, func(t *testing.T, s *site) {
		s.up(pair)
		s.run("i-a", "systemctl start hadr-agent; systemctl is-active hadr-agent")
		mu.Lock()
		if starts != 0 {
			t.Error("started without configuration")
		}
		mu.Unlock()
		s.run("i-a", `echo 'HADR_GROUP="orders"' >$HADR_ROOT/etc/hadr/agent.env; systemctl start hadr-agent`)
		time.Sleep(60 * time.Second)
		mu.Lock()
		if starts < 5 || starts > 6 || group != "orders" {
			t.Errorf("%d starts in a minute, group %q", starts, group)
		}
		mu.Unlock()
		if out, code := s.run("i-a", "systemctl stop hadr-agent; systemctl is-active hadr-agent"); code != 3 || out != "inactive\n" {
			t.Errorf("%d %q", code, out)
		}
	})
}

// An agent that hangs can't feed its watchdog: it is killed and started again.
// One whose whole machine stood still is not: the watchdog stood still, too.
func TestAgentWatchdog(t *testing.T) {
	var mu sync.Mutex
	starts, fed := 0, ""
	agent := func(ctx context.Context, c *hosts.Call) int {
		mu.Lock()
		starts++
		fed = c.Getenv("WATCHDOG_USEC")
		mu.Unlock()
		<-ctx.Done()
		return 0
	}
	inBubble(t, hosts.Options{Commands: map[string]hosts.CommandFunc{"hadr-agent": agent}}, func(t *testing.T, s *site) {
		s.up(pair)
		s.run("i-a", `echo 'HADR_GROUP="orders"' >$HADR_ROOT/etc/hadr/agent.env; systemctl start hadr-agent`)
		started := func(want int, when string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if starts != want || fed != "30000000" {
				t.Errorf("%d starts %s, want %d; WATCHDOG_USEC=%s", starts, when, want, fed)
			}
		}
		for _, names := range [][]string{{"hadr-agent"}, nil} {
			s.hosts.Freeze("i-a", names...)
			time.Sleep(20 * time.Second)
			s.hosts.Thaw("i-a", names...)
			time.Sleep(20 * time.Second)
			started(1, "after a short hang")
		}
		s.hosts.Freeze("i-a", "hadr-agent")
		time.Sleep(35 * time.Second)
		started(2, "after a long hang")
	})
}

func TestUserDataRunsOnce(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		setup := "#!/bin/sh\necho again >>$HADR_ROOT/var/log/boots\ndb2setup -role %s -ip %s -peer-ip %s -node %s -peer-node %s -peer-window 120s -timeout 60s\n"
		s.a.UserData = fmt.Sprintf(setup, "primary", s.a.PrivateIP, s.b.PrivateIP, "a", "b")
		s.b.UserData = fmt.Sprintf(setup, "standby", s.b.PrivateIP, s.a.PrivateIP, "b", "a")
		for range 2 {
			for _, m := range []world.Machine{s.a, s.b} {
				if err := s.hosts.Boot(m); err != nil {
					t.Fatal(err)
				}
			}
			s.waitForPeer("i-b")
			s.hosts.Off("i-a")
			s.hosts.Off("i-b")
		}
		if b, err := os.ReadFile(s.hosts.Root("i-a") + "/var/log/boots"); err != nil || string(b) != "again\n" {
			t.Errorf("%q %v", b, err)
		}
	})
}
