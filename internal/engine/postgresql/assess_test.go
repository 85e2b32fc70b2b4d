package postgresql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var (
	syncSettings  = Settings{Mode: Sync, Window: 5 * time.Minute, MaxLag: 1000, Addresses: map[string]string{"a": "10.0.1.10", "b": "10.0.2.10"}}
	asyncSettings = Settings{Mode: Async, Window: 30 * time.Second, MaxLag: 1000, Addresses: syncSettings.Addresses}
)

// standby is a healthy one that is asked for a change.
func standby(change ...func(*Report)) Report {
	r := Report{
		HostTime: now, Runs: true,
		Database: &Database{
			Version: 150004, Recovery: true, Timeline: 1, Flushed: 5000, Replayed: 5000, LastCommit: ago(10 * time.Second), ReceiverTimeout: seconds(6 * time.Second),
			Receiver: &Receiver{Status: "streaming", Flushed: 5000, PrimaryEnd: 5000, Heard: ago(time.Second), Since: ago(time.Hour)},
		},
		Waiting: Waiting{Asked: now.Add(-time.Second), Names: `"b"`, Commit: "on"},
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

// alone has lost its primary so long ago.
func alone(d time.Duration) func(*Report) {
	return func(r *Report) {
		r.Database.Receiver = nil
		r.Database.LastCommit = ago(d + 10*time.Second)
		r.Contact = Contact{Heard: now.Add(-d)}
		r.Waiting.Asked = now.Add(-d)
	}
}

func TestAssessStandby(t *testing.T) {
	tests := []struct {
		name     string
		settings Settings
		report   Report
		fit      bool
		why      string
		lost     bool
		state    string
		until    time.Duration // from now until promotions are refused
	}{
		{name: "sync: streaming", settings: syncSettings, report: standby(), fit: true, state: "streaming", until: 299 * time.Second},
		{name: "sync: the primary is gone", settings: syncSettings, report: standby(alone(time.Minute)), fit: true, lost: true, state: "disconnected", until: 4 * time.Minute},
		{name: "sync: gone for so long that somebody may have told it not to wait", settings: syncSettings, report: standby(alone(6 * time.Minute)), why: "sync_window_seconds", lost: true, state: "disconnected", until: -time.Minute},
		{name: "sync: the primary does not wait for it", settings: syncSettings, report: standby(func(r *Report) { r.Waiting.Names = "" }), why: "is empty", state: "streaming", until: 299 * time.Second},
		{name: "sync: the primary waits for another one", settings: syncSettings, report: standby(func(r *Report) { r.Waiting.Names = "c" }), why: "do not wait for b", state: "streaming", until: 299 * time.Second},
		{name: "sync: the primary was never asked", settings: syncSettings, report: standby(func(r *Report) { r.Waiting = Waiting{} }), why: "not been asked", state: "streaming"},
		{name: "sync: the primary can't be asked any more", settings: syncSettings, report: standby(func(r *Report) { r.Waiting.Asked = now.Add(-6 * time.Minute) }), why: "sync_window_seconds", state: "streaming", until: -time.Minute},
		{name: "sync: it waits, and the standby has been behind for long", settings: syncSettings, report: standby(func(r *Report) { r.Database.Receiver.PrimaryEnd = 6000; r.Database.LastCommit = ago(6 * time.Minute) }), why: "sync_window_seconds", state: "streaming", until: -time.Minute},
		{name: "async: streaming", settings: asyncSettings, report: standby(), fit: true, state: "streaming", until: 29 * time.Second},
		{name: "async: gone within the declared RPO", settings: asyncSettings, report: standby(alone(20 * time.Second)), fit: true, lost: true, state: "disconnected", until: 10 * time.Second},
		{name: "async: gone for longer", settings: asyncSettings, report: standby(alone(40 * time.Second)), why: "max_rpo_seconds", lost: true, state: "disconnected", until: -10 * time.Second},
		{name: "async: a commit proves more than the word that was kept", settings: asyncSettings, report: standby(alone(40*time.Second), func(r *Report) { r.Database.LastCommit = ago(5 * time.Second) }), fit: true, lost: true, state: "disconnected", until: 25 * time.Second},
		{name: "async: too many bytes behind", settings: asyncSettings, report: standby(func(r *Report) { r.Database.Receiver.PrimaryEnd = 6001 }), why: "1001 bytes", state: "streaming", until: 20 * time.Second},
		{name: "async: as many bytes behind as declared", settings: asyncSettings, report: standby(func(r *Report) { r.Database.Receiver.PrimaryEnd = 6000 }), fit: true, state: "streaming", until: 20 * time.Second},
		{name: "it never heard of its primary", settings: asyncSettings, report: standby(func(r *Report) { r.Database.Receiver = nil; r.Database.LastCommit = epoch{} }), why: "never heard", lost: true, state: "disconnected"},
		{name: "paused", settings: syncSettings, report: standby(func(r *Report) { r.Database.Paused = true }), why: "paused", state: "paused", until: 299 * time.Second},
		{name: "no clock", settings: syncSettings, report: standby(func(r *Report) { r.HostTime = time.Time{} }), why: "clock", state: "streaming", until: 299 * time.Second},
		{name: "a quiet primary that answers pings is not lost", settings: syncSettings, report: standby(func(r *Report) { r.Database.Receiver.Heard = ago(4900 * time.Millisecond) }), fit: true, state: "streaming", until: 295100 * time.Millisecond},
		{name: "a primary that answers no ping is lost", settings: syncSettings, report: standby(func(r *Report) { r.Database.Receiver.Heard = ago(5100 * time.Millisecond) }), fit: true, lost: true, state: "streaming", until: 294900 * time.Millisecond},
		{name: "without pings silence is no loss", settings: syncSettings, report: standby(func(r *Report) { r.Database.ReceiverTimeout = 0; r.Database.Receiver.Heard = ago(time.Minute) }), fit: true, state: "streaming", until: 290 * time.Second},
		{name: "a receiver that only starts", settings: syncSettings, report: standby(alone(time.Second), func(r *Report) { r.Database.Receiver = &Receiver{Status: "starting"} }), fit: true, lost: true, state: "disconnected", until: 299 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o failover.Observation
			assess(&o, tt.settings, "b", tt.report)
			if o.Answer != failover.Answered || o.Role != failover.RoleStandby || o.Database != failover.DatabaseActive {
				t.Fatalf("observation %+v", o)
			}
			if (o.Fitness == failover.Fit) != tt.fit || !strings.Contains(o.FitnessWhy, tt.why) || !tt.fit && o.FitnessNext == "" {
				t.Errorf("%s: %q, next %q; want fit %v, %q", o.Fitness, o.FitnessWhy, o.FitnessNext, tt.fit, tt.why)
			}
			if o.PartnerLost != tt.lost || o.State != tt.state {
				t.Errorf("state %s, partner lost %v (silent for %s); want %s, %v", o.State, o.PartnerLost, o.PartnerSilence, tt.state, tt.lost)
			}
			if tt.until != 0 && o.PromoteUntil.Sub(now) != tt.until || tt.until == 0 && !o.PromoteUntil.IsZero() {
				t.Errorf("promote until %s, want %s from now", o.PromoteUntil, tt.until)
			}
		})
	}
}

// R19: what a person may rely on who promotes after the window.
func TestProvenUntil(t *testing.T) {
	tests := []struct {
		name     string
		settings Settings
		report   Report
		until    time.Time
		heard    time.Time
	}{
		{"sync: as long as nobody can have told the primary not to wait", syncSettings, standby(alone(10 * time.Minute)), now.Add(-5 * time.Minute), now.Add(-10 * time.Minute)},
		{"sync: the primary did not wait", syncSettings, standby(alone(10*time.Minute), func(r *Report) { r.Waiting.Names = "" }), now.Add(-10 * time.Minute), now.Add(-10 * time.Minute)},
		{"async: only until it was heard last", asyncSettings, standby(alone(10 * time.Minute)), now.Add(-10 * time.Minute), now.Add(-10 * time.Minute)},
		{"streaming: nothing stands still", syncSettings, standby(), time.Time{}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o failover.Observation
			assess(&o, tt.settings, "b", tt.report)
			if !o.ProvenUntil.Equal(tt.until) || !o.HeardLast.Equal(tt.heard) {
				t.Errorf("proven until %s, heard at %s; want %s, %s", o.ProvenUntil, o.HeardLast, tt.until, tt.heard)
			}
		})
	}
}

func TestAssessPrimary(t *testing.T) {
	primary := func(change ...func(*Database)) Report {
		db := &Database{
			Version: 150004, Timeline: 1, Flushed: 5000, SynchronousNames: `"b"`, SynchronousCommit: "on",
			Senders: []Sender{{Name: "backup", State: "streaming", Sync: "async"}, {Name: "b", State: "streaming", Sync: "sync", Flushed: 5000, Replayed: 5000}},
		}
		for _, f := range change {
			f(db)
		}
		return Report{HostTime: now, Runs: true, Database: db}
	}
	tests := []struct {
		name     string
		settings Settings
		report   Report
		state    string
		partner  string
		waits    bool
		blocked  bool // it acknowledges nothing without its standby
		differs  string
	}{
		{name: "sync", settings: syncSettings, report: primary(), state: "read_write", partner: "streaming sync", blocked: true},
		{name: "sync, and its standby is behind", settings: syncSettings, report: primary(func(db *Database) {
			db.Flushed = 2<<20 + 5000
			db.Senders[1].FlushLag = seconds(1500 * time.Millisecond)
		}), state: "read_write", partner: "streaming sync, behind by 2097152 bytes to receive, 0 to replay, 1.5 s", blocked: true},
		{name: "sync, and another standby confirms", settings: syncSettings, report: primary(func(db *Database) { db.SynchronousNames = "c" }), state: "read_write", partner: "streaming sync"},
		{name: "R4: sync, and its standby is gone", settings: syncSettings, report: primary(func(db *Database) { db.Senders = db.Senders[:1] }), state: "read_write", partner: "none", waits: true, blocked: true},
		{name: "R4: sync, and a commit waits", settings: syncSettings, report: primary(func(db *Database) { db.Waits = seconds(1200 * time.Millisecond) }), state: "read_write", partner: "streaming sync", waits: true, blocked: true},
		{name: "sync, and a commit waits as briefly as usual", settings: syncSettings, report: primary(func(db *Database) { db.Waits = seconds(30 * time.Millisecond) }), state: "read_write", partner: "streaming sync", blocked: true},
		{name: "after a takeover it waits for nobody", settings: syncSettings, report: primary(func(db *Database) { db.SynchronousNames, db.Senders = "", nil }), state: "read_write", partner: "none"},
		{name: "async", settings: asyncSettings, report: primary(func(db *Database) { db.SynchronousNames, db.Senders[1].Sync = "", "async" }), state: "read_write", partner: "streaming async"},
		{name: "async is declared and commits wait", settings: asyncSettings, report: primary(), state: "read_write", partner: "streaming sync", differs: "declared async"},
		{name: "fenced by itself", settings: syncSettings, report: primary(func(db *Database) { db.ReadOnly = true }), state: "read_only", partner: "streaming sync", blocked: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o failover.Observation
			assess(&o, tt.settings, "a", tt.report)
			if !o.ServesAsPrimary() || o.Fitness != failover.Unfit || o.Position != uint64(tt.report.Database.Flushed) {
				t.Fatalf("observation %+v", o)
			}
			if blocked := o.BlockedUntil.Equal(now.Add(tt.settings.Window)); blocked != tt.blocked || !blocked && !o.BlockedUntil.IsZero() {
				t.Errorf("blocked until %s, want %v", o.BlockedUntil, tt.blocked)
			}
			if o.State != tt.state || o.PartnerStatus != tt.partner || o.PartnerLost != (tt.partner == "none") || o.WaitsForStandby != tt.waits || !strings.Contains(o.SettingsDiffer, tt.differs) || (o.SettingsDiffer == "") != (tt.differs == "") {
				t.Errorf("state %s, partner %s, waits %v, differs %q; want %+v", o.State, o.PartnerStatus, o.WaitsForStandby, o.SettingsDiffer, tt)
			}
		})
	}
}

func TestAssessTrouble(t *testing.T) {
	tests := []struct {
		name     string
		report   Report
		answer   failover.Answer
		database failover.DatabaseState
		role     failover.Role
		says     string
	}{
		{name: "down", report: Report{OnDisk: "primary"}, answer: failover.Answered, database: failover.DatabaseDown, role: failover.RolePrimary, says: "does not run"},
		{name: "down, as standby", report: Report{OnDisk: "standby"}, answer: failover.Answered, database: failover.DatabaseDown, role: failover.RoleStandby, says: "does not run"},
		{name: "R6: stopped in order", report: Report{OnDisk: "primary", Stopped: "patch, by ann"}, answer: failover.Answered, database: failover.DatabaseDown, role: failover.RolePrimary},
		{name: "a mark of a stop that was not one", report: Report{Runs: true, Stopped: "patch, by ann"}, answer: failover.Unreadable},
		{name: "half rewound", report: Report{OnDisk: "primary", Rewinding: true}, answer: failover.Answered, database: failover.DatabaseDown, role: failover.RolePrimary, says: "pg_rewind"},
		{name: "a process that lives is not down", report: Report{Runs: true, Answer: "FATAL: the database system is starting up"}, answer: failover.Unreadable, says: "starting up"},
		{name: "too old", report: Report{Runs: true, Database: &Database{Version: 120010}}, answer: failover.Unreadable, says: "12.10: 13 is the oldest"},
		{name: "a promotion runs", report: standby(func(r *Report) { r.Promoting = now.Add(-time.Second) }), answer: failover.Unreadable, says: "promotion runs"},
		{name: "a mark that a dead host left", report: standby(func(r *Report) { r.Promoting = now.Add(-time.Hour) }), answer: failover.Answered, database: failover.DatabaseActive, role: failover.RoleStandby},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o failover.Observation
			assess(&o, syncSettings, "b", tt.report)
			if (o.StoppedInOrder != "") != (tt.report.Stopped != "" && tt.database == failover.DatabaseDown) {
				t.Errorf("stopped in order: %q", o.StoppedInOrder)
			}
			if o.Answer != tt.answer || o.Database != tt.database || o.Role != tt.role || !strings.Contains(o.AnswerError+o.FitnessWhy, tt.says) {
				t.Errorf("observation %+v, want %+v", o, tt)
			}
		})
	}
}

// What PostgreSQL 15 printed on real hosts.
func TestParseRecordedReports(t *testing.T) {
	read := func(name string) (Report, failover.Observation) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseReport(string(b))
		if err != nil {
			t.Fatal(err)
		}
		var o failover.Observation
		assess(&o, syncSettings, map[string]string{"primary": "a", "frozen": "a", "down": "a"}[name]+map[string]string{"standby": "b", "alone": "b"}[name], r)
		return r, o
	}
	r, o := read("primary")
	if !o.ServesAsPrimary() || o.PartnerStatus != "streaming sync" || r.Database.System != "7713756555937446449" || r.Database.Timeline != 1 || o.Position != 0x88A000 {
		t.Errorf("primary: %+v\n%+v", r, o)
	}
	r, o = read("standby")
	if o.Fitness != failover.Fit || o.State != "streaming" || o.PartnerLost || r.Waiting.Names != `"b"` || r.Waiting.Commit != "on" || r.Contact.Heard.IsZero() {
		t.Errorf("standby: %+v\n%+v", r, o)
	}
	if _, o = read("alone"); o.Fitness != failover.Fit || !o.PartnerLost || o.PartnerSilence < 5*time.Second {
		t.Errorf("standby without its primary: %+v", o)
	}
	if _, o = read("frozen"); o.Answer != failover.Unreadable {
		t.Errorf("frozen primary: %+v", o)
	}
	if r, o = read("down"); o.Database != failover.DatabaseDown {
		t.Errorf("dead primary: %+v", o)
	}
}

func TestParseReportAfterABanner(t *testing.T) {
	r, err := ParseReport("=== hadr database\nWelcome to db-a\n{\"version\": 150004, \"recovery\": true}\n=== hadr end\n")
	if err != nil || !r.Database.Recovery {
		t.Errorf("report %+v, %v", r, err)
	}
}

func TestParseReportRefuses(t *testing.T) {
	for name, output := range map[string]string{
		"cut off":   "=== hadr database\n{}\n",
		"no JSON":   "=== hadr database\npsql: something else\n=== hadr end\n",
		"bad LSN":   "=== hadr database\n{\"flushed\": \"xyz\"}\n=== hadr end\n",
		"bad delay": "=== hadr database\n{\"waits\": \"long\"}\n=== hadr end\n",
	} {
		if r, err := ParseReport(output); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	for _, name := range []string{"primary", "standby", "down"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, output string) {
		r, err := ParseReport(output)
		if err != nil {
			return
		}
		var o failover.Observation
		assess(&o, syncSettings, "b", r)
		if o.Answer == failover.AnswerNone {
			t.Errorf("%q: no answer", output)
		}
	})
}
