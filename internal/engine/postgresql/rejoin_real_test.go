package postgresql_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// crashAndPromote leaves b primary and a dead, with a log that went on.
func (g *group) crashAndPromote() {
	g.t.Helper()
	g.client().Await(g.t, 20, patience)
	g.observe(nodeB)
	g.A.Crash(g.t)
	g.promote(nodeB, 2)
}

func needsReseed(t *testing.T, g *group, says string) {
	t.Helper()
	r := g.rejoin(nodeA, 2)
	if r.Outcome != failover.Failed || r.Code != failover.NeedsReseed || !strings.Contains(r.Detail, says) || !strings.Contains(r.Next, "pg_basebackup") {
		t.Errorf("rejoin: %+v, want %s, %q", r, failover.NeedsReseed, says)
	}
}

// Without checksums and hints pg_rewind can't work. And the data of a node on
// which it was killed are neither the old nor the new ones: such a node is
// neither rewound again nor started.
func TestRejoinNeedsReseed(t *testing.T) {
	g := newGroup(t, postgresql.Async, "wal_log_hints = off")
	for _, h := range []*pgtest.Host{g.B, g.A} {
		h.Stop(t, "fast")
		h.Program(t, "pg_checksums", "--disable")
		h.Start(t)
	}
	g.B.Streams(t)
	g.crashAndPromote()
	needsReseed(t, g, "wal_log_hints")

	g.A.Mark(t, "rewinding", "op2")
	needsReseed(t, g, "an earlier pg_rewind did not end")
	if outcome, err := g.engine.StartDatabase(g.within(2*patience), g.order(nodeA, 2)); outcome != failover.Failed || !strings.Contains(err.Error(), "pg_rewind did not end") {
		t.Errorf("start: %s, %v", outcome, err)
	}
	g.eventually(nodeA, "half rewound", func(o failover.Observation) bool {
		return o.Database == failover.DatabaseDown && strings.Contains(o.FitnessWhy, "pg_rewind did not end")
	})
}

// A standby that was away for so long that its primary has no log for it.
func TestRejoinWithoutTheLog(t *testing.T) {
	g := newGroup(t, postgresql.Async, "wal_keep_size = 0", "min_wal_size = 2MB", "max_wal_size = 2MB")
	if r := g.switchover(nodeA, nodeB, 2); r.Outcome != failover.OK {
		t.Fatalf("switchover: %+v", r)
	}
	g.eventually(nodeA, "a fit standby", fit)
	g.A.Stop(t, "fast")
	for range 8 {
		g.B.Query(t, "SELECT pg_switch_wal()::text FROM (SELECT txid_current()) x")
		g.B.Query(t, "CHECKPOINT")
	}
	needsReseed(t, g, "no longer has the log")
}

// A pg_rewind that does not end is killed at its bound, and its node needs a
// reseed: nothing changes its data after a person was told so.
func TestRejoinIsBounded(t *testing.T) {
	g := newGroup(t, postgresql.Sync)
	g.crashAndPromote()
	bin := filepath.Join(g.A.Root, "slow")
	if out, code, err := g.A.Run(t.Context(), "mkdir "+bin+" && ln -s "+g.settings["bin_directory"]+"/* "+bin+" && rm "+bin+"/pg_rewind && printf '#!/bin/sh\nexec sleep 600\n' >"+bin+"/pg_rewind && chmod +x "+bin+"/pg_rewind"); err != nil || code != 0 {
		t.Fatalf("a slow pg_rewind: %s, %v", out, err)
	}
	programs := g.settings["bin_directory"]
	g.settings["bin_directory"], g.settings["rejoin_limit_seconds"] = bin, "1"
	needsReseed(t, g, "took longer than 1 s")
	g.settings["bin_directory"] = programs
	needsReseed(t, g, "an earlier pg_rewind did not end")
}
