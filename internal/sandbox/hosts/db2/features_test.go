package db2_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// A version shows in the header's date, in the lines that it knows, in the
// database configuration and when connecting.
func TestVersions(t *testing.T) {
	tests := []struct {
		version                     db2.Version
		server, date                string
		flags, missed, history, tls bool
	}{
		{"", "11.5.8.0", "2000-01-01-00.00.", true, true, true, true},
		{db2.V105, "10.5.0", "01/01/2000 00:00:", false, false, false, false},
		{db2.V111, "11.1.0", "2000-01-01-00.00.", true, true, false, true},
		{db2.V115, "11.5.8.0", "2000-01-01-00.00.", true, true, true, true},
		{db2.V121, "12.1.4.0", "2000-01-01-00.00.", true, true, true, true},
	}
	for _, tt := range tests {
		t.Run("version "+string(tt.version), func(t *testing.T) {
			inBubble(t, ownWith(func(p *db2.Pair) { p.Version = tt.version }), func(t *testing.T, x *pair) {
				inPeer(x)
				pd := x.a.pd()
				if !strings.Contains(pd["text"], "-- Date "+tt.date) {
					t.Errorf("header of %s", pd["text"])
				}
				cfg := x.a.db2(0, "get db cfg for SAMPLE")
				for what, has := range map[string]bool{
					"HADR_FLAGS": tt.flags, "HEARTBEAT_MISSED": tt.missed, "HADR_LAST_TAKEOVER_TIME": tt.history, "(HADR_SSL_LABEL)": tt.tls,
				} {
					if strings.Contains(pd["text"]+cfg, what) != has {
						t.Errorf("%s: want %v", what, has)
					}
				}
				if got := x.a.db2(0, "connect to SAMPLE"); !strings.Contains(got, "DB2/LINUXX8664 "+tt.server+" ") {
					t.Error(got)
				}
			})
		})
	}
	if err := (db2.Pair{Version: "9.7"}).CreateSide(db2.Primary, db2.Side{Root: t.TempDir()}, db2.Side{}); err == nil || !strings.Contains(err.Error(), "want 10.5, 11.1, 11.5 or 12.1") {
		t.Errorf("version 9.7: %v", err)
	}
}

// Applications read on a standby with DB2_HADR_ROS, and write nothing.
func TestReadsOnStandby(t *testing.T) {
	inBubble(t, ownWith(func(p *db2.Pair) { p.ReadsOnStandby = true }), func(t *testing.T, x *pair) {
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		if got := x.b.db2(4, "connect to SAMPLE"); !strings.Contains(got, `SQL1776N The command cannot be issued on an HADR database. Reason code = "1"`) {
			t.Errorf("in local catch-up: %s", got)
		}
		x.a.start()
		x.a.db2(0, "activate db SAMPLE")
		x.b.waitFor(db2.Peer, 10*time.Second)
		const statements = "select SEQ from HAPROBE.BEAT where NODE='a'; create table T (A int); insert into HAPROBE.BEAT values ('c', 1);"
		text, code := x.b.between("connect to SAMPLE;", func() {}, statements)
		if strings.Count(text, "SQL1773N") != 2 || !strings.Contains(text, "1 record(s) selected") || code != 4 {
			t.Errorf("%d %s", code, text)
		}
		a, b := x.a.pd(), x.b.pd()
		if a["READS_ON_STANDBY_ENABLED"] != "Y" || b["READS_ON_STANDBY_ENABLED"] != "Y" || !strings.Contains(b["text"], "-- Active Standby --") || !strings.Contains(a["text"], "-- Active --") {
			t.Errorf("%s%s", a["text"], b["text"])
		}
	})
}

// With a replay delay, both sides see the standby receive before it replays.
func TestReplayDelay(t *testing.T) {
	inBubble(t, ownWith(func(p *db2.Pair) { p.ReplayDelay = time.Minute }), func(t *testing.T, x *pair) {
		x.up()
		time.Sleep(2 * time.Minute)
		before := x.b.pd()["STANDBY_REPLAY_LOG_FILE,PAGE,POS"]
		w := x.a.write("c")
		time.Sleep(5 * time.Second)
		w.stop()
		time.Sleep(20 * time.Second) // a heartbeat
		for _, n := range []*node{x.a, x.b} {
			pd := n.pd()
			if pd["STANDBY_REPLAY_LOG_FILE,PAGE,POS"] != before || pd["STANDBY_LOG_FILE,PAGE,POS"] != pd["PRIMARY_LOG_FILE,PAGE,POS"] || pd["STANDBY_RECV_REPLAY_GAP(bytes)"] == "0" {
				t.Errorf("%s", pd["text"])
			}
		}
		time.Sleep(90 * time.Second)
		for _, n := range []*node{x.a, x.b} {
			if pd := n.pd(); pd["STANDBY_RECV_REPLAY_GAP(bytes)"] != "0" || pd["HADR_STATE"] != "REMOTE_CATCHUP" {
				t.Errorf("after the delay: %s", pd["text"])
			}
		}
	})
}

// A standby without room for the log holds up its primary, which shows the
// reason, without losing the connection; nothing is lost.
func TestFullLogDevice(t *testing.T) {
	inBubble(t, own, func(t *testing.T, x *pair) {
		inPeer(x)
		x.b.fillLogDevice(true)
		w := x.a.write("c")
		time.Sleep(3 * time.Minute)
		for _, n := range []*node{x.a, x.b} {
			if pd := n.pd(); pd["HADR_FLAGS"] != "STANDBY_RECV_BLOCKED STANDBY_LOG_DEVICE_FULL TCP_PROTOCOL" || pd["HADR_STATE"] != "PEER" {
				t.Errorf("%s", pd["text"])
			}
		}
		if rows := x.b.rows("c"); len(rows) > 0 {
			t.Errorf("a full device took %d commits", len(rows))
		}
		x.b.fillLogDevice(false)
		time.Sleep(30 * time.Second)
		acked := w.stop()
		if lost := x.b.lost("c", acked); len(lost) > 0 || len(acked) < 100 {
			t.Errorf("%d acknowledged, lost %v", len(acked), lost)
		}
		if got := x.a.pd()["HADR_FLAGS"]; got != "TCP_PROTOCOL" {
			t.Errorf("flags %q", got)
		}
	})
}

// DB2_HADR_PEER_WAIT_LIMIT bounds the wait in peer state; the peer window comes
// after it: https://ibm.github.io/db2-hadr-wiki/hadrConfig.html
func TestPeerWaitLimit(t *testing.T) {
	p := db2.Pair{PeerWindow: 30 * time.Second, Timeout: 120 * time.Second, PeerWait: 10 * time.Second}
	inBubble(t, p, func(t *testing.T, x *pair) {
		inPeer(x)
		x.fab.CutBoth("a", "b")
		w := x.a.write("c")
		time.Sleep(9 * time.Second)
		if got := x.a.pd(); got["HADR_STATE"] != "PEER" || got["PEER_WAIT_LIMIT(seconds)"] != "10" {
			t.Errorf("after 9 s: %s", got["text"])
		}
		x.a.waitFor(db2.DisconnectedPeer, 2*time.Second)
		time.Sleep(15 * time.Second)
		if n := len(x.a.rows("c")); n > 1 {
			t.Errorf("%d commits in the window", n)
		}
		x.a.waitFor(db2.Disconnected, 25*time.Second)
		time.Sleep(time.Second)
		if acked := w.stop(); len(acked) < 50 {
			t.Errorf("%d commits after the window", len(acked))
		}
	})
}

// While its standby replays its own log, a primary is connected and pending;
// it serves. A primary in its peer window stays there until the standby has
// given up its own.
func TestStandbyConnectsDuringLocalCatchup(t *testing.T) {
	inBubble(t, ownWith(func(p *db2.Pair) { p.LocalCatchup = 40 * time.Second }), func(t *testing.T, x *pair) {
		x.up()
		time.Sleep(20 * time.Second)
		a, b := x.a.pd(), x.b.pd()
		if a["HADR_STATE"] != "REMOTE_CATCHUP_PENDING" || a["HADR_CONNECT_STATUS"] != "CONNECTED" || b["HADR_STATE"] != "LOCAL_CATCHUP" {
			t.Errorf("%s%s", a["text"], b["text"])
		}
		w := x.a.write("c")
		x.b.waitFor(db2.Peer, 30*time.Second)
		if acked := w.stop(); len(acked) < 100 {
			t.Errorf("%d commits while the standby was in local catch-up", len(acked))
		}
		time.Sleep(time.Second)
		x.b.crash()
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		time.Sleep(20 * time.Second)
		if got := x.a.state(); got != "DISCONNECTED_PEER" {
			t.Errorf("a primary in its window went on without its standby: %s", got)
		}
		x.a.waitFor(db2.Peer, 30*time.Second)
		if lost := x.b.lost("c", w.acked); len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
	})
}
