package control

import (
	"context"
	"errors"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// gather reads both nodes side by side, and the alarm that set it off again:
// an event is a hint, what is read now is evidence.
func (w *work) gather(ctx context.Context, e failover.Gather) failover.Event {
	type seen struct {
		node string
		o    failover.Observation
	}
	results := make(chan seen, len(e.Nodes))
	for _, node := range e.Nodes {
		go func() { results <- seen{node, w.observe(ctx, node, e.Timeout)} }()
	}
	found := w.alarmEvidence(ctx, e)
	nodes := map[string]failover.Observation{}
	for range e.Nodes {
		r := <-results
		nodes[r.node] = r.o
	}
	found = append(found, w.leaseEvidence(ctx, e.Suspect, nodes)...)
	now := w.Clock.Now()
	return failover.Gathered{At: now, Nodes: nodes, Evidence: append(found, evidence.Of(e.Suspect, nodes, now, w.config())...)}
}

// leaseEvidence reads the lease again that a watcher saw stand still: it is
// evidence only if it still stands there.
func (w *work) leaseEvidence(ctx context.Context, suspect string, nodes map[string]failover.Observation) []failover.Evidence {
	w.still = nil
	watcher, ok := nodes[w.config().Other(suspect)]
	if w.Leases == nil || !ok || watcher.LeaseStill.At.IsZero() {
		return nil
	}
	var now failover.Lease
	err := w.store(ctx, func(ctx context.Context) (err error) { now, err = w.Leases.ReadLease(ctx, w.group); return err })
	if err != nil {
		w.log.Warn("reading the lease failed", "node", suspect, "error", err)
		return nil
	}
	found := evidence.Lease(suspect, watcher, now)
	if len(found) > 0 {
		w.still = &now
	}
	return found
}

func (w *work) alarmEvidence(ctx context.Context, e failover.Gather) []failover.Evidence {
	if e.Alarm == "" {
		return nil
	}
	found, err := w.Alarms.Evidence(ctx, []string{e.Alarm})
	if err != nil {
		w.log.Warn("reading the alarm again failed", "alarm", e.Alarm, "error", err)
		return nil
	}
	for i := range found {
		found[i].Node = e.Suspect // R1: the table binds an alarm to its node
	}
	return found
}

// observe reads one node: its machine, its own view and its agent's record.
func (w *work) observe(ctx context.Context, node string, timeout time.Duration) failover.Observation {
	ctx, cancel := clock.WithTimeout(ctx, w.Clock, timeout+time.Second)
	defer cancel()
	n := w.node(node)
	var machine failover.InstanceState
	var check string
	read := make(chan struct{})
	go func() {
		defer close(read)
		var err error
		machine, check, err = w.Instances.State(ctx, n)
		if err != nil {
			w.log.Warn("reading the machine failed", "node", node, "error", err)
		}
	}()
	sent := w.Clock.Now()
	asked, stop := clock.WithTimeout(ctx, w.Clock, timeout)
	o := w.Engine.Observe(asked, w.group, n, w.config().Settings)
	stop()
	o.Node = node
	measureClock(&o, sent)
	<-read
	o.Instance, o.InstanceCheck = machine, check
	w.addAgent(ctx, &o)
	return o
}

// measureClock bounds the node's clock: it was read between sent and ReadAt.
// Inside these bounds nothing speaks against it.
func measureClock(o *failover.Observation, sent time.Time) {
	if o.Answer != failover.Answered || o.HostTime.IsZero() {
		return
	}
	o.ClockOffsetAt = o.ReadAt
	switch {
	case o.HostTime.Before(sent):
		o.ClockOffset = o.HostTime.Sub(sent)
	case o.HostTime.After(o.ReadAt):
		o.ClockOffset = o.HostTime.Sub(o.ReadAt)
	default:
		o.ClockOffset = 0
	}
}

// addAgent adds what the node's agent wrote itself.
func (w *work) addAgent(ctx context.Context, o *failover.Observation) {
	a, err := w.Store.Node(ctx, w.group, o.Node)
	if err != nil {
		if !errors.Is(err, ErrNotFound) {
			w.log.Warn("reading the agent's record failed", "node", o.Node, "error", err)
		}
		return
	}
	o.LastGoodProbe, o.LastBadProbe, o.Latency, o.DeadManUntil = a.LastGoodProbe, a.LastBadProbe, a.Latency, a.DeadManUntil
	o.LeaseStill = a.LeaseStill
	if o.Answer != failover.Answered { // else it says so itself
		o.StoppedInOrder = a.StoppedInOrder
	}
	if o.ClockOffsetAt.IsZero() {
		o.ClockOffset, o.ClockOffsetAt = a.ClockOffset, a.ClockOffsetAt
	}
}
