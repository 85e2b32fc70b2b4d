package db2

import (
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// R19: each document knows one form of the command, and a person's word alone
// leads to the one that asks for nothing.
func TestFormsOfTheTakeoverDocuments(t *testing.T) {
	for kind, want := range map[string]struct{ window, plain int }{"takeover": {1, 0}, "forced_takeover": {0, 1}} {
		h := newHost(t)
		if out, code := h.run(kind, order()); code != 0 {
			t.Errorf("%s: exit code %d\n%s", kind, code, out)
		}
		if h.forced != want.window || h.plain != want.plain {
			t.Errorf("%s: %d takeovers within the window, %d by plain force; want %d and %d", kind, h.forced, h.plain, want.window, want.plain)
		}
	}
	for _, force := range []bool{false, true} {
		r := &runner{host: newHost(t)}
		got, _ := promote(t, r, func(p *control.Promotion) { p.Force = force })
		if got.Outcome != failover.OK || (r.host.plain == 1) != force || (r.host.forced == 1) == force {
			t.Errorf("force %v: %+v, within the window %d, plain %d", force, got, r.host.forced, r.host.plain)
		}
	}
}

// Where nobody declared the document, nobody takes over by force.
func TestForcedTakeoverNeedsItsDocument(t *testing.T) {
	r := &runner{host: newHost(t)}
	got, _ := promote(t, r, func(p *control.Promotion) {
		p.Force = true
		p.Settings = setting("forced_takeover_document", "")
	})
	if got.Outcome != failover.Failed || !strings.Contains(got.Detail, "forced_takeover_document") || r.host.plain+r.host.forced > 0 {
		t.Errorf("result %+v", got)
	}
}

// R13: commands run the version of the document that the operation began with.
func TestPinnedVersions(t *testing.T) {
	r := &runner{host: newHost(t)}
	promote(t, r, func(p *control.Promotion) { p.Settings = setting("takeover_document_version", "7") })
	if got := r.asked[len(r.asked)-1].Version; got != "7" {
		t.Errorf("version %q", got)
	}
}

// R29: a primary is started without its standby only where that was asked for
// and its configuration names it primary.
func TestStartAlone(t *testing.T) {
	tests := []struct {
		name, alone, role string
		want              int
	}{
		{"a primary whose partner is down", "yes", "PRIMARY", 1},
		{"a primary whose partner may live", "no", "PRIMARY", 0},
		{"a standby never becomes primary so", "yes", "STANDBY", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			h.role, h.pd = tt.role, func() string { return notActivated }
			p := order(with("step", "restart"), with("alone", tt.alone))
			delete(p, "vip")
			if out, code := h.run("start", p); code != 0 || h.alone != tt.want || h.killed != tt.want {
				t.Errorf("exit code %d, started by force %d times, want %d\n%s", code, h.alone, tt.want, out)
			}
		})
	}
}

// A database that is active is left alone: a kill would end its work.
func TestStartAloneLeavesAnActiveDatabase(t *testing.T) {
	h := newHost(t)
	h.role = "PRIMARY"
	p := order(with("step", "restart"), with("alone", "yes"))
	delete(p, "vip")
	if out, code := h.run("start", p); code != 0 || h.alone > 0 || h.killed > 0 {
		t.Errorf("exit code %d, started by force %d times, killed %d times\n%s", code, h.alone, h.killed, out)
	}
}

const notActivated = "Database HADRDB not activated on database member 0 or this database name cannot be found in the local database directory."

// What a standby proves once it is alone, as the output of db2pd shows it.
func TestProven(t *testing.T) {
	end := hostNow.Add(-time.Minute)
	silent := int64(320)
	alone := HADR{Role: "STANDBY", SyncMode: "NEARSYNC", State: "REMOTE_CATCHUP_PENDING", ConnectStatus: "DISCONNECTED", SinceLastRecv: &silent, PeerWindowEnd: end}
	with := func(change func(*HADR)) []HADR { h := alone; change(&h); return []HADR{h} }
	tests := []struct {
		name   string
		blocks []HADR
		until  time.Time
	}{
		{"after the window", []HADR{alone}, end.Add(-windowMargin)},
		{"within it", with(func(h *HADR) { h.State = "DISCONNECTED_PEER" }), end.Add(-windowMargin)},
		{"connected, so that the window moves on", with(func(h *HADR) { h.State, h.ConnectStatus = "PEER", "CONNECTED" }), time.Time{}},
		{"catching up again", with(func(h *HADR) { h.State, h.ConnectStatus = "REMOTE_CATCHUP", "CONNECTED" }), time.Time{}},
		{"never in peer", with(func(h *HADR) { h.PeerWindowEnd = time.Time{} }), time.Time{}},
		{"commits do not wait for it", with(func(h *HADR) { h.SyncMode = "ASYNC" }), time.Time{}},
		{"a table space is broken", with(func(h *HADR) { h.Flags = []string{"STANDBY_TABLESPACE_ERROR"} }), time.Time{}},
		{"nobody knows when it heard its primary last", with(func(h *HADR) { h.SinceLastRecv = nil }), time.Time{}},
		{"the weakest of two log streams", append(with(func(h *HADR) { h.PeerWindowEnd = end.Add(time.Minute) }), alone), end.Add(-windowMargin)},
		{"one of two log streams proves nothing", append(with(func(h *HADR) { h.PeerWindowEnd = time.Time{} }), alone), time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			until, heard := proven(tt.blocks, hostNow)
			if !until.Equal(tt.until) || heard.IsZero() != tt.until.IsZero() || !heard.IsZero() && !heard.Equal(hostNow.Add(-320*time.Second)) {
				t.Errorf("proven until %v, heard %v; want %v", until, heard, tt.until)
			}
		})
	}
}

// A switchover asks for a takeover without any force.
func TestSwitchoverDocument(t *testing.T) {
	r := &runner{host: newHost(t)}
	got, _ := promote(t, r, func(p *control.Promotion) {
		p.InOrder, p.Settings = true, setting("switchover_document", "hadr-switchover")
	})
	if got.Outcome != failover.OK || r.host.inOrder != 1 || r.host.plain+r.host.forced > 0 {
		t.Errorf("result %+v; in order %d, within the window %d, by force %d", got, r.host.inOrder, r.host.forced, r.host.plain)
	}
}

// R30: a pair that is connected and in peer state for a while has settled.
func TestConnectedSince(t *testing.T) {
	at := hostNow.Add(-time.Hour)
	peer := HADR{Role: "STANDBY", State: "PEER", ConnectStatus: "CONNECTED", ConnectStatusTime: at}
	with := func(change func(*HADR)) HADR { h := peer; change(&h); return h }
	tests := []struct {
		name   string
		blocks []HADR
		want   time.Time
	}{
		{"in peer state", []HADR{peer}, at},
		{"catching up", []HADR{with(func(h *HADR) { h.State = "REMOTE_CATCHUP" })}, time.Time{}},
		{"lost", []HADR{with(func(h *HADR) { h.ConnectStatus = "DISCONNECTED" })}, time.Time{}},
		{"slow, but there", []HADR{with(func(h *HADR) { h.ConnectStatus = "CONGESTED" })}, time.Time{}},
		{"the younger of two log streams", []HADR{peer, with(func(h *HADR) { h.ConnectStatusTime = at.Add(time.Minute) })}, at.Add(time.Minute)},
	}
	for _, tt := range tests {
		if got := connected(tt.blocks); !got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
