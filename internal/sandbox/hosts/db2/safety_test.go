package db2_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// Whatever breaks and whenever, a takeover inside the peer window loses no
// acknowledged commit in SYNC and NEARSYNC.
func TestPeerWindowTakeoverLosesNothing(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		mode := rapid.SampledFrom([]db2.SyncMode{db2.Sync, db2.NearSync}).Draw(rt, "mode")
		before := rapid.IntRange(0, 40_000).Draw(rt, "ms before the failure")
		failure := rapid.SampledFrom([]string{"vanish", "crash", "cut", "cut to standby", "cut to primary", "cut and heal"}).Draw(rt, "failure")
		after := rapid.IntRange(0, 130_000).Draw(rt, "ms until the takeover")
		n++
		synctest.Test(t, func(t *testing.T) {
			x := newPair(t, fmt.Sprintf("%s/%d", dir, n), db2.Pair{SyncMode: mode, PeerWindow: 120 * time.Second, Timeout: 40 * time.Second})
			defer x.close()
			x.up()
			x.b.waitFor(db2.Peer, 10*time.Second)
			w := x.a.writeEvery("c", 41*time.Millisecond)
			time.Sleep(time.Duration(before) * time.Millisecond)
			switch failure {
			case "vanish":
				x.a.vanish()
			case "crash":
				x.a.crash()
			case "cut":
				x.fab.CutBoth("a", "b")
			case "cut to standby":
				x.fab.Cut("a", "b")
			case "cut to primary":
				x.fab.Cut("b", "a")
			case "cut and heal":
				x.fab.CutBoth("a", "b")
				time.Sleep(time.Duration(after) * time.Millisecond / 2)
				x.fab.Heal("a", "b")
			}
			time.Sleep(time.Duration(after) * time.Millisecond)
			text, code := x.b.run(force + " peer window only")
			if code == 0 {
				acked := w.stop()
				if x.a.kill != nil {
					// What the old primary acknowledges once its own window has
					// ended is the fence's business; none of it may be older.
					acked = x.a.ackedBefore(acked, x.b)
				}
				if lost := x.b.lost("c", acked); len(lost) > 0 {
					rt.Fatalf("%d acknowledged, lost %v", len(acked), lost)
				}
			} else {
				w.stop()
				if !strings.Contains(text, "SQL1770N") {
					rt.Fatalf("%d %s", code, text)
				}
			}
		})
	})
}

// ackedBefore keeps the acknowledged commits up to the moment of the takeover.
func (n *node) ackedBefore(acked []int64, promoted *node) []int64 {
	at := promoted.pd()["HADR_LAST_TAKEOVER_TIME"]
	open := strings.Index(at, "(")
	var epoch int64
	for _, c := range at[open+1 : len(at)-1] {
		epoch = epoch*10 + int64(c-'0')
	}
	before := map[int64]bool{}
	for _, r := range n.rows("c") {
		if r.At.Unix() <= epoch {
			before[r.Seq] = true
		}
	}
	var kept []int64
	for _, seq := range acked {
		if before[seq] {
			kept = append(kept, seq)
		}
	}
	return kept
}

// The negative control: forced outside the window, the takeover loses what the
// primary acknowledged alone, and the audit sees it.
func TestForceAfterTheWindowLosesCommits(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.fab.CutBoth("a", "b")
		x.b.waitFor(db2.RemoteCatchupPending, 200*time.Second)
		x.a.waitFor(db2.Disconnected, 200*time.Second)
		time.Sleep(time.Second)
		x.b.db2(4, force+" peer window only")
		x.b.db2(0, force)
		if lost := x.b.lost("c", w.stop()); len(lost) < 10 {
			t.Errorf("lost %d commits, want many", len(lost))
		}
	})
}

// ASYNC and SUPERASYNC do not wait for the standby; SYNC and NEARSYNC do.
func TestCommitRules(t *testing.T) {
	for mode, waits := range map[db2.SyncMode]bool{db2.Sync: true, db2.NearSync: true, db2.Async: false, db2.SuperAsync: false} {
		t.Run(string(mode), func(t *testing.T) {
			p := standard
			p.SyncMode = mode
			inBubble(t, p, func(t *testing.T, x *pair) {
				x.up()
				x.a.waitFor(map[bool]db2.State{true: db2.RemoteCatchup, false: db2.Peer}[mode == db2.SuperAsync], 10*time.Second)
				x.fab.CutBoth("a", "b")
				w := x.a.write("c")
				time.Sleep(5 * time.Second)
				if acked := w.stop(); (len(acked) == 0) != waits {
					t.Errorf("%d commits acknowledged without a standby", len(acked))
				}
			})
		})
	}
}
