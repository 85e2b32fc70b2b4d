package db2

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const (
	tableARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"
	vip      = "192.168.10.5"
)

// order is a takeover in epoch 8 that may start within a minute.
func order(change ...func(map[string]string)) map[string]string {
	p := map[string]string{
		"group": "orders", "table_arn": tableARN, "epoch": "8", "operation": "01JABC", "step": "promote", "attempt": "1",
		"deadline": "1772445660", "database": "HADRDB", "owner": "db2inst1", "vip": vip,
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func with(name, value string) func(map[string]string) {
	return func(m map[string]string) { m[name] = value }
}

func TestTakeoverScript(t *testing.T) {
	refusedByDB2 := func() (string, int) { return `SQL1770N  Takeover HADR cannot complete. Reason code = "9".`, 4 }
	tests := []struct {
		name    string
		host    func(*host)
		order   func(map[string]string)
		outcome failover.Outcome
		code    string
		says    string
		forced  int
		bound   bool // the VIP, afterwards
	}{
		{name: "takes over", outcome: failover.OK, code: "DB20000I", forced: 1, bound: true},
		{name: "VIP was bound before", host: func(h *host) { h.addresses = append(h.addresses, vip+"/32") }, outcome: failover.OK, code: "DB20000I", forced: 1, bound: true},
		{name: "no VIP", order: with("vip", "none"), outcome: failover.OK, code: "DB20000I", forced: 1},
		{name: "primary already: no second takeover", host: func(h *host) { h.role = "PRIMARY" }, outcome: failover.OK, says: "already", bound: true},
		{name: "the role is read once the structure stands", host: func(h *host) {
			n := 0
			h.pd = func() string {
				if n++; n == 1 {
					return "Changing data structure forced command termination."
				}
				h.pd = nil
				return h.hadr()
			}
		}, outcome: failover.OK, code: "DB20000I", forced: 1, bound: true},

		{name: "R19: Db2 refuses outside the window", host: func(h *host) { h.takeover = refusedByDB2 }, outcome: failover.Failed, code: "SQL1770N/9", says: "Db2 refused", forced: 1},
		{name: "a refusal leaves a VIP that was bound before", host: func(h *host) {
			h.takeover, h.addresses = refusedByDB2, append(h.addresses, vip+"/32")
		}, outcome: failover.Failed, code: "SQL1770N/9", forced: 1, bound: true},
		{name: "R23: refused, but primary all the same", host: func(h *host) {
			h.takeover = func() (string, int) { h.role = "PRIMARY"; return refusedByDB2() }
		}, outcome: failover.OK, code: "SQL1770N/9", forced: 1, bound: true},
		{name: "R23: killed at its limit", host: func(h *host) { h.takeover = func() (string, int) { return "", 124 } }, outcome: failover.Unknown, says: "not certain", forced: 1, bound: true},
		{name: "R23: role not readable afterwards", host: func(h *host) {
			h.takeover = func() (string, int) { h.role = ""; return refusedByDB2() }
		}, outcome: failover.Unknown, code: "SQL1770N/9", says: "not certain", forced: 1, bound: true},
		{name: "success without a new role", host: func(h *host) {
			h.takeover = func() (string, int) {
				return "DB20000I  The TAKEOVER HADR ON DATABASE command completed successfully.", 0
			}
		}, outcome: failover.Unknown, code: "DB20000I", forced: 1, bound: true},
		{name: "R21: another takeover holds the lock", host: func(h *host) { h.locked = true }, outcome: failover.Unknown, says: "another takeover", bound: true},

		{name: "R12: the node belongs to another table", host: func(h *host) { h.write("table", "arn:other\n") }, outcome: failover.Failed, code: "refused", says: "arn:other"},
		{name: "R12: the node belongs to this table", host: func(h *host) { h.write("table", tableARN+"\n") }, outcome: failover.OK, code: "DB20000I", forced: 1, bound: true},
		{name: "R21: the node has seen a higher epoch", host: func(h *host) { h.write("epoch", "9\n") }, outcome: failover.Failed, code: "refused", says: "epoch 9"},
		{name: "the node has seen this epoch", host: func(h *host) { h.write("epoch", "8\n") }, outcome: failover.OK, code: "DB20000I", forced: 1, bound: true},
		{name: "the highest epoch is damaged", host: func(h *host) { h.write("epoch", "eight") }, outcome: failover.Failed, code: "refused", says: "damaged"},
		{name: "R21: the deadline has passed", order: with("deadline", "1772445600"), outcome: failover.Failed, code: "refused", says: "deadline"},
		{name: "R21: the deadline passes while the role is read", host: func(h *host) {
			h.pd = func() string { h.now = h.now.Add(time.Minute); h.pd = nil; return h.hadr() }
		}, outcome: failover.Failed, code: "refused", says: "deadline"},
		{name: "R25: the VIP can't be bound", host: func(h *host) { h.bindErr = true }, outcome: failover.Failed, code: "refused", says: vip},
		{name: "role not readable before", host: func(h *host) { h.role = "" }, outcome: failover.Failed, code: "refused", says: "role"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			if tt.host != nil {
				tt.host(h)
			}
			p := order()
			if tt.order != nil {
				tt.order(p)
			}
			out, code := h.run("takeover", p)
			if (code == 0) != (tt.outcome == failover.OK) {
				t.Errorf("exit code %d", code)
			}
			got := result(out, code)
			if got.Outcome != tt.outcome || got.Code != tt.code || !strings.Contains(got.Detail, tt.says) {
				t.Errorf("result %+v; want %s, %q, %q\n%s", got, tt.outcome, tt.code, tt.says, out)
			}
			if h.forced != tt.forced || h.holds(vip) != tt.bound {
				t.Errorf("%d takeovers, VIP bound %v (%v); want %d, %v", h.forced, h.holds(vip), h.bindings, tt.forced, tt.bound)
			}
			if got.Outcome == failover.Failed && got.Next == "" {
				t.Error("no next command")
			}
		})
	}
}

// result is what the engine makes of a run.
func result(stdout string, code int) (r struct {
	Outcome            failover.Outcome
	Code, Detail, Next string
}) {
	res := command.Result{CommandID: "cmd", Outcome: command.OK, Code: code, Stdout: stdout}
	if code != 0 {
		res.Outcome = command.Failed
	}
	p := promotion(res, "HADRDB")
	r.Outcome, r.Code, r.Detail, r.Next = p.Outcome, p.Code, p.Detail, p.Next
	return r
}

// R25: the address is there before Db2 is asked.
func TestTakeoverBindsTheAddressFirst(t *testing.T) {
	h := newHost(t)
	h.run("takeover", order())
	bind := slices.Index(h.ran, "ip addr add "+vip+"/32 dev lo")
	force := slices.IndexFunc(h.ran, func(c string) bool { return strings.HasPrefix(c, "db2 takeover") })
	if bind < 0 || force < bind {
		t.Errorf("commands: %q", h.ran)
	}
}

// R21: a duplicate gets the first answer, whatever has changed since, and Db2
// is asked once. The next attempt is another order.
func TestTakeoverTwice(t *testing.T) {
	h := newHost(t)
	h.takeover = func() (string, int) { return `SQL1770N  Takeover HADR cannot complete. Reason code = "9".`, 4 }
	first, _ := h.run("takeover", order())
	h.now = h.now.Add(time.Hour)
	again, _ := h.run("takeover", order())
	if again != first || h.forced != 1 {
		t.Errorf("the second answer after %d takeovers:\n%s\nfirst:\n%s", h.forced, again, first)
	}
	h.now = hostNow
	h.run("takeover", order(with("attempt", "2")))
	if h.forced != 2 {
		t.Errorf("attempt 2 did not ask Db2: %d", h.forced)
	}
}

// R21: who was killed left an intent and no result. The duplicate waits for it
// until the deadline and then knows nothing - but never takes over.
func TestTakeoverAfterAKilledRun(t *testing.T) {
	h := newHost(t)
	h.write("commands/01JABC.promote.1/intent", "epoch 8")
	out, code := h.run("takeover", order())
	got := result(out, code)
	if got.Outcome != failover.Unknown || h.forced != 0 || !strings.Contains(got.Detail, "no result") {
		t.Errorf("result %+v after %d takeovers", got, h.forced)
	}
	if h.now.Before(hostNow.Add(time.Minute)) {
		t.Errorf("did not wait for the first run: %s", h.now)
	}
}

func TestTakeoverMarksTheNode(t *testing.T) {
	h := newHost(t)
	h.run("takeover", order())
	for name, want := range map[string]string{"table": tableARN, "epoch": "8", "commands/01JABC.promote.1/intent": "epoch 8 deadline 1772445660"} {
		b, err := os.ReadFile(h.file(name))
		if err != nil || strings.TrimSpace(string(b)) != want {
			t.Errorf("file %s: %q, %v; want %q", name, b, err, want)
		}
	}
	out, _ := h.run("status", status())
	r, err := ParseReport(out)
	if err != nil || r.Table != tableARN || r.Epoch != 8 || !r.Holds(vip) || r.Holds("10.0.2.1") {
		t.Errorf("report %+v, %v", r, err)
	}
}

func status() map[string]string {
	return map[string]string{"group": "orders", "database": "HADRDB", "owner": "db2inst1"}
}

func TestStatusScript(t *testing.T) {
	t.Run("a standby", func(t *testing.T) {
		h := newHost(t)
		h.now = hostNow.Add(123456789)
		out, code := h.run("status", status())
		r, err := ParseReport(out)
		if err != nil || code != 0 {
			t.Fatalf("%v, exit code %d", err, code)
		}
		if !r.HostTime.Equal(h.now) || r.Hostname != "hadr-b" || r.Table != "" || r.Epoch != 0 || !r.Holds("10.0.2.10") || r.Config != "" {
			t.Errorf("report %+v", r)
		}
		if _, err := ParseHADR(r.DB2PD); err != nil {
			t.Errorf("db2pd: %v", err)
		}
	})
	t.Run("an inactive database: its role is in the configuration", func(t *testing.T) {
		h := newHost(t)
		h.pd = func() string { return "Database HADRDB not activated on database member 0 or this ..." }
		out, _ := h.run("status", status())
		r, err := ParseReport(out)
		if c, ok := ParseDatabaseConfig(r.Config); err != nil || !ok || c.Role != "STANDBY" {
			t.Errorf("report %+v, %v", r, err)
		}
	})
	t.Run("a db2pd that its limit ends", func(t *testing.T) {
		for code, hung := range map[int]bool{0: false, 1: false, 124: true, 137: true} {
			h := newHost(t)
			h.pd, h.pdCode = func() string { return "Authorized use only" }, code
			out, _ := h.run("status", status())
			if r, err := ParseReport(out); err != nil || r.Hung != hung || !strings.Contains(r.DB2PD, "Authorized") {
				t.Errorf("code %d: report %+v, %v; want hung %v", code, r, err, hung)
			}
		}
	})
	t.Run("a structure that changes for ever", func(t *testing.T) {
		h := newHost(t)
		asked := 0
		h.pd = func() string { asked++; return "Changing data structure forced command termination." }
		out, _ := h.run("status", status())
		if _, err := ParseReport(out); err != nil || asked != 3 {
			t.Errorf("asked %d times, %v", asked, err)
		}
	})
}

func TestPathCheckScript(t *testing.T) {
	h := newHost(t)
	h.listening = []string{vip + ":50000"}
	for port, want := range map[string]int{"50000": 0, "50001": 1} {
		if _, code := h.run("path_check", map[string]string{"vip": vip, "port": port}); code != want {
			t.Errorf("port %s: exit code %d, want %d", port, code, want)
		}
	}
}

// R21: an order that comes too late touches nothing on the node.
func TestTakeoverTooLateTouchesNothing(t *testing.T) {
	h := newHost(t)
	h.run("takeover", order(with("deadline", "1772445600")))
	asked := slices.ContainsFunc(h.ran, func(c string) bool { return strings.HasPrefix(c, "db2") })
	if len(h.bindings) > 0 || asked {
		t.Errorf("bindings %v, commands %q", h.bindings, h.ran)
	}
}
