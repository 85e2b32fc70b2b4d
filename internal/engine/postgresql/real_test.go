package postgresql_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.CloseShared()
	os.Exit(code)
}

// group is a pair of real servers under the engine, which reaches them through
// documents as in production.
type group struct {
	*pgtest.Pair
	t        *testing.T
	settings map[string]string
	engine   *postgresql.Engine
	attempt  int
	before   func(command.Request) // called before each document runs
	commands context.Context       // of the commands, which outlive who asked for them
	running  sync.WaitGroup
}

const tableARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr"

const endpoint = "192.168.77.10"

var (
	nodeA = failover.NodeConfig{ID: "a", Instance: "i-a"}
	nodeB = failover.NodeConfig{ID: "b", Instance: "i-b"}
)

// newGroup starts a pair, or skips the test where there are no servers to run.
func newGroup(t *testing.T, mode postgresql.Mode, configure ...string) *group {
	t.Helper()
	if os.Getenv(pgtest.Variable) == "" {
		t.Skipf("%s is not set: make test-postgresql runs the tests with real servers", pgtest.Variable)
	}
	template, err := pgtest.Shared()
	if err != nil { // they were asked for
		t.Fatal(err)
	}
	t.Parallel()
	g := &group{Pair: template.Pair(t, mode == postgresql.Sync, configure...), t: t}
	g.settings = map[string]string{
		"replication_mode": string(mode), "max_rpo_seconds": "30", "table_arn": tableARN,
		"data_directory": pgtest.DataDirectory, "socket_directory": pgtest.SocketDirectory, "port": g.A.Port, "bin_directory": template.Bin(),
		"address_a": g.ToA.Addr(), "address_b": g.ToB.Addr(), "replication_user": pgtest.ReplicationUser, "sslmode": "disable",
	}
	for _, kind := range postgresql.Kinds() {
		g.settings[kind+"_document"] = kind
	}
	g.engine = postgresql.New(g, clock.System())
	var stop context.CancelFunc
	g.commands, stop = context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	t.Cleanup(func() {
		stop()
		g.running.Wait()
	})
	g.eventually(nodeB, "a fit standby", fit)
	return g
}

func (g *group) host(id string) *pgtest.Host {
	if id == "a" || id == "i-a" {
		return g.A
	}
	return g.B
}

// Run implements postgresql.Runner. As with Systems Manager, a command goes on
// when nobody waits for it any more.
func (g *group) Run(ctx context.Context, q command.Request) command.Result {
	if g.before != nil {
		g.before(q)
	}
	d, err := postgresql.DocumentOf(q.Document)
	if err != nil {
		g.t.Fatal(err)
	}
	script, err := d.Render(q.Parameters)
	if err != nil {
		g.t.Fatal(err)
	}
	ended := make(chan command.Result, 1)
	g.running.Go(func() {
		out, code, err := g.host(q.Instance).Run(g.commands, script)
		res := command.Result{CommandID: "c", Outcome: command.OK, Code: code, Stdout: out}
		switch {
		case err != nil:
			res.Outcome, res.Detail = command.Unknown, err.Error()
		case code != 0:
			res.Outcome = command.Failed
		}
		ended <- res
	})
	select {
	case res := <-ended:
		return res
	case <-ctx.Done():
		return command.Result{CommandID: "c", Outcome: command.Unknown, Detail: "gave up"}
	}
}

// patience is how long a test waits for what must happen: on a busy machine
// everything takes long, and no test fails for that.
const patience = time.Minute

func (g *group) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(g.t.Context(), d)
	g.t.Cleanup(cancel)
	return ctx
}

func (g *group) observe(n failover.NodeConfig) failover.Observation {
	g.t.Helper()
	return g.engine.Observe(g.within(patience), "orders", n, g.settings)
}

// order is what the engine is asked to do on a node in an epoch.
func (g *group) order(n failover.NodeConfig, epoch uint64) control.Promotion {
	g.attempt++
	return control.Promotion{
		Group: "orders", Node: n, Epoch: epoch, OperationID: fmt.Sprintf("op%d", epoch), Attempt: g.attempt, VIP: endpoint,
		Deadline: time.Now().Add(2 * time.Minute), Settings: g.settings,
	}
}

// local is the engine of the agent on a node.
func (g *group) local(n failover.NodeConfig) postgresql.Local {
	return postgresql.Local{Group: "orders", Node: n.ID, Root: g.host(n.ID).Root, Shell: g.host(n.ID), Clock: clock.System()}
}

// rejoin brings a node back.
func (g *group) rejoin(n failover.NodeConfig, epoch uint64) control.PromotionResult {
	g.t.Helper()
	return g.engine.Rejoin(g.within(2*patience), g.order(n, epoch))
}

// promote takes over, and moves the endpoint to the new primary as redirect does.
func (g *group) promote(n failover.NodeConfig, epoch uint64) control.PromotionResult {
	g.t.Helper()
	r := g.engine.Promote(g.within(2*patience), g.order(n, epoch), nil)
	if r.Outcome != failover.OK {
		g.t.Fatalf("promoting node %s: %+v", n.ID, r)
	}
	g.Endpoint.Point(g.host(n.ID).Address())
	return r
}

// eventually waits until the control plane reads a node as wanted.
func (g *group) eventually(n failover.NodeConfig, what string, holds func(failover.Observation) bool) failover.Observation {
	g.t.Helper()
	return g.until(n, what, g.observe, holds)
}

// view waits until the agent of a node reads it as wanted.
func (g *group) view(n failover.NodeConfig, what string, holds func(failover.Observation) bool) failover.Observation {
	g.t.Helper()
	return g.until(n, what, func(n failover.NodeConfig) failover.Observation {
		return g.local(n).View(g.within(patience), g.settings)
	}, holds)
}

func (g *group) until(n failover.NodeConfig, what string, read func(failover.NodeConfig) failover.Observation, holds func(failover.Observation) bool) (last failover.Observation) {
	g.t.Helper()
	defer func() {
		if g.t.Failed() {
			g.t.Logf("node %s at last: %+v", n.ID, last)
		}
	}()
	pgtest.Eventually(g.t, patience, "node "+n.ID+" reads as "+what, func() bool {
		last = read(n)
		return holds(last)
	})
	return last
}

func fit(o failover.Observation) bool {
	return o.Role == failover.RoleStandby && o.Fitness == failover.Fit && !o.PartnerLost
}

// client writes through the endpoint.
func (g *group) client() *pgtest.Client {
	g.t.Helper()
	return pgtest.NewClient(g.t, g.Endpoint.Addr())
}
