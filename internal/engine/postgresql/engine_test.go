package postgresql

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// runner answers documents as told, in order.
type runner struct {
	answers map[string][]command.Result // document -> answers
	asked   []command.Request
}

func (r *runner) Run(_ context.Context, q command.Request) command.Result {
	r.asked = append(r.asked, q)
	if q.Started != nil {
		q.Started("cmd")
	}
	left := r.answers[q.Document]
	if len(left) == 0 {
		return command.Result{CommandID: "cmd", Outcome: command.Unknown, Detail: "gave up"}
	}
	r.answers[q.Document] = left[1:]
	return left[0]
}

func (r *runner) documents() (names []string) {
	for _, q := range r.asked {
		names = append(names, strings.TrimPrefix(q.Document, "hadr-")+" "+q.Instance)
	}
	return names
}

// reported is the answer of a document that printed these sections, name and
// text in turn.
func reported(outcome string, sections ...string) command.Result {
	out := "=== hadr outcome\n" + outcome + "\n"
	for i := 0; i+1 < len(sections); i += 2 {
		out += "=== hadr " + sections[i] + "\n" + sections[i+1] + "\n"
	}
	res := command.Result{CommandID: "cmd", Outcome: command.OK, Stdout: out + "=== hadr end\n"}
	switch outcome {
	case "primary", "started", "stopped":
	default:
		res.Outcome, res.Code, res.Detail = command.Failed, 1, "exit code 1"
	}
	return res
}

var (
	lost      = command.Result{CommandID: "cmd", Outcome: command.Unknown, Detail: "gave up"}
	unsent    = command.Result{Outcome: command.Failed, Detail: "access denied"}
	cutOff    = command.Result{CommandID: "cmd", Outcome: command.OK, Stdout: "=== hadr outcome\nprimary\n"}
	nodeA     = failover.NodeConfig{ID: "a", Instance: "i-a"}
	nodeB     = failover.NodeConfig{ID: "b", Instance: "i-b"}
	contactAt = "1772445590 0" // 10 s before now
)

func ordered(n failover.NodeConfig, change map[string]string) control.Promotion {
	return control.Promotion{
		Group: "orders", Node: n, Epoch: 8, OperationID: "01JABC", Attempt: 2, VIP: "192.168.10.5",
		Deadline: time.Unix(1772445660, 0), Settings: declared(change),
	}
}

var asyncMode = map[string]string{"replication_mode": "async", "max_rpo_seconds": "30"}

func TestObserve(t *testing.T) {
	recorded, err := os.ReadFile("testdata/standby.txt")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		answer command.Result
		change map[string]string
		want   failover.Answer
		says   string
	}{
		{name: "a fit standby", answer: command.Result{CommandID: "cmd", Outcome: command.OK, Stdout: string(recorded)}, want: failover.Answered},
		{name: "no answer in time", answer: lost, want: failover.Silent, says: "gave up"},
		{name: "agent offline", answer: command.Result{Outcome: command.Undeliverable, Detail: "offline"}, want: failover.Undeliverable, says: "offline"},
		{name: "document fails", answer: command.Result{Outcome: command.Failed, Detail: "exit code 127", Stderr: "runuser: not found"}, want: failover.Unreadable, says: "runuser"},
		{name: "output cut off", answer: cutOff, want: failover.Unreadable, says: "not complete"},
		{name: "no document declared", change: map[string]string{"status_document": ""}, want: failover.Unreadable, says: "status_document"},
		{name: "settings that make no sense", change: map[string]string{"port": "x"}, want: failover.Unreadable, says: "port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{answers: map[string][]command.Result{"hadr-status": {tt.answer}}}
			o := New(r, clock.System()).Observe(t.Context(), "orders", nodeB, declared(tt.change))
			if o.Answer != tt.want || !strings.Contains(o.AnswerError, tt.says) || o.Node != "b" || o.Source != "command" || o.ReadAt.IsZero() {
				t.Errorf("observation %+v, want %s, %q", o, tt.want, tt.says)
			}
			if len(r.asked) == 1 && (r.asked[0].Instance != "i-b" || !r.asked[0].Cancel || r.asked[0].Parameters["peer_host"] != "10.0.1.10") {
				t.Errorf("asked %+v", r.asked[0])
			}
		})
	}
}

// Only what is certain is OK or Failed; the rest is Unknown, and is read (R23).
func TestPromote(t *testing.T) {
	positions := []string{"positions", "0/5000|0/5000|1772445580", "contact", contactAt, "promoted_at", "1772445600.5"}
	tests := []struct {
		name    string
		answer  command.Result
		change  map[string]string
		outcome failover.Outcome
		says    string
	}{
		{name: "promoted", answer: reported("primary", positions...), outcome: failover.OK, says: "no acknowledged commit is lost"},
		{name: "R33: promoted, asynchronous", answer: reported("primary", positions...), change: asyncMode, outcome: failover.OK, says: "at most 10.5 s are lost"},
		{name: "primary already: nothing is known about losses", answer: reported("primary", "reason", "was primary"), outcome: failover.OK, says: "was primary"},
		{name: "refused by the document", answer: reported("refused", "reason", "epoch 8 is over"), outcome: failover.Failed, says: "epoch 8"},
		{name: "refused by PostgreSQL", answer: reported("standby", "reason", "PostgreSQL refused", "promote", "permission denied"), outcome: failover.Failed, says: "permission denied"},
		{name: "R23: pg_promote did not end in time", answer: reported("unknown", "reason", "not certain", "promote", "f"), outcome: failover.Unknown, says: "not certain"},
		{name: "R23: no answer", answer: lost, outcome: failover.Unknown, says: "gave up"},
		{name: "R23: cut off", answer: cutOff, outcome: failover.Unknown, says: "not complete"},
		{name: "never sent", answer: unsent, outcome: failover.Failed, says: "access denied"},
		{name: "no document", change: map[string]string{"promote_document": ""}, outcome: failover.Failed, says: "promote_document"},
		{name: "bad settings", change: map[string]string{"port": "x"}, outcome: failover.Failed, says: "port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{answers: map[string][]command.Result{"hadr-promote": {tt.answer}}}
			var started string
			got := New(r, clock.System()).Promote(t.Context(), ordered(nodeB, tt.change), func(id string) { started = id })
			if got.Outcome != tt.outcome || !strings.Contains(got.Detail, tt.says) || got.Outcome != failover.OK && got.Next == "" && r.asked != nil && tt.answer.Stdout != "" && tt.answer.Outcome == command.Failed {
				t.Errorf("result %+v, want %s, %q", got, tt.outcome, tt.says)
			}
			for _, q := range r.asked {
				if q.Comment != "01JABC/promote/2" || !q.Resume || q.Instance != "i-b" || q.Parameters["deadline"] != "1772445660" || q.Parameters["at_least"] != "none" || started != "cmd" {
					t.Errorf("asked %+v, started %q", q, started)
				}
			}
		})
	}
}

// R13, R29: the pinned version of a document, and a primary that is alone.
func TestStartDatabaseAlone(t *testing.T) {
	r := &runner{answers: map[string][]command.Result{"hadr-start": {reported("started")}}}
	p := ordered(nodeA, map[string]string{"start_document_version": "3"})
	p.Alone = true
	if got, err := New(r, clock.System()).StartDatabase(t.Context(), p); got != failover.OK || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	if q := r.asked[0]; q.Version != "3" || q.Parameters["alone"] != "yes" {
		t.Errorf("asked %+v", q)
	}
}

func TestStartDatabase(t *testing.T) {
	tests := []struct {
		name   string
		answer command.Result
		want   failover.Outcome
		says   string
	}{
		{"started", reported("started"), failover.OK, ""},
		{"failed", reported("failed", "reason", "pg_ctl", "log", "FATAL: no disk"), failover.Failed, "no disk"},
		{"half rewound", reported("refused", "reason", "pg_rewind did not end"), failover.Failed, "pg_rewind"},
		{"an earlier run left no result", reported("unknown", "reason", "left no result"), failover.Unknown, "no result"},
		{"no answer", lost, failover.Unknown, "gave up"},
		{"never sent", unsent, failover.Failed, "access denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{answers: map[string][]command.Result{"hadr-start": {tt.answer}}}
			got, err := New(r, clock.System()).StartDatabase(t.Context(), ordered(nodeA, nil))
			if got != tt.want || (err == nil) != (tt.want == failover.OK) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s, %v; want %s, %q", got, err, tt.want, tt.says)
			}
			if p := r.asked[0].Parameters; p["as"] != "on_disk" || p["alone"] != "no" {
				t.Errorf("asked %v", p)
			}
		})
	}
}

func TestRejoin(t *testing.T) {
	tests := []struct {
		name    string
		answer  command.Result
		outcome failover.Outcome
		code    string
		says    string
		next    string
	}{
		{"back", reported("started", "fork", "0/5000", "lost", ""), failover.OK, "started", "with no commit after it", ""},
		{"R33: back, with what it lost", reported("started", "fork", "0/5000", "lost", "0/5100|34|3|10:00:00 UTC|10:00:01 UTC"), failover.OK, "started", "290 bytes with 3 commits, from 10:00:00 UTC to 10:00:01 UTC", ""},
		{"needs a reseed", reported("needs_reseed", "reason", "neither checksums nor hints", "rewind", ""), failover.Failed, failover.NeedsReseed, "neither", "pg_basebackup -h 10.0.2.10 -p 5433"},
		{"pg_rewind failed", reported("needs_reseed", "reason", "pg_rewind failed", "rewind", "could not find previous WAL record"), failover.Failed, failover.NeedsReseed, "previous WAL record", "pg_basebackup"},
		{"it may be tried again", reported("failed", "reason", "does not stream"), failover.Failed, "failed", "does not stream", "main.log"},
		{"no answer", lost, failover.Unknown, "", "gave up", ""},
		{"never sent", unsent, failover.Failed, "", "access denied", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{answers: map[string][]command.Result{"hadr-rejoin": {tt.answer}}}
			got := New(r, clock.System()).Rejoin(t.Context(), ordered(nodeA, nil))
			if got.Outcome != tt.outcome || got.Code != tt.code || !strings.Contains(got.Detail, tt.says) || !strings.Contains(got.Next, tt.next) {
				t.Errorf("result %+v, want %+v", got, tt)
			}
		})
	}
}

func TestParseLost(t *testing.T) {
	for _, bad := range []map[string]string{
		{}, {"fork": "x"}, {"fork": "0/1", "lost": "x|1|1|a|b"}, {"fork": "0/1", "lost": "0/2|x|1|a|b"}, {"fork": "0/1", "lost": "0/2|1|x|a|b"},
	} {
		if l, ok := parseLost(bad); ok {
			t.Errorf("%v: %+v", bad, l)
		}
	}
}

func TestSwitchover(t *testing.T) {
	stopped := reported("stopped", "checkpoint", "0/88D818")
	promoted := reported("primary", "positions", "0/88D890|0/88D890|")
	tests := []struct {
		name    string
		answers map[string][]command.Result
		outcome failover.Outcome
		says    string
		asked   string
	}{
		{
			name:    "moves, and does not wait for the new standby",
			answers: map[string][]command.Result{"hadr-demote": {stopped}, "hadr-promote": {promoted}},
			outcome: failover.OK, says: "no acknowledged commit is lost", asked: "demote i-a, promote i-b, rejoin i-a",
		},
		{
			name:    "the old primary refuses",
			answers: map[string][]command.Result{"hadr-demote": {reported("refused", "reason", "epoch 8 is over")}},
			outcome: failover.Failed, says: "epoch 8", asked: "demote i-a",
		},
		{
			name:    "the old primary can't be asked",
			answers: map[string][]command.Result{"hadr-demote": {unsent}},
			outcome: failover.Failed, says: "access denied", asked: "demote i-a",
		},
		{
			name:    "the stop does not end: its role is read",
			answers: map[string][]command.Result{"hadr-demote": {reported("failed", "reason", "started again")}},
			outcome: failover.Unknown, says: "did not stop in order: started again", asked: "demote i-a",
		},
		{
			name:    "R23: nobody knows whether it stopped",
			outcome: failover.Unknown, says: "gave up", asked: "demote i-a",
		},
		{
			name:    "the standby lacks the end of the log: the old primary goes on",
			answers: map[string][]command.Result{"hadr-demote": {stopped}, "hadr-promote": {reported("standby", "reason", "has not replayed")}, "hadr-start": {reported("started")}},
			outcome: failover.Failed, says: "node a is primary again", asked: "demote i-a, promote i-b, start i-a",
		},
		{
			name:    "and can't be started",
			answers: map[string][]command.Result{"hadr-demote": {stopped}, "hadr-promote": {reported("standby", "reason", "has not replayed")}},
			outcome: failover.Failed, says: "could not be started again", asked: "demote i-a, promote i-b, start i-a",
		},
		{
			name:    "R23: the promotion may still happen: nothing is undone",
			answers: map[string][]command.Result{"hadr-demote": {stopped}},
			outcome: failover.Unknown, says: "gave up", asked: "demote i-a, promote i-b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{answers: tt.answers}
			p := ordered(nodeB, nil)
			p.InOrder, p.Other, p.CommandID = true, nodeA, "cmd-promote"
			var started []string
			got := New(r, clock.System()).Promote(t.Context(), p, func(id string) { started = append(started, id) })
			if got.Outcome != tt.outcome || !strings.Contains(got.Detail, tt.says) {
				t.Errorf("result %+v, want %s, %q", got, tt.outcome, tt.says)
			}
			if asked := strings.Join(r.documents(), ", "); asked != tt.asked {
				t.Errorf("asked %s, want %s", asked, tt.asked)
			}
			for _, q := range r.asked {
				checkSwitchoverRequest(t, q)
			}
			if promotes := strings.Contains(tt.asked, "promote"); promotes != (len(started) == 1) {
				t.Errorf("started %q: only the promotion is recorded", started)
			}
		})
	}
}

// checkSwitchoverRequest: each step is a command of its own, and only the
// promotion may be taken up by its id.
func checkSwitchoverRequest(t *testing.T, q command.Request) {
	t.Helper()
	want := map[string]string{"hadr-demote": "01JABC/demote/2", "hadr-promote": "01JABC/promote/2", "hadr-start": "01JABC/undo/2", "hadr-rejoin": "01JABC/follow/2"}[q.Document]
	if q.Comment != want || !q.Resume || (q.CommandID != "") != (q.Document == "hadr-promote") {
		t.Errorf("asked %+v, want comment %s", q, want)
	}
	p := q.Parameters
	switch q.Document {
	case "hadr-promote":
		if p["at_least"] != "0/88D818" {
			t.Errorf("promotes without waiting for the end of the log: %v", p)
		}
	case "hadr-demote":
		if p["node"] != "a" || p["peer"] != "b" || p["peer_host"] != "10.0.2.10" {
			t.Errorf("demote: %v", p)
		}
	case "hadr-start":
		if p["as"] != "primary" || p["deadline"] == "1772445660" {
			t.Errorf("undo must not be too late: %v", p)
		}
	}
}

func TestSwitchoverOfAnUnknownPrimary(t *testing.T) {
	p := ordered(nodeB, nil)
	p.InOrder = true
	r := &runner{}
	if got := New(r, clock.System()).Promote(t.Context(), p, nil); got.Outcome != failover.Failed || len(r.asked) > 0 {
		t.Errorf("result %+v, asked %+v", got, r.asked)
	}
}
