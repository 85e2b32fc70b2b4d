package db2_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// remote runs scripts on a simulated host, as its agent would.
type remote struct {
	*pair
	instance string
}

func (r remote) Run(ctx context.Context, script string) (string, int, error) {
	res, err := r.hosts.Run(ctx, world.Command{ID: "agent", InstanceID: r.instance, Script: script, Timeout: 19 * time.Second})
	if err == nil && res.TimedOut {
		err = context.DeadlineExceeded
	}
	return res.Stdout + res.Stderr, res.Code, err
}

// TestProbeBehindAHungCommit: the commit of a probe that was killed goes on in
// the server, and keeps the lock. No later probe counts as committed until the
// log moves again, be it of the same agent or of one that was restarted.
func TestProbeBehindAHungCommit(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		probe := func() error {
			agent := db2.Local{Group: "orders", Shell: remote{p, "i-a"}, Clock: clock.System()}
			return agent.Probe(t.Context(), "a", settings)
		}
		if err := probe(); err != nil {
			t.Fatalf("before: %v", err)
		}
		if err := p.hosts.FillLogDevice(t.Context(), "i-b", true); err != nil {
			t.Fatal(err)
		}
		var err error
		for range 600 { // the standby's buffer fills first
			if err = probe(); err != nil {
				break
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a commit that hangs: %v", err)
		}
		for range 5 {
			if err := probe(); err == nil || !strings.Contains(err.Error(), "earlier probe still hangs") {
				t.Errorf("behind a commit that hangs: %v", err)
			}
		}
		if err := p.hosts.FillLogDevice(t.Context(), "i-b", false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := probe(); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}
