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
	v := node{group: "orders"}.vow(t.TempDir())
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
	if err := v.Keep("postgresql", map[string]string{"port": "5432"}, 5*time.Second); err != nil {
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
	v := node{group: "orders"}.vow(root)
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
