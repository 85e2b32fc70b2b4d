package db2

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func rejoining(change ...func(map[string]string)) map[string]string {
	return order(append([]func(map[string]string){with("step", "reintegrate")}, change...)...)
}

// TestRejoinScript: an old primary is killed and started as standby; nothing
// else is ever killed (R28).
func TestRejoinScript(t *testing.T) {
	busy := "Changing data structure forced command termination."
	tests := []struct {
		name   string
		host   func(*host)
		order  func(map[string]string)
		code   int
		says   string
		role   string // afterwards
		killed int
		bound  bool
	}{
		{name: "an old primary", host: func(h *host) { h.role = "PRIMARY" }, role: "STANDBY", killed: 1, says: "started"},
		{name: "nothing runs", host: func(h *host) { h.role = "" }, role: "STANDBY", killed: 1, says: "started"},
		{name: "a standby is not killed", role: "STANDBY", says: "started"},
		{name: "a standby that runs already", host: func(h *host) {
			h.started = func() (string, int) { return "SQL1777N  HADR is already started.", 4 }
		}, role: "STANDBY", says: "started"},
		{name: "Db2 refuses", host: func(h *host) {
			h.role, h.started = "PRIMARY", func() (string, int) { return `SQL1767N  Start HADR cannot complete. Reason code = "1".`, 4 }
		}, code: 1, killed: 1, says: "SQL1767N"},
		{name: "the address is taken away before", host: func(h *host) { h.role, h.addresses = "PRIMARY", append(h.addresses, vip+"/32") }, role: "STANDBY", killed: 1, says: "started"},

		{name: "a role that is just changing is not killed", host: func(h *host) { h.pd = func() string { return busy } }, code: 1, role: "STANDBY", says: "role"},
		{name: "the role is read once the structure stands", host: func(h *host) {
			n := 0
			h.pd = func() string {
				if n++; n == 1 {
					return busy
				}
				h.pd = nil
				return h.hadr()
			}
		}, role: "STANDBY", says: "started"},
		{name: "R21: a takeover of a later epoch made it primary meanwhile", host: func(h *host) {
			h.pd = func() string {
				h.role, h.pd = "PRIMARY", nil
				h.write("epoch", "9\n")
				return h.hadr()
			}
		}, code: 1, role: "PRIMARY", says: "epoch 9"},
		{name: "R21: a takeover is running", host: func(h *host) { h.role, h.locked = "PRIMARY", true }, code: 1, role: "PRIMARY", says: "another command"},
		{name: "R21: a later epoch", host: func(h *host) { h.role = "PRIMARY"; h.write("epoch", "9\n") }, code: 1, role: "PRIMARY", says: "epoch 9"},
		{name: "R21: too late", host: func(h *host) { h.role = "PRIMARY" }, order: with("deadline", "1772445600"), code: 1, role: "PRIMARY", says: "deadline"},
		{name: "R12: another table", host: func(h *host) { h.role = "PRIMARY"; h.write("table", "arn:other\n") }, code: 1, role: "PRIMARY", says: "arn:other"},
		{name: "R28: an instance that starts with its host", host: func(h *host) {
			h.role, h.registry = "PRIMARY", map[string]string{"DB2AUTOSTART": "YES"}
		}, code: 1, role: "PRIMARY", says: "db2iauto -off db2inst1"},
		{name: "R28: one that does not", host: func(h *host) {
			h.role, h.registry = "PRIMARY", map[string]string{"DB2AUTOSTART": "NO"}
		}, role: "STANDBY", killed: 1, says: "started"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			if tt.host != nil {
				tt.host(h)
			}
			p := rejoining()
			if tt.order != nil {
				tt.order(p)
			}
			out, code := h.run("rejoin", p)
			if code != tt.code || !strings.Contains(out, tt.says) || h.role != tt.role || h.killed != tt.killed || h.holds(vip) {
				t.Errorf("exit code %d, role %q, killed %d, VIP %v; want %d, %q, %d, says %q\n%s", code, h.role, h.killed, h.holds(vip), tt.code, tt.role, tt.killed, tt.says, out)
			}
		})
	}
}

func TestStartScript(t *testing.T) {
	start := func(change ...func(map[string]string)) map[string]string {
		p := order(with("step", "restart"))
		delete(p, "vip")
		p["alone"] = "no"
		for _, c := range change {
			c(p)
		}
		return p
	}
	h := newHost(t)
	if out, code := h.run("start", start()); code != 0 || !strings.Contains(out, "started") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if b, _ := os.ReadFile(h.file("epoch")); strings.TrimSpace(string(b)) != "8" {
		t.Errorf("epoch %q", b)
	}
	for name, p := range map[string]map[string]string{
		"epoch 8":  start(with("epoch", "7")),
		"deadline": start(with("deadline", "1772445600")),
	} {
		h.ran = nil
		if out, code := h.run("start", p); code == 0 || !strings.Contains(out, name) || strings.Contains(strings.Join(h.ran, " "), "db2") {
			t.Errorf("exit code %d, commands %q\n%s", code, h.ran, out)
		}
	}
}

// TestEpochThatCanNotBeKept: a node that would forget the epoch does nothing
// (R21).
func TestEpochThatCanNotBeKept(t *testing.T) {
	for kind, p := range map[string]map[string]string{"takeover": order(), "rejoin": rejoining()} {
		h := newHost(t)
		h.role = "PRIMARY"
		h.write("epoch.tmp/x", "a directory in the way")
		if out, code := h.run(kind, p); code == 0 || h.killed+h.forced > 0 {
			t.Errorf("%s: exit code %d, killed %d\n%s", kind, code, h.killed, out)
		}
	}
}

// TestStatusDuringATakeover: a role that is read while a takeover runs may
// change at any moment, so that nothing may be concluded from it (R23).
func TestStatusDuringATakeover(t *testing.T) {
	h := newHost(t)
	view := func() failover.Observation {
		out, _ := h.run("status", status())
		r, err := ParseReport(out)
		if err != nil {
			t.Fatal(err)
		}
		var o failover.Observation
		assess(&o, Settings{Database: "HADRDB"}, r)
		return o
	}
	during := failover.Observation{}
	h.takeover = func() (string, int) {
		h.now = h.now.Add(10 * time.Second)
		during = view()
		h.role = "PRIMARY"
		return "DB20000I  The TAKEOVER HADR ON DATABASE command completed successfully.", 0
	}
	h.run("takeover", order())
	if during.Answer != failover.Unreadable || !strings.Contains(during.AnswerError, "takeover") {
		t.Errorf("during the takeover: %s %q, role %s", during.Answer, during.AnswerError, during.Role)
	}
	if o := view(); o.Answer != failover.Answered || o.Role != failover.RolePrimary {
		t.Errorf("after it: %s %q, role %s", o.Answer, o.AnswerError, o.Role)
	}
	h.write("takeover", "1772445600\n") // left behind by a host that lost its power
	h.now = hostNow.Add(time.Hour)
	if o := view(); o.Answer != failover.Answered {
		t.Errorf("an hour later: %s %q", o.Answer, o.AnswerError)
	}
}

// TestRejoinAnswers: what the engine makes of the document's answer. One that
// asks a person for a change is told apart from what may be tried again.
func TestRejoinAnswers(t *testing.T) {
	tests := []struct {
		name    string
		host    func(*host)
		outcome failover.Outcome
		code    string
		next    string
	}{
		{name: "started", host: func(h *host) { h.role = "PRIMARY" }, outcome: failover.OK, code: "DB20000I"},
		{name: "R28: it starts with its host", host: func(h *host) {
			h.role, h.registry = "PRIMARY", map[string]string{"DB2AUTOSTART": "YES"}
		}, outcome: failover.Failed, code: failover.NotReady, next: "on node a: db2iauto -off db2inst1"},
		{name: "R12: another table", host: func(h *host) { h.write("table", "arn:other\n") }, outcome: failover.Failed, code: failover.NotReady, next: "rm "},
		{name: "another command works there", host: func(h *host) { h.role, h.locked = "PRIMARY", true }, outcome: failover.Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			tt.host(h)
			e := New(&runner{host: h}, clock.System())
			got := e.Rejoin(t.Context(), control.Promotion{
				Group: "orders", Node: failover.NodeConfig{ID: "a", Instance: "i-0a"}, Epoch: 8, OperationID: "01JNA4F3XAHXZ2Y0Q8GS5V6R7T", Attempt: 1,
				Deadline: h.now.Add(time.Minute), Settings: setting("rejoin_document", "hadr-rejoin"),
			})
			if got.Outcome != tt.outcome || got.Code != tt.code || !strings.Contains(got.Next, tt.next) {
				t.Errorf("Rejoin = %+v; want %s, code %q, next %q", got, tt.outcome, tt.code, tt.next)
			}
		})
	}
}
