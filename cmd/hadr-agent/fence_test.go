package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// server is a database that can be fenced.
type server struct {
	fenced map[string]string
	limit  time.Duration
	err    error
}

func (s *server) View(context.Context, map[string]string) failover.Observation {
	return failover.Observation{}
}
func (s *server) Probe(context.Context, string, map[string]string) error { return nil }
func (s *server) Kill(context.Context, map[string]string) error          { return nil }

func (s *server) Fence(_ context.Context, settings map[string]string, limit time.Duration) (string, error) {
	s.fenced, s.limit = settings, limit
	return "killed", s.err
}

// What a hung agent vowed is done once, and only if it vowed anything.
func TestVow(t *testing.T) {
	v := node{group: "orders"}.vow(t.TempDir(), clock.System())
	s := &server{}
	open := func(engine string) (agent.Database, error) {
		if engine != "postgresql" {
			t.Errorf("engine %q", engine)
		}
		return s, nil
	}
	if err := v.fulfil(t.Context(), open); err != nil || s.fenced != nil {
		t.Errorf("without a vow: fenced %v, %v", s.fenced, err)
	}
	if err := v.Keep(agent.Promise{Engine: "postgresql", Settings: map[string]string{"port": "5432"}, Left: time.Hour, Limit: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	s.err = errors.New("process 7 is still there")
	if err := v.fulfil(t.Context(), open); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("a fence that fails: %v", err)
	}
	s.err = nil
	if err := v.fulfil(t.Context(), open); err != nil || s.fenced["port"] != "5432" || s.limit != 5*time.Second {
		t.Errorf("fenced %v within %s, %v", s.fenced, s.limit, err)
	}
	s.fenced = nil
	if err := v.fulfil(t.Context(), open); err != nil || s.fenced != nil {
		t.Errorf("again: fenced %v, %v", s.fenced, err)
	}
	if err := v.Lift(); err != nil {
		t.Errorf("lifting none: %v", err)
	}
}

// The unit runs it after every end of the agent: only a hung one counts.
func TestFenceAfterAnOrderlyEnd(t *testing.T) {
	root := t.TempDir()
	t.Setenv("HADR_ROOT", root)
	v := node{group: "orders"}.vow(root, clock.System())
	if err := os.MkdirAll(filepath.Dir(v.file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v.file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	for result, says := range map[string]string{"": "", "success": "", "exit-code": "", "watchdog": "by hand"} {
		t.Setenv("SERVICE_RESULT", result)
		cmd := command()
		cmd.SetArgs([]string{"fence", "--group", "orders"})
		err := cmd.ExecuteContext(t.Context())
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("after %q: %v, want %q", result, err, says)
		}
	}
}

// TestVowOutlivesItsAgent: an agent reads how much time the one before it left,
// on a clock that goes on between them.
func TestVowOutlivesItsAgent(t *testing.T) {
	up := time.Hour
	root := t.TempDir()
	tests := []struct {
		name    string
		clock   clock.Clock
		left    time.Duration
		passes  time.Duration // until it is read
		then    time.Duration // is left
		rewrite bool          // it was kept before, for longer
	}{
		{name: "at once", clock: clock.System(), left: 4 * time.Second, then: 4 * time.Second},
		{name: "after a while", clock: clock.System(), left: 4 * time.Second, passes: 3 * time.Second, then: time.Second},
		{name: "too late", clock: clock.System(), left: 4 * time.Second, passes: time.Minute, then: -56 * time.Second},
		{name: "the last word counts", clock: clock.System(), left: 4 * time.Second, then: 4 * time.Second, rewrite: true},
		{name: "a clock that runs ten times as fast", clock: clock.NewScaled(time.Unix(1000, 0), 10), left: 40 * time.Second, passes: 3 * time.Second, then: 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			agents := [2]vow{node{group: "orders"}.vow(root, tt.clock), node{group: "orders"}.vow(root, tt.clock)}
			for i := range agents {
				agents[i].uptime = func() (time.Duration, error) { return up, nil }
			}
			if tt.rewrite {
				if err := agents[0].Keep(agent.Promise{Left: time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			if err := agents[0].Keep(agent.Promise{Engine: "postgresql", Left: tt.left, Limit: time.Second}); err != nil {
				t.Fatal(err)
			}
			up += tt.passes
			p, err := agents[1].Kept()
			if err != nil || p == nil || p.Left != tt.then || p.Engine != "postgresql" || p.Limit != time.Second {
				t.Errorf("kept: %+v, %v; want %s left", p, err, tt.then)
			}
			if err := agents[1].Lift(); err != nil {
				t.Fatal(err)
			}
			if p, err := agents[0].Kept(); err != nil || p != nil {
				t.Errorf("lifted: %+v, %v", p, err)
			}
		})
	}
	if up, err := uptime(); err != nil || up <= 0 {
		t.Errorf("this host has been running for %s, %v", up, err)
	}
}

// A reboot ends the database, so that nothing has to be fenced after it: the vow
// lies in what it clears.
func TestVowDoesNotOutliveItsHost(t *testing.T) {
	if file := (node{group: "orders"}).vow("", clock.System()).file; !strings.HasPrefix(file, "/run/") {
		t.Errorf("the vow is in %s", file)
	}
}
