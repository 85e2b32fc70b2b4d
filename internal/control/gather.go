package control

import (
	"context"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/evidence"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// gather reads both nodes side by side, and the alarm that set it off again:
// an event is a hint, what is read now is evidence.
func (w *work) gather(ctx context.Context, e failover.Gather) failover.Event {
	ctx, cancel := context.WithCancel(ctx) // what is not waited for is withdrawn
	defer cancel()
	red := make(chan []failover.Evidence, 1)
	go func() { red <- w.alarmEvidence(ctx, e) }()
	asked := w.Clock.Now()
	nodes, expired := w.readNodes(ctx, e)
	w.machines = map[string]sighting{e.Suspect: {nodes[e.Suspect].Instance, asked}}
	found := append(<-red, expired...)
	now := w.Clock.Now()
	return failover.Gathered{At: now, Nodes: nodes, Evidence: append(found, evidence.Of(e.Suspect, nodes, now, w.config())...)}
}

// readNodes reads all nodes, and the lease that somebody saw stand still. The
// suspect's own answer is waited for, unless it is certain that none comes.
func (w *work) readNodes(ctx context.Context, e failover.Gather) (nodes map[string]failover.Observation, expired []failover.Evidence) {
	views := make(chan failover.Observation, len(e.Nodes))
	for _, node := range e.Nodes {
		r := w.reading(node, e.Timeout)
		r.counts, r.machine = fromStandby, true
		if node == e.Suspect {
			r.counts, r.machine = againstPrimary, false // it is read below
		}
		w.background.Go(func() { views <- w.ask(ctx, r) })
	}
	suspect, outside := w.reading(e.Suspect, e.Timeout), make(chan failover.Observation, 1)
	w.background.Go(func() { outside <- w.unanswered(ctx, suspect) })
	nodes = map[string]failover.Observation{}
	for len(nodes) < len(e.Nodes) {
		o := <-views
		if o.Node == e.Suspect {
			machine := <-outside
			o.Instance, o.InstanceCheck = machine.Instance, machine.InstanceCheck
		}
		nodes[o.Node] = o
		if _, answered := nodes[e.Suspect]; answered {
			continue
		}
		if expired = w.leaseEvidence(ctx, e.Suspect, nodes); mute(expired) {
			nodes[e.Suspect] = <-outside
			return nodes, expired
		}
	}
	return nodes, w.leaseEvidence(ctx, e.Suspect, nodes)
}

// sighting is what a machine read when it was asked at a time.
type sighting struct {
	state failover.InstanceState
	asked time.Time
}

// readInstance reads a machine. One that was read as running a moment ago, when
// the takeover was decided, is stopped without another look: a stop of what is
// stopped changes nothing, and it is read afterwards that it is accepted (R15).
func (w *work) readInstance(ctx context.Context, e failover.ReadInstance) failover.Event {
	now := w.Clock.Now()
	if op := w.state.Operation; op.Step == failover.StepFence && op.Fence.Tries == 0 {
		if s := w.machines[e.Node]; s.state == failover.InstanceRunning && now.Sub(s.asked) <= recent {
			return failover.InstanceRead{At: now, Node: e.Node, State: s.state}
		}
	}
	state, _, err := w.Instances.State(ctx, w.node(e.Node))
	return failover.InstanceRead{At: w.Clock.Now(), Node: e.Node, State: state, Error: text(err)}
}

// fromStandby: what the agent of a standby sees of it is as good as what a
// command prints there.
func fromStandby(o failover.Observation) bool { return o.Answer == failover.Answered }

// againstPrimary: a view of a primary that is well may be of the moment before
// its failure. One that is not, or that waits for its standby (R4), or that
// somebody stopped (R6), is news.
func againstPrimary(o failover.Observation) bool {
	return o.Answer == failover.Answered && (o.Database != failover.DatabaseActive || o.WaitsForStandby || o.StoppedInOrder != "")
}

// mute reports whether a primary says nothing any more, in any way that it has:
// its lease stands still, by which one that waits for its standby would say so
// (R4), and its standby has heard nothing of it for as long. Such a one does not
// answer a command, and 3 seconds of an outage are much.
func mute(expired []failover.Evidence) bool {
	seen := map[failover.Signal]bool{}
	for _, e := range expired {
		seen[e.Signal] = true
	}
	return seen[failover.SignalLease] && seen[failover.SignalStandbyView]
}

// unanswered is what can be read of a node without its answer.
func (w *work) unanswered(ctx context.Context, r reading) failover.Observation {
	o := failover.Observation{
		Node: r.node.ID, Source: "command", Answer: failover.Silent,
		AnswerError: "its lease has expired and its standby hears nothing of it, so that no answer was waited for",
	}
	ctx, cancel := clock.WithTimeout(ctx, w.Clock, r.timeout+reserve)
	defer cancel()
	o.Instance, o.InstanceCheck = w.machine(ctx, r.node)
	w.addAgent(ctx, &o)
	o.ReadAt = w.Clock.Now()
	return o
}

// leaseEvidence reads the lease again that a watcher saw stand still: it is
// evidence only if it still stands there.
func (w *work) leaseEvidence(ctx context.Context, suspect string, nodes map[string]failover.Observation) []failover.Evidence {
	w.still = nil
	watcher, ok := nodes[w.config().Other(suspect)]
	primary := nodes[suspect] // if it has answered yet
	primary.Node = suspect
	if w.Leases == nil || !ok || watcher.LeaseStill.At.IsZero() {
		return nil
	}
	var now failover.Lease
	err := w.store(ctx, func(ctx context.Context) (err error) { now, err = w.Leases.ReadLease(ctx, w.group); return err })
	if err != nil {
		w.log.Warn("reading the lease failed", "node", suspect, "error", err)
		return nil
	}
	found := evidence.Lease(primary, watcher, now)
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
