package db2_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	simulator "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// pair is two simulated hosts whose Db2 knows nothing of this package. It runs
// documents as Systems Manager would.
type pair struct {
	t     *testing.T
	hosts *hosts.Hosts
	a, b  world.Machine
}

const endpoint = "192.168.77.10"

type network struct{}

func (network) Owner(ip string) (string, bool) {
	id, ok := map[string]string{"10.0.1.10": "i-a", "10.0.2.10": "i-b"}[ip]
	return id, ok
}

func (network) Route(string, string) (string, bool) { return "i-a", true }

type metrics struct{}

func (metrics) PutMetric(string, string, ...world.Datum) {}

func (p *pair) Run(ctx context.Context, q command.Request) command.Result {
	d, err := db2.DocumentOf(q.Document)
	if err != nil {
		p.t.Fatal(err)
	}
	script := d.Script()
	for name, value := range q.Parameters {
		script = strings.ReplaceAll(script, "{{ "+name+" }}", value)
	}
	r, err := p.hosts.Run(ctx, world.Command{ID: "c", InstanceID: q.Instance, Script: script, Timeout: time.Minute})
	res := command.Result{CommandID: "c", Outcome: command.OK, Code: r.Code, Stdout: r.Stdout, Stderr: r.Stderr}
	switch {
	case err != nil || r.TimedOut:
		res.Outcome = command.Unknown
	case r.Code != 0:
		res.Outcome = command.Failed
	}
	return res
}

var settings = map[string]string{
	"database": "SAMPLE", "instance_owner": "db2inst1", "syncmode": "NEARSYNC", "peer_window_seconds": "120", "hadr_timeout_seconds": "60",
	"status_document": "status", "takeover_document": "takeover", "start_document": "start", "rejoin_document": "rejoin", "table_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr",
}

// observe reads a node within a minute.
func (p *pair) observe(instance string) failover.Observation {
	ctx, stop := context.WithTimeout(p.t.Context(), time.Minute)
	defer stop()
	return db2.New(p, clock.System()).Observe(ctx, "orders", failover.NodeConfig{ID: instance, Instance: instance}, settings)
}

func (p *pair) promote(attempt int) control.PromotionResult {
	ctx, stop := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer stop()
	return db2.New(p, clock.System()).Promote(ctx, control.Promotion{
		Group: "orders", Node: failover.NodeConfig{ID: "b", Instance: "i-b"}, Epoch: 2, OperationID: "op", Attempt: attempt,
		VIP: endpoint, Deadline: time.Now().Add(time.Minute), Settings: settings,
	}, func(string) {})
}

// inPeer runs a scenario with a pair in PEER, in virtual time.
func inPeer(t *testing.T, scenario func(*testing.T, *pair)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := world.New(clock.System())
		w.Network, w.Metrics = network{}, metrics{}
		p := &pair{
			t: t, hosts: hosts.New(hosts.Options{World: w, Dir: dir, ProcstatInterval: -1, RouteTable: func(string) string { return "rtb-1" }}),
			a: world.Machine{InstanceID: "i-a", Region: "eu-central-1", Account: world.DefaultAccount, PrivateIP: "10.0.1.10"},
			b: world.Machine{InstanceID: "i-b", Region: "eu-central-1", Account: world.DefaultAccount, PrivateIP: "10.0.2.10"},
		}
		defer func() {
			p.hosts.Close()
			time.Sleep(10 * time.Minute) // pending timers run out
		}()
		for _, m := range []world.Machine{p.a, p.b} {
			if err := p.hosts.Boot(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.hosts.SetupDb2(t.Context(), simulator.Pair{PeerWindow: 120 * time.Second, Timeout: 60 * time.Second}, p.a, p.b); err != nil {
			t.Fatal(err)
		}
		for try := 0; p.observe("i-b").State != "PEER"; try++ {
			if try == 60 {
				t.Fatalf("no PEER: %+v", p.observe("i-b"))
			}
			time.Sleep(time.Second)
		}
		scenario(t, p)
	})
}

func TestSimulatedPairInPeer(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		a, b := p.observe("i-a"), p.observe("i-b")
		if a.Role != failover.RolePrimary || a.Database != failover.DatabaseActive || a.WaitsForStandby || a.SettingsDiffer != "" {
			t.Errorf("primary: %+v", a)
		}
		if b.Role != failover.RoleStandby || b.Fitness != failover.Fit || b.PartnerLost || b.SettingsDiffer != "" || !b.HostTime.Equal(b.ReadAt) {
			t.Errorf("standby: %+v", b)
		}
	})
}

// The primary's host vanishes: its standby misses it, is promoted once, and
// reads PRIMARY with the address bound.
func TestSimulatedPairTakesOver(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		p.hosts.Off("i-a")
		time.Sleep(45 * time.Second)
		if a := p.observe("i-a"); a.Answer != failover.Silent {
			t.Errorf("a machine without power: %+v", a)
		}
		if b := p.observe("i-b"); !b.PartnerLost || b.Fitness != failover.Fit {
			t.Errorf("standby of a dead primary: %+v", b)
		}
		if first := p.promote(1); first.Outcome != failover.OK || first.Code != "DB20000I" {
			t.Fatalf("promotion: %+v", first)
		}
		if b := p.observe("i-b"); b.Role != failover.RolePrimary || b.Database != failover.DatabaseActive {
			t.Errorf("new primary: %+v", b)
		}
		if again := p.promote(1); again.Outcome != failover.OK {
			t.Errorf("R21: the order came twice: %+v", again)
		}
		if next := p.promote(2); next.Outcome != failover.OK || !strings.Contains(next.Detail, "already") {
			t.Errorf("the next attempt: %+v", next)
		}
	})
}

// R19: outside the window Db2 refuses, and the node stays a standby without
// the address.
func TestSimulatedPairOutsideItsWindow(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		p.hosts.Off("i-a")
		time.Sleep(5 * time.Minute)
		b := p.observe("i-b")
		if b.Role != failover.RoleStandby || b.Fitness != failover.Unfit || !strings.Contains(b.FitnessNext, "takeover-after-window") {
			t.Errorf("standby after its window: %+v", b)
		}
		if got := p.promote(1); got.Outcome != failover.Failed || !strings.HasPrefix(got.Code, "SQL1770N") {
			t.Errorf("promotion: %+v", got)
		}
		if b := p.observe("i-b"); b.Role != failover.RoleStandby {
			t.Errorf("after the refusal: %+v", b)
		}
	})
}

// The database server of the primary crashes: it is started in place, in its
// role, and neither below the node's highest epoch nor late (R31, R21).
func TestSimulatedPairStartsInPlace(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		start := func(epoch uint64, deadline time.Time) (failover.Outcome, error) {
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
			defer stop()
			return db2.New(p, clock.System()).StartDatabase(ctx, control.Promotion{
				Group: "orders", Node: failover.NodeConfig{ID: "a", Instance: "i-a"}, Epoch: epoch, OperationID: "op", Attempt: 1,
				Deadline: deadline, Settings: settings,
			})
		}
		if n := p.hosts.KillProcess("i-a", "db2sysc"); n == 0 {
			t.Fatal("db2sysc did not run")
		}
		if a := p.observe("i-a"); a.Database != failover.DatabaseDown {
			t.Fatalf("after the crash: %+v", a)
		}
		if outcome, err := start(7, time.Now().Add(-time.Second)); outcome != failover.Failed || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("late: %s, %v", outcome, err)
		}
		if outcome, err := start(7, time.Now().Add(time.Minute)); outcome != failover.OK {
			t.Errorf("start: %s, %v", outcome, err)
		}
		if a := p.observe("i-a"); a.Role != failover.RolePrimary || a.Database != failover.DatabaseActive {
			t.Errorf("after the start: %+v", a)
		}
		if outcome, err := start(6, time.Now().Add(time.Minute)); outcome != failover.Failed || !strings.Contains(err.Error(), "epoch 6 is over") {
			t.Errorf("below the highest epoch: %s, %v", outcome, err)
		}
		if outcome, err := start(8, time.Now().Add(time.Minute)); outcome != failover.OK {
			t.Errorf("an active database is no error: %s, %v", outcome, err)
		}
	})
}

// After a takeover the old primary is switched on again: it comes back as
// standby of the new one, in peer state, without the endpoint's address (R28).
func TestSimulatedPairRejoins(t *testing.T) {
	inPeer(t, func(t *testing.T, p *pair) {
		p.hosts.Off("i-a")
		time.Sleep(45 * time.Second)
		if r := p.promote(1); r.Outcome != failover.OK {
			t.Fatalf("takeover: %+v", r)
		}
		if err := p.hosts.Boot(p.a); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // its database comes up by itself, as PRIMARY on disk
		rejoin := func(epoch uint64) control.PromotionResult {
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
			defer stop()
			return db2.New(p, clock.System()).Rejoin(ctx, control.Promotion{
				Group: "orders", Node: failover.NodeConfig{ID: "a", Instance: "i-a"}, Epoch: epoch, OperationID: "op2", Attempt: 1,
				VIP: endpoint, Deadline: time.Now().Add(time.Minute), Settings: settings,
			})
		}
		for range 2 { // the second time changes nothing
			if r := rejoin(2); r.Outcome != failover.OK {
				t.Fatalf("rejoin: %+v", r)
			}
		}
		var a failover.Observation
		for range 120 {
			if a = p.observe("i-a"); a.Fitness == failover.Fit {
				break
			}
			time.Sleep(time.Second)
		}
		if a.Role != failover.RoleStandby || a.State != "PEER" || a.Fitness != failover.Fit {
			t.Errorf("after the rejoin: %+v", a)
		}
		if b := p.observe("i-b"); b.Role != failover.RolePrimary {
			t.Errorf("the new primary: %+v", b)
		}
		if r := rejoin(1); r.Outcome != failover.Failed || !strings.Contains(r.Detail, "epoch 1 is over") {
			t.Errorf("below the highest epoch: %+v", r)
		}
	})
}
