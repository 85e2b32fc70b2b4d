// Package agent is the loop on a database host: it measures the round trip of
// SQL on a fixed ticker, publishes it as a metric, and writes what it sees to
// the node's item of the record.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Record is what the agent needs of the state table.
type Record interface {
	Load(ctx context.Context, group string) (failover.State, error)
	ReadProbe(ctx context.Context, group, node string) (statetable.Probe, error)
	PutNode(ctx context.Context, group string, o failover.Observation) error
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
	// Probe writes one row as a client would and commits it.
	Probe(ctx context.Context, node string, settings map[string]string) error
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

// Agent is the loop of one node.
type Agent struct {
	Group    string
	Node     string
	Record   Record
	Metrics  Metrics
	Database Database
	Endpoint Endpoint
	Offset   Offset
	Clock    clock.Clock
	Log      *slog.Logger

	config    failover.State // last one that could be read
	probe     statetable.Probe
	lastGood  time.Time
	lastBad   time.Time
	refreshed time.Time
}

const (
	// refresh is how old the declaration may be before it is read again.
	refresh = time.Minute
	// startPause lies between two tries to read the declaration at start.
	startPause = 5 * time.Second
	// writeLimit bounds each call to AWS, so that none delays the next tick.
	writeLimit = 5 * time.Second
)

// Run measures until ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	for {
		err := a.refresh(ctx)
		if err == nil {
			break
		}
		a.Log.Warn("the declaration can't be read yet", "group", a.Group, "node", a.Node, "error", err)
		if a.Clock.Sleep(ctx, startPause) != nil {
			return nil
		}
	}
	interval := a.probe.Interval
	ticker := a.Clock.NewTicker(interval)
	defer ticker.Stop()
	a.Log.Info("measuring", "group", a.Group, "node", a.Node, "interval", interval, "timeout", a.probe.Timeout)
	for {
		a.tick(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if a.probe.Interval != interval {
			return fmt.Errorf("the declared interval changed from %s to %s: the agent starts again", interval, a.probe.Interval)
		}
	}
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
	if probe.Interval <= 0 || probe.Timeout <= 0 || probe.Timeout >= probe.Interval {
		return fmt.Errorf("probe of node %s: timeout %s must be above 0 and below interval %s", a.Node, probe.Timeout, probe.Interval)
	}
	state, err := a.Record.Load(ctx, a.Group)
	if err != nil {
		return err
	}
	if _, ok := state.Config.Node(a.Node); !ok {
		return fmt.Errorf("group %s has no node %q", a.Group, a.Node)
	}
	a.probe, a.config, a.refreshed = probe, state, a.Clock.Now()
	return nil
}

// tick measures once, publishes and writes the record.
func (a *Agent) tick(ctx context.Context) {
	if a.Clock.Now().Sub(a.refreshed) >= refresh {
		if err := a.refresh(ctx); err != nil {
			a.Log.Warn("the declaration can't be read; the last one holds", "group", a.Group, "node", a.Node, "error", err)
		}
	}
	o, latency, err := a.measure(ctx)
	now := a.Clock.Now()
	good := err == nil && latency < a.probe.Threshold
	if good {
		a.lastGood = now
	} else {
		a.lastBad = now
		a.Log.Warn("probe failed", "group", a.Group, "node", a.Node, "latency", latency, "error", err)
	}
	if err != nil {
		latency = a.probe.Sentinel
	}
	o.Node, o.Source, o.ReadAt = a.Node, "agent", now
	o.HostTime, o.Latency, o.LastBadProbe = now, latency, a.lastBad
	o.ClockOffset, o.ClockOffsetAt = a.Offset.Offset()
	// R5: only a committed write of the primary is positive evidence.
	if o.Role == failover.RolePrimary {
		o.LastGoodProbe = a.lastGood
	}
	a.endpoint(ctx, o)
	a.publish(ctx, o, latency)
}

// endpoint holds the virtual address while this node is the recorded primary
// and its database says so too, and releases it on a standby: clients must not
// find a way to an old primary through an address that was left behind (R25).
func (a *Agent) endpoint(ctx context.Context, o failover.Observation) {
	vip := a.config.Config.VIP
	if vip == "" || o.Answer != failover.Answered {
		return
	}
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	var err error
	switch {
	case o.Role == failover.RolePrimary && a.config.Primary == a.Node:
		err = a.Endpoint.Hold(ctx, vip)
	case o.Role == failover.RoleStandby && a.config.Primary != a.Node && a.config.Operation == nil:
		err = a.Endpoint.Release(ctx, vip)
	}
	if err != nil {
		a.Log.Warn("the virtual address can't be changed", "group", a.Group, "node", a.Node, "vip", vip, "error", err)
	}
}

func (a *Agent) publish(ctx context.Context, o failover.Observation, latency time.Duration) {
	put, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	if err := a.Metrics.Put(put, a.probe, a.Clock.Now(), float64(latency)/float64(time.Millisecond)); err != nil {
		a.Log.Warn("publishing the latency failed", "group", a.Group, "node", a.Node, "error", err)
	}
	cancel()
	write, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	if err := a.Record.PutNode(write, a.Group, o); err != nil {
		a.Log.Warn("writing the node's record failed", "group", a.Group, "node", a.Node, "error", err)
	}
}

// errNotServing: the database can't be measured in its role.
var errNotServing = errors.New("the database does not serve")

// measure takes the role-appropriate round trip within the hard timeout: a
// committed write on the primary, the status command elsewhere. It connects
// only to an active database of the recorded primary, because a connection
// would activate an inactive old primary and spoil its return as standby
// (APAR IT10602).
func (a *Agent) measure(ctx context.Context) (failover.Observation, time.Duration, error) {
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, a.probe.Timeout)
	defer cancel()
	settings := a.config.Config.Settings
	start := a.Clock.Now()
	o := a.Database.View(ctx, settings)
	latency := a.Clock.Now().Sub(start)
	switch {
	case o.Answer != failover.Answered:
		return o, latency, fmt.Errorf("%w: no view of it: %s", errNotServing, o.AnswerError)
	case o.Database != failover.DatabaseActive:
		return o, latency, fmt.Errorf("%w: %s", errNotServing, o.Database)
	case o.Role != failover.RolePrimary:
		return o, latency, nil
	}
	if a.config.Primary != a.Node {
		if err := a.unrecorded(ctx); err != nil {
			return o, latency, err
		}
	}
	start = a.Clock.Now()
	err := a.Database.Probe(ctx, a.Node, settings)
	return o, a.Clock.Now().Sub(start), err
}

// unrecorded: the database reads PRIMARY, but the record names another node.
// After a takeover the record may just be newer than what the agent holds.
func (a *Agent) unrecorded(ctx context.Context) error {
	if err := a.refresh(ctx); err != nil {
		return fmt.Errorf("the database is primary and the record can't be read: %w", err)
	}
	if a.config.Primary != a.Node {
		return fmt.Errorf("the database is primary, but node %s is the recorded primary of epoch %d", a.config.Primary, a.config.Epoch)
	}
	return nil
}
