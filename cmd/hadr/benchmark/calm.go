package benchmark

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
	"github.com/hadr-dev/terraform-provider-hadr/internal/agent"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/takeover"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/watch"
)

// Calm is a day on which nothing failed, and what the product made of it.
type Calm struct {
	Seed      uint64 `json:"seed"`
	Renewals  uint64 `json:"renewals"`  // of the lease
	Reports   int    `json:"reports"`   // of the standby's agent, that it suspects the primary
	Alarms    int    `json:"alarms"`    // that went red
	Takeovers int    `json:"takeovers"` // that were decided; must be 0
	// Story tells of each suspicion in a line.
	Story []string `json:"story,omitempty"`
}

// calm is one day: agents, functions and core are real, the rest is a model.
type calm struct {
	Case
	dice    *dice
	weather Weather
	spells  []spell
	clock   clock.Clock
	began   time.Time
	record  *ledger
	alarms  *alarms
	nodes   map[string]*database

	mu        sync.Mutex
	out       Calm
	failed    failed
	functions sync.WaitGroup
	handler   *takeover.Handler
	ids       int
}

// Quiet plays a day of that length, a few minutes of peace first. It must be
// called in a bubble of testing/synctest.
//
// Real are both agents with their loops for probe, view, lease, watcher and
// dead-man; the handlers of both functions with their runner and the decision
// core; the evidence; and the evaluation of the alarms of modules/db2-hadr.
//
// Modelled are what they stand on: the record as a map with the conditions of
// DynamoDB's writes, metrics that become visible late, commands that answer late
// or not, and a pair of databases in peer state. Calls that meet no trouble take
// no time. A takeover that the core claims is counted and refused, so that the
// day goes on.
func Quiet(ctx context.Context, c Case, w Weather, length time.Duration, seed uint64, p Profile) (Calm, error) {
	q, err := newCalm(c, w, length, newDice(seed, p))
	if err != nil {
		return Calm{}, err
	}
	err = q.play(ctx, func(ctx context.Context) error { return q.clock.Sleep(ctx, length) })
	q.out.Seed = seed
	return q.out, err
}

func newCalm(c Case, w Weather, length time.Duration, d *dice) (*calm, error) {
	q := &calm{Case: c, dice: d, weather: w, spells: w.draw(d, length), clock: clock.System(), began: time.Now()}
	q.record = newLedger(q)
	q.nodes = map[string]*database{"a": {calm: q, id: "a"}, "b": {calm: q, id: "b"}}
	q.handler = &takeover.Handler{Store: q.record, Runner: q.runner, Clock: q.clock, Log: slog.New(slog.DiscardHandler), NewID: q.id}
	var err error
	q.alarms, err = newAlarms(q)
	return q, err
}

// play lets everything run while story is told.
func (q *calm) play(ctx context.Context, story func(context.Context) error) error {
	log := slog.New(slog.DiscardHandler)
	look := &watch.Handler{Groups: []string{q.record.state.Group}, Sweeper: q.record, Runner: q.runner, Clock: q.clock, Log: log, NewID: q.id}
	ctx, stop := context.WithCancel(ctx)
	hosts := map[string]context.Context{"b": ctx}
	hosts["a"], q.failed.vanish = context.WithCancel(ctx)
	var all sync.WaitGroup
	for id, host := range hosts {
		all.Go(func() { q.run(host, id, log) })
	}
	all.Go(func() { q.every(ctx, time.Minute, "watch", func() { _, _ = look.Handle(ctx) }) }) // the next one looks again
	all.Go(func() { q.alarms.evaluate(ctx) })
	err := story(ctx)
	q.failed.vanish()
	stop()
	all.Wait()
	q.functions.Wait()
	return err
}

// run runs the agent of a node, at a phase of its own.
func (q *calm) run(ctx context.Context, id string, log *slog.Logger) {
	a := &agent.Agent{
		Group: q.record.state.Group, Node: id, Record: seat{q.record, id}, Metrics: sender{q, id}, Database: q.nodes[id], Endpoint: noAddress{},
		Offset: steady{q.clock}, Takeover: caller{q, id}, Watchdog: 30 * time.Second, Clock: q.clock, Log: log,
	}
	if q.clock.Sleep(ctx, q.dice.between(0, time.Minute, "start of "+id)) == nil {
		_ = a.Run(ctx) // it ends with ctx
	}
}

// every does something at a phase of its own.
func (q *calm) every(ctx context.Context, period time.Duration, about string, do func()) {
	if q.clock.Sleep(ctx, q.dice.between(0, period, about)) != nil {
		return
	}
	ticker := q.clock.NewTicker(period)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

func (q *calm) runner(context.Context, string) (*control.Runner, error) {
	return &control.Runner{
		Store: q.record, Instances: machines{q}, Engine: commands{q}, Routes: routes{}, Alarms: q.alarms, Leases: q.record,
		Clock: q.clock, Log: slog.New(slog.DiscardHandler),
	}, nil
}

func (q *calm) id(time.Time) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ids++
	return fmt.Sprintf("op%d", q.ids)
}

// invoke runs the takeover function as an event of its own.
func (q *calm) invoke(ctx context.Context, after time.Duration, what string, payload []byte) {
	q.functions.Go(func() {
		if q.clock.Sleep(ctx, after+q.dice.draw(ColdStart, 0)) != nil {
			return
		}
		answer, err := q.handler.Handle(ctx, payload)
		q.tell("%s: %s %s %v", what, answer.Result, answer.Reason, err)
	})
}

// tell keeps the stories short: what happened, and in which weather.
func (q *calm) tell(format string, args ...any) {
	at := time.Since(q.began)
	q.mu.Lock()
	defer q.mu.Unlock()
	text := fmt.Sprintf("%s "+format, append([]any{at.Round(time.Second)}, args...)...)
	for _, s := range q.spells {
		if at >= s.from && at < s.to+apart {
			text += " (" + string(s.what) + ")"
		}
	}
	q.out.Story = append(q.out.Story, text)
}

// in reports whether something goes wrong now, and for how long still.
func (q *calm) in(what ...trouble) (left time.Duration) {
	at := time.Since(q.began)
	for _, s := range q.spells {
		if s.from > at {
			break
		}
		for _, w := range what {
			if s.what == w && at < s.to {
				left = max(left, s.to-at)
			}
		}
	}
	return left
}

// Latencies in a spike of AWS.
var (
	slowCall      = Latency{500 * time.Millisecond, 5 * time.Second}
	slowIngestion = Latency{20 * time.Second, 90 * time.Second}
	slowDelivery  = Latency{3 * time.Second, 20 * time.Second}
	slowCommit    = Latency{2 * time.Second, 12 * time.Second}
)

// reach is the way of a node, or of a function where it is "", to AWS and back.
// One that is cut off or unlucky gets no answer until its time is over.
func (q *calm) reach(ctx context.Context, node, what string) error {
	about := calls.Digest(node + what)
	cut := map[string]trouble{"a": primaryCut, "b": standbyCut}[node]
	silent := node != "" && (q.in(cut) > 0 || node == "a" && q.in(isolated) > 0 || q.dice.unit(about) < q.weather.Loss)
	if silent {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if q.in(slowAWS) > 0 {
		return q.clock.Sleep(ctx, slowCall.Quantile(q.dice.unit(about)))
	}
	return ctx.Err()
}

// steady is a clock that is right.
type steady struct{ clock clock.Clock }

// Offset implements agent.Offset.
func (s steady) Offset() (time.Duration, time.Time) { return 0, s.clock.Now() }

type noAddress struct{}

// Hold implements agent.Endpoint.
func (noAddress) Hold(context.Context, string) error { return nil }

// Release implements agent.Endpoint.
func (noAddress) Release(context.Context, string) error { return nil }

// probe is what Terraform declares for a node.
func (q *calm) probe(node string) statetable.Probe {
	return statetable.Probe{
		Group: q.record.state.Group, Node: node, Namespace: "HADR", Metric: "SQLLatency",
		Interval: 20 * time.Second, Timeout: 19 * time.Second, Threshold: 20 * time.Second, Sentinel: 20001 * time.Millisecond,
		LeaseDuration: q.Lease, LeaseInterval: q.Renewed, Function: "takeover",
	}
}

// pair is what Terraform declares for the group.
func pair() failover.State {
	return failover.State{
		Group: "orders", Epoch: 1, Primary: "a", Phase: failover.Steady, Version: 1,
		Config: failover.Config{
			Engine: "db2", Policy: failover.Automatic, Fencing: failover.PeerWindow,
			Nodes: []failover.NodeConfig{{ID: "a", Instance: "i-0a"}, {ID: "b", Instance: "i-0b"}},
		}.WithDefaults(),
	}
}
