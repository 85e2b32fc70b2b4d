// Package agent is the loop on a database host. It measures the round trip of
// SQL on a fixed ticker and publishes it; writes what it sees to the node's
// item of the record; renews the lease of a primary from the health of its
// database, and watches that of the other node; and ends a primary that is cut
// off from everybody before its peer window does (R16).
//
// It knows no engine: a Database says what a database is, can do and must not
// have done to it.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Record is what the agent needs of the state table.
type Record interface {
	Load(ctx context.Context, group string) (failover.State, error)
	ReadProbe(ctx context.Context, group, node string) (statetable.Probe, error)
	PutNode(ctx context.Context, group string, o failover.Observation) error
	// ReadLease returns control.ErrNotFound where there is none.
	ReadLease(ctx context.Context, group string) (failover.Lease, error)
	// RenewLease returns statetable.ErrLeaseLost where asking again is of no use.
	RenewLease(ctx context.Context, group string, next failover.Lease) error
}

// Metrics publishes one value. It must not retry: a repeated value would
// inflate the sample count that tells a silent agent from a living one.
type Metrics interface {
	Put(ctx context.Context, p statetable.Probe, at time.Time, milliseconds float64) error
}

// Database is the database on this host.
type Database interface {
	// View reads the node's own view. It never connects to the database.
	View(ctx context.Context, settings map[string]string) failover.Observation
	// Probe writes one row as a client would and commits it. An error that is a
	// SetupError says nothing about the database.
	Probe(ctx context.Context, node string, settings map[string]string) error
	// Kill ends the database server at once, without a word to its log.
	Kill(ctx context.Context, settings map[string]string) error
}

// Endpoint is the virtual address on this host.
type Endpoint interface {
	// Hold makes sure that ip is bound.
	Hold(ctx context.Context, ip string) error
	// Release makes sure that it is not.
	Release(ctx context.Context, ip string) error
}

// Offset measures this host's clock against AWS's: positive = ahead.
type Offset interface {
	// Offset returns the smallest offset that explains what was seen last, and
	// when that was; zero = never.
	Offset() (offset time.Duration, at time.Time)
}

// Takeover reaches the takeover function.
type Takeover interface {
	// Report invokes the function, given by name or ARN, without waiting for it.
	Report(ctx context.Context, function string, r evidence.Report) error
}

// Agent is the loop of one node.
type Agent struct {
	Group    string
	Node     string
	Record   Record
	Metrics  Metrics
	Database Database // nil: Open chooses it
	// Open returns the database of a kind of engine, whose name is on the record.
	Open     func(engine string) (Database, error)
	Endpoint Endpoint
	Offset   Offset
	Takeover Takeover // nil reports nothing
	Vow      Vow      // nil keeps none
	// Watchdog is after how long a hung agent is killed and started again; 0 =
	// never. Without it the dead-man can't be relied upon (R16).
	Watchdog time.Duration
	Clock    clock.Clock
	Log      *slog.Logger

	started   sync.Once
	stopwatch func() time.Duration
	binding   sync.Mutex // of the virtual address
	mu        sync.Mutex
	declared  declaration
	health    health
	holding   holding
	watching  watching
	deadMan   deadMan
	selfFence selfFence
	troubles  troubles
	looking   single        // of views with a lease
	lost      chan struct{} // a view says that the partner is lost
	beats     map[string]beat
	written   string // what of the node's record matters to others at once
}

// declaration is what Terraform declares, and what the record says of the
// group: the last that could be read.
type declaration struct {
	state     failover.State
	probe     statetable.Probe
	refreshed time.Duration
}

func (d declaration) settings() map[string]string { return d.state.Config.Settings }

// leases reports whether the group has a lease.
func (d declaration) leases() bool { return d.probe.LeaseDuration > 0 }

// mayHold reports whether the lease is this node's to renew: it is the recorded
// primary, nobody is about to stop it, and its role is not being moved. A lease
// that it made in the epoch of its successor would keep that one from having any.
func (d declaration) mayHold(node string) bool {
	_, fenced := d.state.Fenced[node]
	return d.state.Primary == node && !fenced && !d.movesInOrder()
}

const (
	// refreshAfter is how old the declaration may be before it is read again.
	refreshAfter = time.Minute
	// startPause lies between two tries to read the declaration at start.
	startPause = 5 * time.Second
	// leaveLimit is for an agent's last words: its unit is given 10 s to stop.
	leaveLimit = 3 * time.Second
	// writeLimit bounds each call to AWS, so that none delays the next tick.
	writeLimit = 5 * time.Second
)

// Run measures until ctx ends. It returns an error if the declaration changed
// in a way that needs a new start.
func (a *Agent) Run(ctx context.Context) error {
	if !a.start(ctx) {
		return nil
	}
	d := a.declaration()
	if !d.probe.SelfFencing {
		a.liftVow()
	}
	if err := a.open(d); err != nil {
		return err
	}
	if err := a.usable(d); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var loops sync.WaitGroup
	a.lost = make(chan struct{}, 1)
	loop := func(f func(context.Context) error) {
		loops.Go(func() { stop(f(ctx)) })
	}
	a.Log.Info("measuring", "group", a.Group, "node", a.Node, "interval", d.probe.Interval, "timeout", d.probe.Timeout,
		"lease", d.probe.LeaseDuration, "renewed_every", d.probe.LeaseInterval)
	loop(a.publishing)
	if d.leases() {
		loop(a.pulsing)
		loop(a.guarding)
	}
	if d.probe.SelfFencing {
		loop(a.selfFencing)
	}
	loops.Wait()
	// Anything else only says that Run was to end.
	var restart restartError
	if errors.As(context.Cause(ctx), &restart) {
		return restart
	}
	return nil
}

// Leave tells others that this agent was stopped in order, after Run has ended:
// nothing will be heard of it, and that says nothing of its database, of which
// others may hear nothing else where no client uses it. A database that goes down
// with its host says so itself: its connection to the standby ends.
func (a *Agent) Leave(ctx context.Context) {
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, leaveLimit)
	defer cancel()
	d := a.declaration()
	if d.refreshed == 0 || a.Database == nil {
		return // it has not begun
	}
	a.leaveLease(ctx, d)
	o := a.observation(a.health.latency())
	o.LogFlows, o.DeadManUntil = time.Time{}, time.Time{}
	o.Trouble = stoppedText + ": systemctl start hadr-agent"
	a.write(ctx, troubled(o))
}

// mono is the reading of the agent's stopwatch, which no correction of the wall
// clock moves.
func (a *Agent) mono() time.Duration {
	a.started.Do(func() { a.stopwatch = clock.Stopwatch(a.Clock) })
	return a.stopwatch()
}

// open chooses the database by the engine on the record.
func (a *Agent) open(d declaration) error {
	database, err := a.database(d.state.Config.Engine)
	if err != nil {
		return fmt.Errorf("group %s: %w: update hadr-agent", a.Group, err)
	}
	a.Database = database
	return nil
}

// database is that of an engine, unless one is given.
func (a *Agent) database(engine string) (Database, error) {
	if a.Database != nil {
		return a.Database, nil
	}
	return a.Open(engine)
}

// usable refuses a lease whose timing is unsafe.
func (a *Agent) usable(d declaration) error {
	if !d.leases() {
		return nil
	}
	if why := d.probe.CheckLease(a.Watchdog); why != "" {
		return fmt.Errorf("lease of group %s: %s: correct the resource hadr_sql_latency_metric of node %s%s", a.Group, why, a.Node, a.orWatchdog(d))
	}
	if _, can := a.Database.(Fencer); d.probe.SelfFencing && !can {
		return fmt.Errorf("lease of group %s: its primary is to fence itself, and the engine %s can't: set self_fencing = false in the resource hadr_sql_latency_metric of node %s", a.Group, d.state.Config.Engine, a.Node)
	}
	return nil
}

// orWatchdog names the other way out of a timing that is unsafe.
func (a *Agent) orWatchdog(d declaration) string {
	if !d.probe.SelfFencing || a.Watchdog <= 0 {
		return ""
	}
	return fmt.Sprintf(", or lower WatchdogSec of its unit, which is %s (systemctl edit hadr-agent)", a.Watchdog)
}

// restartError: the agent has to start again.
type restartError struct{ why string }

func (e restartError) Error() string { return e.why + ": the agent starts again" }

func (a *Agent) declaration() declaration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.declared
}

// refresh reads what Terraform declares and who is primary. If the record
// can't be reached, the last answer holds: losing it stops no measurement.
func (a *Agent) refresh(ctx context.Context) error {
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	probe, err := a.Record.ReadProbe(ctx, a.Group, a.Node)
	if err != nil {
		return err
	}
	if err := runnable(probe); err != nil {
		return err
	}
	state, err := a.Record.Load(ctx, a.Group)
	if err != nil {
		return err
	}
	if _, ok := state.Config.Node(a.Node); !ok {
		return fmt.Errorf("group %s has no node %q", a.Group, a.Node)
	}
	state.Config = state.Config.WithDefaults()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.declared = declaration{state, probe, a.mono()}
	return nil
}

// runnable refuses a probe that would say something else than it should.
func runnable(p statetable.Probe) error {
	why := ""
	switch {
	case p.Interval <= 0 || p.Timeout <= 0 || p.Timeout >= p.Interval:
		why = fmt.Sprintf("timeout %s must be above 0 and below interval %s", p.Timeout, p.Interval)
	case p.Sentinel <= p.Threshold:
		why = fmt.Sprintf("sentinel %s must be above threshold %s, or a lost probe would look healthy", p.Sentinel, p.Threshold)
	default:
		return nil
	}
	return fmt.Errorf("probe of node %s: %s: correct the resource hadr_sql_latency_metric of this node", p.Node, why)
}

// keep refreshes a declaration that has grown old, and returns the newest. It
// is an error if what the loops were built for has changed.
func (a *Agent) keep(ctx context.Context) (declaration, error) {
	before := a.declaration()
	if a.mono()-before.refreshed < refreshAfter {
		return before, nil
	}
	if err := a.refresh(ctx); err != nil {
		a.raise("declaration", err)
		return before, nil
	}
	a.clear("declaration")
	now := a.declaration()
	for name, changed := range map[string]bool{
		"interval":       now.probe.Interval != before.probe.Interval,
		"lease duration": now.probe.LeaseDuration != before.probe.LeaseDuration,
		"lease interval": now.probe.LeaseInterval != before.probe.LeaseInterval,
		"self-fencing":   now.probe.SelfFencing != before.probe.SelfFencing,
		"engine":         now.state.Config.Engine != before.state.Config.Engine,
	} {
		if changed {
			return now, restartError{"the declared " + name + " changed"}
		}
	}
	return now, nil
}
