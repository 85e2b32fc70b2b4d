package control

import (
	"context"
	"errors"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const (
	// recent is how old the view of a node's agent may be to stand for an answer
	// of the node: that of a command is as old when it has come back.
	recent = 3 * time.Second
	// listen lies between two looks for such a view while a command is under way.
	// No timeout of a command is a multiple of it: at a moment at which both are
	// over chance would tell which counts, and no run would replay.
	listen = 230 * time.Millisecond
	// offsetKept is how old an agent's measurement of its clock may be for its
	// times to be believed.
	offsetKept = 10 * time.Minute
	// reserve is for what else is read of a node.
	reserve = time.Second
)

// reading is what is asked of one node.
type reading struct {
	node     failover.NodeConfig
	settings map[string]string
	timeout  time.Duration // of a status command
	machine  bool          // its state is read, too
	// counts says whether a recent view of the node's agent will do. nil takes
	// none: then only what is asked for now counts.
	counts func(failover.Observation) bool
}

func (w *work) reading(node string, timeout time.Duration) reading {
	return reading{node: w.node(node), settings: w.config().Settings, timeout: timeout}
}

// observe reads one node: its machine, its own view by a command, and its
// agent's record.
func (w *work) observe(ctx context.Context, node string, timeout time.Duration) failover.Observation {
	r := w.reading(node, timeout)
	r.machine = true
	return w.ask(ctx, r)
}

// readNode reads a node for a step. The last look at the standby before the
// fence (R20) may be that of its agent, if it is of this moment; after the
// promotion only what is asked for then tells its role.
func (w *work) readNode(ctx context.Context, e failover.ReadNode) failover.Observation {
	op := w.state.Operation
	if op == nil || op.Step != failover.StepRecheck || op.Kind != failover.Takeover || op.Force != failover.WithinWindow {
		return w.observe(ctx, e.Node, e.Timeout)
	}
	r := w.reading(e.Node, e.Timeout)
	r.counts = fromStandby
	return w.ask(ctx, r)
}

func (w *work) ask(ctx context.Context, r reading) failover.Observation {
	ctx, cancel := clock.WithTimeout(ctx, w.Clock, r.timeout+reserve)
	defer cancel()
	if o, ok := w.heard(ctx, r); ok { // its machine runs
		o.Node = r.node.ID
		return o
	}
	var machine failover.InstanceState
	var check string
	read := make(chan struct{})
	go func() {
		defer close(read)
		if r.machine {
			machine, check = w.machine(ctx, r.node)
		}
	}()
	o := w.view(ctx, r)
	o.Node = r.node.ID
	<-read
	o.Instance, o.InstanceCheck = machine, check
	w.addAgent(ctx, &o)
	return o
}

func (w *work) machine(ctx context.Context, n failover.NodeConfig) (failover.InstanceState, string) {
	machine, check, err := w.Instances.State(ctx, n)
	if err != nil {
		w.log.Warn("reading the machine failed", "node", n.ID, "error", err)
	}
	return machine, check
}

// view is the node's own view: the answer to a command, or what its agent writes
// meanwhile.
func (w *work) view(ctx context.Context, r reading) failover.Observation {
	asked, stop := clock.WithTimeout(ctx, w.Clock, r.timeout)
	defer stop()
	answers := make(chan failover.Observation, 1)
	w.background.Go(func() {
		sent := w.Clock.Now()
		o := w.Engine.Observe(asked, w.group, r.node, r.settings)
		measureClock(&o, sent)
		answers <- o
	})
	again := w.Clock.NewTicker(listen)
	defer again.Stop()
	for {
		select {
		case o := <-answers:
			return o
		case <-again.C():
		}
		select { // the answer comes first: select would choose either
		case o := <-answers:
			return o
		default:
		}
		if o, ok := w.heard(ctx, r); ok {
			return o
		}
	}
}

// heard returns what the node's agent wrote of a view that began a moment ago,
// if that will do. Its times become those of AWS, by the agent's measurement.
func (w *work) heard(ctx context.Context, r reading) (o failover.Observation, ok bool) {
	if r.counts == nil || ctx.Err() != nil {
		return o, false
	}
	o, err := w.Store.Node(ctx, w.group, r.node.ID)
	if err != nil || o.Source != "agent" || o.ViewedAt.IsZero() || o.ClockOffsetAt.IsZero() {
		return o, false
	}
	now := w.Clock.Now()
	age := now.Sub(o.ViewedAt.Add(-o.ClockOffset))
	o.ReadAt = o.HostTime.Add(-o.ClockOffset)
	return o, age.Abs() <= recent && now.Sub(o.ClockOffsetAt) <= offsetKept && r.counts(o)
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
	o.LeaseStill, o.LogFlows = a.LeaseStill, a.LogFlows
	if o.Answer != failover.Answered { // else it says so itself
		o.StoppedInOrder = a.StoppedInOrder
	}
	if o.ClockOffsetAt.IsZero() {
		o.ClockOffset, o.ClockOffsetAt = a.ClockOffset, a.ClockOffsetAt
	}
}
