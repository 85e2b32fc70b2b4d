package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// publishing is the loop that publishes a value at every tick of a fixed
// ticker, whatever the database does.
func (a *Agent) publishing(ctx context.Context) error {
	d := a.declaration()
	ticker := a.Clock.NewTicker(d.probe.Interval)
	defer ticker.Stop()
	for {
		a.beat("publishing", 2*d.probe.Interval+4*writeLimit)
		a.tick(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if _, err := a.keep(ctx); err != nil {
			return err
		}
	}
}

// tick publishes one value and writes the node's record. With a lease the
// pulse measures all the time, and the worst since the last tick counts;
// without one it measures now.
func (a *Agent) tick(ctx context.Context) {
	d := a.declaration()
	var value sample
	if d.leases() {
		if !a.health.begun() {
			a.look(ctx)
			a.probe(ctx)
		}
		value = a.health.take(a.mono())
	} else {
		value = a.measure(ctx)
	}
	if ctx.Err() != nil {
		return // an agent that ends measures nothing
	}
	latency := value.latency
	if value.err != nil {
		latency = d.probe.Sentinel
	}
	put, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	err := a.Metrics.Put(put, d.probe, a.Clock.Now(), float64(latency)/float64(time.Millisecond))
	cancel()
	a.settle("metrics", err)
	a.checkClock()
	o := a.observation(latency)
	a.bind(ctx, o)
	a.write(ctx, o)
}

// measure takes the role-appropriate round trip within the hard timeout: a
// committed write on the primary, the status command elsewhere.
func (a *Agent) measure(ctx context.Context) sample {
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, a.declaration().probe.Timeout)
	defer cancel()
	a.look(ctx)
	a.probe(ctx)
	return a.health.take(a.mono())
}

// observation is what others may know of this node.
func (a *Agent) observation(latency time.Duration) failover.Observation {
	now := a.Clock.Now()
	o := a.health.observation()
	o.Node, o.Source, o.ReadAt = a.Node, "agent", now
	o.HostTime, o.Latency = now, latency
	o.ClockOffset, o.ClockOffsetAt = a.Offset.Offset()
	o.LeaseStill = a.watching.sight()
	o.DeadManUntil = a.promise(now)
	if o.Trouble == "" {
		o.Trouble = a.troubles.text()
	}
	return troubled(o)
}

// troubled keeps a node with a trouble from looking healthier than it is.
func troubled(o failover.Observation) failover.Observation {
	if o.Trouble != "" {
		o.Fitness, o.FitnessWhy = failover.Unfit, "its agent: "+o.Trouble
	}
	return o
}

// write puts the node's record.
func (a *Agent) write(ctx context.Context, o failover.Observation) {
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	err := a.Record.PutNode(ctx, a.Group, o)
	a.settle("record", err)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = urgent(o)
}

// writeChange writes the record before its time if something changed that
// others wait for.
func (a *Agent) writeChange(ctx context.Context, o failover.Observation) {
	a.mu.Lock()
	same := a.written == urgent(o)
	a.mu.Unlock()
	if !same {
		a.bind(ctx, o)
		a.write(ctx, o)
	}
}

// urgent is what of an observation others should know at once: whether the
// node serves, and whether it hears or misses the other one.
func urgent(o failover.Observation) string {
	return fmt.Sprint(o.Answer, o.Database, o.Role, o.State, o.PartnerLost, o.WaitsForStandby, o.LastGoodProbe.After(o.LastBadProbe),
		o.LeaseStill.Epoch, o.LeaseStill.Counter, !o.LogFlows.IsZero(), o.StoppedInOrder, o.Trouble, !o.DeadManUntil.IsZero())
}

// bind holds the virtual address while this node is the recorded primary and
// its database says so too, and releases it on a standby: clients must not
// find a way to an old primary through an address that was left behind (R25).
// It is asserted at every tick: a network manager may drop a foreign address.
func (a *Agent) bind(ctx context.Context, o failover.Observation) {
	s := a.declaration().state
	if s.Config.VIP == "" || o.Answer != failover.Answered {
		return
	}
	a.binding.Lock() // the pulse and the tick may both see that it is missing
	defer a.binding.Unlock()
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, writeLimit)
	defer cancel()
	switch {
	case o.Role == failover.RolePrimary && s.Primary == a.Node:
		a.settle("endpoint", a.Endpoint.Hold(ctx, s.Config.VIP))
	case o.Role == failover.RoleStandby && s.Primary != a.Node && s.Operation == nil:
		a.settle("endpoint", a.Endpoint.Release(ctx, s.Config.VIP))
	}
}

// errNotServing: the database can't be measured in its role.
var errNotServing = errors.New("the database does not serve")

// flow is how many intervals of the lease may pass without new log in what a
// standby gets of a primary that is well: its agent commits in each of them, the
// view that shows it comes up to one later, and the view before that one is the
// last moment at which that log is known not to have come. Half an interval is for
// views that do not begin quite in time.
const flow = 3

// pace is how long that is.
func pace(interval time.Duration) time.Duration { return flow*interval + interval/2 }

// look reads the database's own view.
func (a *Agent) look(ctx context.Context) {
	d := a.declaration()
	ctx, cancel := clock.WithTimeout(ctx, a.Clock, d.probe.Timeout)
	defer cancel()
	began := a.mono()
	o := a.Database.View(ctx, d.settings())
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return // the agent ends
	}
	err := viewError(o)
	a.health.viewed(o, err, began, a.mono(), a.Clock.Now(), pace(d.probe.LeaseInterval))
	a.settle("view", err)
	if o.Role == failover.RoleStandby && o.PartnerLost {
		select {
		case a.lost <- struct{}{}:
		default: // it is told already, or nobody listens
		}
	}
	a.deadMan.see(o, began, d.state.Config)
}

// viewError says why a view shows no database that can be measured.
func viewError(o failover.Observation) error {
	switch {
	case o.Trouble != "":
		what, fix, _ := strings.Cut(o.Trouble, ": ")
		return setupError{what, fix}
	case o.Answer == failover.Unreadable:
		return setupError{"the database's own view is not understood (" + o.AnswerError + ")",
			"compare its version with those that this agent knows, and update hadr-agent"}
	case o.Answer != failover.Answered:
		return fmt.Errorf("%w: no view of it: %s", errNotServing, o.AnswerError)
	case o.Database != failover.DatabaseActive:
		return fmt.Errorf("%w: %s", errNotServing, o.Database)
	}
	return nil
}

// probe commits a row, where there is a primary to be measured. It connects
// only to an active database of the recorded primary, because a connection
// would activate an inactive old primary and spoil its return as standby
// (APAR IT10602).
func (a *Agent) probe(ctx context.Context) {
	if !a.health.primary() {
		return
	}
	began := a.mono()
	err := a.recorded(ctx)
	d := a.declaration()
	if err == nil {
		bounded, cancel := clock.WithTimeout(ctx, a.Clock, d.probe.Timeout)
		a.health.probing(began)
		err = a.Database.Probe(bounded, a.Node, d.settings())
		cancel()
	}
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return // the agent ends
	}
	a.health.probed(err, began, a.mono(), d.probe.Threshold, a.Clock.Now())
	a.settle("probe", err)
}

// recorded returns an error if the database reads PRIMARY and the record names
// another node. After a takeover the record may just be newer than what the
// agent holds.
func (a *Agent) recorded(ctx context.Context) error {
	if a.declaration().state.Primary == a.Node {
		return nil
	}
	if err := a.refresh(ctx); err != nil {
		return fmt.Errorf("the database is primary and the record can't be read: %w", err)
	}
	if s := a.declaration().state; s.Primary != a.Node {
		return fmt.Errorf("the database is primary, but node %s is the recorded primary of epoch %d", s.Primary, s.Epoch)
	}
	return nil
}
