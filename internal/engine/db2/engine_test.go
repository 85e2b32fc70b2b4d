package db2

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

var settings = map[string]string{
	"database": "HADRDB", "instance_owner": "db2inst1", "syncmode": "NEARSYNC", "peer_window_seconds": "300", "hadr_timeout_seconds": "60",
	"status_document": "hadr-status", "takeover_document": "hadr-takeover", "forced_takeover_document": "hadr-forced_takeover", "path_check_document": "hadr-path", "table_arn": tableARN,
}

var node = failover.NodeConfig{ID: "b", Instance: "i-0b"}

// runner runs documents on a host, or answers as told.
type runner struct {
	host   *host
	answer *command.Result
	asked  []command.Request
}

func (r *runner) Run(_ context.Context, q command.Request) command.Result {
	r.asked = append(r.asked, q)
	if q.Started != nil {
		q.Started("cmd-1")
	}
	if r.answer != nil {
		return *r.answer
	}
	kind := strings.TrimPrefix(q.Document, "hadr-")
	out, code := r.host.run(kind, q.Parameters)
	res := command.Result{CommandID: "cmd-1", Outcome: command.OK, Code: code, Stdout: out}
	if code != 0 {
		res.Outcome, res.Detail = command.Failed, "exit code"
	}
	return res
}

func setting(name, value string) map[string]string {
	m := maps.Clone(settings)
	m[name] = value
	return m
}

func TestObserve(t *testing.T) {
	tests := []struct {
		name     string
		answer   *command.Result
		settings map[string]string
		want     failover.Answer
		fitness  failover.Fitness
		says     string
	}{
		{name: "a fit standby", want: failover.Answered, fitness: failover.Fit},
		{name: "no answer in time", answer: &command.Result{Outcome: command.Unknown, Detail: "gave up"}, want: failover.Silent, says: "gave up"},
		{name: "agent offline", answer: &command.Result{Outcome: command.Undeliverable, Detail: "offline"}, want: failover.Undeliverable, says: "offline"},
		{name: "document fails", answer: &command.Result{Outcome: command.Failed, Detail: "exit code 127", Stderr: "runuser: not found"}, want: failover.Unreadable, says: "runuser"},
		{name: "output cut off", answer: &command.Result{Outcome: command.OK, Stdout: "=== hadr host_time\n1\n"}, want: failover.Unreadable, says: "not complete"},
		{name: "owner that could leave its quotes", settings: setting("instance_owner", "x; reboot"), want: failover.Unreadable, says: "owner"},
		{name: "no document declared", settings: setting("status_document", ""), want: failover.Unreadable, says: "status_document"},
		{name: "settings that make no sense", settings: setting("peer_window_seconds", "long"), want: failover.Unreadable, says: "peer_window_seconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.settings
			if m == nil {
				m = settings
			}
			r := &runner{host: newHost(t), answer: tt.answer}
			o := New(r, clock.System()).Observe(t.Context(), "orders", node, m)
			if o.Answer != tt.want || o.Fitness != tt.fitness || !strings.Contains(o.AnswerError, tt.says) {
				t.Errorf("observation %+v, want %s, %q, %q", o, tt.want, tt.fitness, tt.says)
			}
			if o.Node != "b" || o.Source != "command" || o.ReadAt.IsZero() {
				t.Errorf("observation without node, source or time: %+v", o)
			}
			if len(r.asked) == 1 && (r.asked[0].Instance != "i-0b" || !r.asked[0].Cancel) {
				t.Errorf("asked %+v: a status that nobody waits for is withdrawn", r.asked[0])
			}
		})
	}
}

func promote(t *testing.T, r *runner, change func(*control.Promotion)) (control.PromotionResult, string) {
	t.Helper()
	p := control.Promotion{
		Group: "orders", Node: node, Epoch: 8, OperationID: "01JABC", Attempt: 1, VIP: vip,
		Deadline: hostNow.Add(time.Minute), Settings: settings,
	}
	if change != nil {
		change(&p)
	}
	var told string
	return New(r, clock.System()).Promote(t.Context(), p, func(id string) { told = id }), told
}

func TestPromote(t *testing.T) {
	t.Run("takes over", func(t *testing.T) {
		r := &runner{host: newHost(t)}
		got, told := promote(t, r, nil)
		if got.Outcome != failover.OK || got.CommandID != "cmd-1" || told != "cmd-1" {
			t.Errorf("result %+v, told %q", got, told)
		}
		q := r.asked[0]
		if q.Comment != "01JABC/promote/1" || !q.Resume || q.Cancel || q.Document != "hadr-takeover" {
			t.Errorf("R21: asked %+v", q)
		}
	})
	t.Run("goes on with a command that was sent before", func(t *testing.T) {
		r := &runner{host: newHost(t)}
		promote(t, r, func(p *control.Promotion) { p.CommandID = "cmd-0" })
		if r.asked[0].CommandID != "cmd-0" {
			t.Errorf("asked %+v", r.asked[0])
		}
	})
	t.Run("Db2 says outside the window: a person decides", func(t *testing.T) {
		r := &runner{host: newHost(t)}
		r.host.takeover = func() (string, int) { return `SQL1770N  Takeover HADR cannot complete. Reason code = "9".`, 4 }
		got, _ := promote(t, r, nil)
		if got.Outcome != failover.Failed || got.Code != "SQL1770N/9" || !strings.Contains(got.Next, "takeover-after-window") {
			t.Errorf("result %+v", got)
		}
	})
	t.Run("no VIP", func(t *testing.T) {
		r := &runner{host: newHost(t)}
		if got, _ := promote(t, r, func(p *control.Promotion) { p.VIP = "" }); got.Outcome != failover.OK || len(r.host.bindings) > 0 {
			t.Errorf("result %+v, bindings %v", got, r.host.bindings)
		}
	})
	for name, tt := range map[string]struct {
		answer command.Result
		want   failover.Outcome
	}{
		"never sent":                       {command.Result{Outcome: command.Failed, Detail: "denied"}, failover.Failed},
		"not registered":                   {command.Result{Outcome: command.Undeliverable}, failover.Failed},
		"R23: sent, then nothing heard":    {command.Result{CommandID: "c", Outcome: command.Unknown}, failover.Unknown},
		"R23: perhaps sent":                {command.Result{Outcome: command.Unknown}, failover.Unknown},
		"R23: given up by Systems Manager": {command.Result{CommandID: "c", Outcome: command.Undeliverable}, failover.Unknown},
		"R23: ended without a report":      {command.Result{CommandID: "c", Outcome: command.Failed, Code: 127}, failover.Unknown},
		"R23: report cut off":              {command.Result{CommandID: "c", Outcome: command.OK, Stdout: "=== hadr outcome\nprimary\n"}, failover.Unknown},
		"R23: report with an unknown word": {command.Result{CommandID: "c", Outcome: command.OK, Stdout: "=== hadr outcome\nmaybe\n=== hadr end\n"}, failover.Unknown},
		"refused by Db2 without a message": {command.Result{CommandID: "c", Outcome: command.Failed, Stdout: "=== hadr outcome\nstandby\n=== hadr end\n"}, failover.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := promote(t, &runner{answer: &tt.answer}, nil); got.Outcome != tt.want {
				t.Errorf("result %+v, want %s", got, tt.want)
			}
		})
	}
	for name, change := range map[string]func(*control.Promotion){
		"database that could leave its quotes": func(p *control.Promotion) { p.Settings = setting("database", "X; db2stop") },
		"no document":                          func(p *control.Promotion) { p.Settings = setting("takeover_document", "") },
		"no table":                             func(p *control.Promotion) { p.Settings = setting("table_arn", "") },
		"epoch 0":                              func(p *control.Promotion) { p.Epoch = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := &runner{host: newHost(t)}
			if got, _ := promote(t, r, change); got.Outcome != failover.Failed || got.Detail == "" || len(r.asked) > 0 {
				t.Errorf("result %+v, sent %d", got, len(r.asked))
			}
		})
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add("=== hadr host_time\n1772445600.5\n=== hadr epoch\n8\n=== hadr db2pd\nx\n=== hadr end\n")
	f.Fuzz(func(t *testing.T, output string) {
		r, err := ParseReport(output)
		if err != nil {
			return
		}
		o := failover.Observation{}
		assess(&o, declared, r)
		if o.Fitness == failover.Fit && (o.Role != failover.RoleStandby || o.PromoteUntil.IsZero() || o.HostTime.IsZero()) {
			t.Fatalf("fit without role, window or clock: %+v", o)
		}
		if o.Answer == "" {
			t.Fatal("no verdict about the answer")
		}
	})
}

func TestHostTime(t *testing.T) {
	for in, want := range map[string]time.Time{
		"1772445600.123456789": hostNow.Add(123456789), "1772445600": hostNow, "1772445600.N": hostNow, "1772445600.%N": hostNow,
		"": {}, "x": {}, "-5": {}, "99999999999999999999": {},
	} {
		if got := hostTime(in); !got.Equal(want) {
			t.Errorf("hostTime(%q) = %s, want %s", in, got, want)
		}
	}
}
