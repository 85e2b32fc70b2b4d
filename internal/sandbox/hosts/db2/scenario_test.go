package db2_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

var standard = db2.Pair{PeerWindow: 120 * time.Second, Timeout: 60 * time.Second}

const force = "takeover hadr on db SAMPLE by force"

func TestStartReachesPeer(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		x.b.waitFor(db2.Peer, time.Second)
		a, b := x.a.pd(), x.b.pd()
		if a["HADR_ROLE"] != "PRIMARY" || b["HADR_ROLE"] != "STANDBY" || a["HADR_CONNECT_STATUS"] != "CONNECTED" {
			t.Errorf("roles and connection: %s%s", a["text"], b["text"])
		}
		if got := x.a.db2(2, "activate db SAMPLE"); !strings.HasPrefix(got, "SQL1490W") {
			t.Error(got)
		}
		if got := x.a.db2(4, "start hadr on db SAMPLE as primary"); !strings.HasPrefix(got, "SQL1777N") {
			t.Error(got)
		}
		if got := x.b.db2(4, "connect to SAMPLE"); !strings.Contains(got, `SQL1776N The command cannot be issued on an HADR database. Reason code = "1"`) {
			t.Error(got)
		}
		if got := x.b.db2(4, "stop hadr on db SAMPLE"); !strings.Contains(got, `SQL1769N Stop HADR cannot complete. Reason code = "2"`) {
			t.Error(got)
		}
	})
}

func TestPrimaryRefusesToStartAlone(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.a.start()
		began := time.Now()
		if got := x.a.db2(4, "activate db SAMPLE"); !strings.Contains(got, `SQL1768N Unable to start HADR. Reason code = "7"`) {
			t.Error(got)
		}
		if waited := time.Since(began); waited < 60*time.Second || waited > 63*time.Second {
			t.Errorf("waited %s for the standby, want HADR_TIMEOUT", waited)
		}
		if got := x.a.pd()["text"]; !strings.Contains(got, "not activated on database member 0") {
			t.Error(got)
		}
		x.a.db2(0, "start hadr on db SAMPLE as primary by force")
		if got := x.a.state(); got != "DISCONNECTED" {
			t.Error(got)
		}
	})
}

// A machine that vanishes is silence: the standby shows PEER until
// HADR_TIMEOUT, then DISCONNECTED_PEER until its frozen window ends.
func TestSilentDeathOfThePrimary(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		time.Sleep(100 * time.Second)
		died := time.Now()
		x.a.vanish()
		time.Sleep(44 * time.Second) // HADR_TIMEOUT less a heartbeat
		if got := x.b.state(); got != "PEER" {
			t.Errorf("44 s after the death: %s", got)
		}
		window := x.b.pd()["PEER_WINDOW_END"]
		x.b.waitFor(db2.DisconnectedPeer, 17*time.Second)
		if got := x.b.pd()["PEER_WINDOW_END"]; got != window {
			t.Errorf("the window moved from %s to %s", window, got)
		}
		x.b.waitFor(db2.RemoteCatchupPending, 70*time.Second)
		if after := time.Since(died); after < 100*time.Second || after > 121*time.Second {
			t.Errorf("window ended %s after the death, want W - heartbeat .. W", after)
		}
	})
}

// A cut link blocks the commits of a healthy primary for HADR_TIMEOUT plus
// the peer window; then it goes on alone.
func TestCutBlocksCommitsUntilTheWindowEnds(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.fab.CutBoth("a", "b")
		time.Sleep(time.Second)
		before := len(x.a.rows("c"))
		x.a.waitFor(db2.DisconnectedPeer, 61*time.Second)
		if got := x.a.pd()["LOG_HADR_WAIT_CUR(seconds)"]; got < "5" || strings.HasPrefix(got, "0") {
			t.Errorf("LOG_HADR_WAIT_CUR = %s", got)
		}
		time.Sleep(30 * time.Second)
		if got := len(x.a.rows("c")); got > before+1 {
			t.Errorf("%d commits while logging was blocked", got-before)
		}
		x.a.waitFor(db2.Disconnected, 121*time.Second)
		time.Sleep(time.Second)
		acked := w.stop()
		if got := len(acked); got < before+100 {
			t.Errorf("%d commits acknowledged, want the primary to go on alone", got)
		}
		if lost := x.b.lost("c", acked); len(lost) == 0 {
			t.Error("the standby has commits of a primary that it can't hear")
		}
		x.fab.Heal("a", "b")
		x.b.waitFor(db2.Peer, 10*time.Second)
		if lost := x.b.lost("c", acked); len(lost) > 0 {
			t.Errorf("after catch-up, the standby lacks %d commits", len(lost))
		}
	})
}

// A link that heals inside the window resumes logging after catch-up.
func TestReconnectInsideTheWindow(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		x.fab.CutBoth("a", "b")
		x.b.waitFor(db2.DisconnectedPeer, 70*time.Second)
		w := x.a.write("c")
		time.Sleep(10 * time.Second)
		x.fab.Heal("a", "b")
		x.b.waitFor(db2.Peer, 10*time.Second)
		x.a.waitFor(db2.Peer, time.Second)
		time.Sleep(time.Second)
		if acked := w.stop(); len(acked) < 50 || len(x.b.lost("c", acked)) > 0 {
			t.Errorf("%d acknowledged, lost %v", len(acked), x.b.lost("c", acked))
		}
	})
}

// A standby that is deactivated in order opens no peer window.
func TestOrderlyStandbyStopOpensNoWindow(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 10*time.Second)
		x.b.db2(0, "deactivate db SAMPLE")
		time.Sleep(time.Second)
		if got := x.a.state(); got != "DISCONNECTED" {
			t.Error(got)
		}
	})
}

func TestTakeoverInThePeerWindowThenReintegration(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(3 * time.Second)
		x.a.vanish()
		acked := w.stop()
		began := time.Now()
		if got := x.b.db2(0, force+" peer window only"); got != "DB20000I The TAKEOVER HADR ON DATABASE command completed successfully." {
			t.Error(got)
		}
		if took := time.Since(began); took < 2*time.Second || took > 6*time.Second {
			t.Errorf("takeover took %s", took)
		}
		if lost := x.b.lost("c", acked); len(lost) > 0 || len(acked) < 100 {
			t.Errorf("%d acknowledged, lost %v", len(acked), lost)
		}
		if b := x.b.pd(); b["HADR_ROLE"] != "PRIMARY" || b["HADR_STATE"] != "DISCONNECTED" || b["HADR_LAST_TAKEOVER_TIME"] == "NULL" {
			t.Error(b["text"])
		}
		w = x.b.write("d")
		time.Sleep(time.Second)
		if acked := w.stop(); len(acked) < 50 {
			t.Errorf("the new primary acknowledged %d commits (%s)", len(acked), w.failed)
		}

		x.a.boot()
		if got := x.a.db2(0, "get db cfg for SAMPLE"); !strings.Contains(got, "HADR database role = PRIMARY") {
			t.Error("the old primary's role changed")
		}
		if got := x.a.db2(4, "activate db SAMPLE"); !strings.Contains(got, `SQL1776N The command cannot be issued on an HADR database. Reason code = "6"`) {
			t.Error(got)
		}
		x.a.db2(0, "start hadr on db SAMPLE as standby")
		x.a.waitFor(db2.Peer, 20*time.Second)
		if got := x.a.pd()["HADR_ROLE"]; got != "STANDBY" {
			t.Error(got)
		}
	})
}

// What an old primary wrote alone makes it unfit: it shuts itself down.
func TestDivergenceShutsTheOldPrimaryDown(t *testing.T) {
	spoil := map[string]func(x *pair){
		"graceful stop": func(x *pair) {
			x.fab.CutBoth("a", "b")
			x.a.stop()
			x.b.db2(0, force+" peer window only")
			x.fab.Heal("a", "b")
			x.a.start()
		},
		"commits after the window": func(x *pair) {
			x.fab.CutBoth("a", "b")
			x.a.waitFor(db2.Disconnected, 200*time.Second)
			w := x.a.write("lonely")
			time.Sleep(time.Second)
			w.stop()
			x.b.db2(0, force)
			x.a.crash()
			x.fab.Heal("a", "b")
			x.a.start()
		},
		"deactivated before": func(x *pair) {
			x.a.vanish()
			x.b.db2(0, force+" peer window only")
			x.fab.CutBoth("a", "b")
			x.a.boot()
			x.a.db2(0, "start hadr on db SAMPLE as primary by force")
			x.a.db2(0, "deactivate db SAMPLE")
			x.fab.Heal("a", "b")
		},
	}
	for name, f := range spoil {
		t.Run(name, func(t *testing.T) {
			inBubble(t, standard, func(t *testing.T, x *pair) {
				x.up()
				x.b.waitFor(db2.Peer, 10*time.Second)
				time.Sleep(time.Second) // both logs are the same now
				f(x)
				x.a.db2(0, "start hadr on db SAMPLE as standby")
				time.Sleep(30 * time.Second)
				if got := x.a.pd()["text"]; !strings.Contains(got, "not activated") {
					t.Errorf("the old primary still runs: %s", got)
				}
				if !strings.Contains(x.a.diag(), "ADM12500E") {
					t.Errorf("db2diag.log lacks ADM12500E:\n%s", x.a.diag())
				}
			})
		})
	}
}

// A crash does not spoil the log, and restarting in place needs no takeover.
func TestCrashAndRestartInPlace(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.a.crash()
		acked := w.stop()
		time.Sleep(time.Second)
		if got := x.b.state(); got != "DISCONNECTED_PEER" {
			t.Errorf("a crashed process is noticed at once, but the standby is %s", got)
		}
		x.a.start()
		x.a.db2(0, "activate db SAMPLE")
		x.b.waitFor(db2.Peer, 10*time.Second)
		if lost := x.b.lost("c", acked); len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
	})
}

// With the primary connected, a forced takeover tells it to stop. Its role
// stays PRIMARY.
func TestForcedTakeoverOfALivePrimary(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.b.db2(0, force)
		acked := w.stop()
		if lost := x.b.lost("c", acked); len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
		if got := x.a.db2(0, "get db cfg for SAMPLE"); !strings.Contains(got, "HADR database role = PRIMARY") {
			t.Error(got)
		}
		if got := x.a.db2(4, "connect to SAMPLE"); !strings.Contains(got, `Reason code = "6"`) {
			t.Error(got)
		}
	})
}

func TestPlainTakeoverSwitchesRoles(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.b.db2(0, "takeover hadr on db SAMPLE")
		acked := w.stop()
		x.b.waitFor(db2.Peer, 10*time.Second)
		if a, b := x.a.pd()["HADR_ROLE"], x.b.pd()["HADR_ROLE"]; a != "STANDBY" || b != "PRIMARY" {
			t.Errorf("a %s, b %s", a, b)
		}
		if lost := x.b.lost("c", acked); len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
		x.a.db2(0, "takeover hadr on db SAMPLE")
		x.a.waitFor(db2.Peer, 10*time.Second)
	})
}

// After a takeover the new primary that restarts alone stays down: only BY
// FORCE starts it.
func TestNewPrimaryRestartsOnlyByForce(t *testing.T) {
	inBubble(t, standard, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		x.a.vanish()
		x.b.db2(0, force+" peer window only")
		x.b.crash()
		x.b.start()
		if got := x.b.db2(4, "activate db SAMPLE"); !strings.Contains(got, `Reason code = "7"`) {
			t.Error(got)
		}
		x.b.db2(0, "start hadr on db SAMPLE as primary by force")
	})
}

// A standby whose clock is slow lets PEER WINDOW ONLY pass after the true end.
func TestClockOffsetMovesTheWindow(t *testing.T) {
	for offset, want := range map[time.Duration]int{-30 * time.Second: 0, 0: 4} {
		inBubble(t, standard, func(t *testing.T, x *pair) {
			x.b.clock.by = offset
			x.up()
			x.b.waitFor(db2.Peer, 10*time.Second)
			x.a.vanish()
			time.Sleep(122 * time.Second)
			x.b.db2(want, force+" peer window only")
		})
	}
}

// Once a takeover by force has begun, a link that heals changes nothing: the
// old primary may not resume logging.
func TestTakeoverFollowsNobody(t *testing.T) {
	p := standard
	p.TakeoverTime = 10 * time.Second
	inBubble(t, p, func(t *testing.T, x *pair) {
		x.up()
		x.b.waitFor(db2.Peer, 10*time.Second)
		time.Sleep(time.Second)
		x.fab.CutBoth("a", "b")
		x.b.waitFor(db2.DisconnectedPeer, 70*time.Second)
		w := x.a.write("c")
		time.AfterFunc(time.Second, func() { x.fab.Heal("a", "b") })
		x.b.db2(0, force+" peer window only")
		if acked := w.stop(); len(acked) > 0 {
			t.Errorf("the old primary acknowledged %d commits during the takeover", len(acked))
		}
	})
}
