package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// run executes effects, after those that only tell somebody, and returns what they
// led to, in their order. They run side by side, so that one slow route holds up
// no other (R26).
func (w *work) run(ctx context.Context, effects []failover.Effect) ([]failover.Event, error) {
	for _, e := range effects {
		if wait, ok := e.(failover.Wait); ok {
			if err := w.stay(ctx, wait.For); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range effects {
		if mutates(e) {
			if err := w.fresh(ctx); err != nil {
				return nil, err
			}
			break
		}
	}
	events := make([]failover.Event, len(effects))
	var wg sync.WaitGroup
	for i, e := range effects {
		wg.Go(func() { events[i] = w.execute(ctx, e) })
	}
	wg.Wait()
	done := events[:0]
	for _, e := range events {
		if e != nil {
			done = append(done, e)
		}
	}
	return done, nil
}

// tell writes history and notifies, and returns the other effects.
func (w *work) tell(ctx context.Context, effects []failover.Effect) (rest []failover.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case failover.Record:
			w.record(ctx, e.Entry)
		case failover.Notify:
			w.notify(ctx, e.Entry)
		default:
			rest = append(rest, e)
		}
	}
	return rest
}

// mutates reports whether an effect changes something outside the record.
func mutates(e failover.Effect) bool {
	switch e.(type) {
	case failover.Stop, failover.SetGroups, failover.Start, failover.StartDatabase, failover.Reintegrate, failover.Promote, failover.MoveRoute, failover.Repair:
		return true
	}
	return false
}

// fresh makes sure that the record was looked at a moment ago and is still
// what this runner believes (R22): a runner that was frozen must not wake up
// and act on what was true before.
func (w *work) fresh(ctx context.Context) error {
	for range freshTries {
		asked := w.Clock.Now()
		if asked.Sub(w.checked) <= freshness {
			return nil
		}
		var s failover.State
		err := w.store(ctx, func(ctx context.Context) (err error) { s, err = w.Store.Load(ctx, w.group); return err })
		switch {
		case err != nil && w.mayFinishRedirect():
			return nil
		case err != nil:
			return fmt.Errorf("checking the record of group %s before acting: %w", w.group, err)
		case s.Version != w.persisted.Version:
			return ErrConflict
		}
		w.checked = asked
	}
	return fmt.Errorf("checking the record of group %s before acting: every answer took more than %s, and was too old to act on", w.group, freshness)
}

// freshTries bounds the tries to get an answer of the record in time.
const freshTries = 3

// bounded limits an effect whose calls to AWS end by themselves in seconds. One
// that gives no answer is resolved by reading (R23). Commands on nodes and
// waits have limits of their own.
func (w *work) bounded(ctx context.Context, e failover.Effect) (context.Context, context.CancelFunc) {
	switch e.(type) {
	case failover.Stop, failover.ReadGroups, failover.SetGroups, failover.Start, failover.ReadInstance, failover.ReadRoute, failover.MoveRoute, failover.Repair, failover.CheckPath, failover.EndMaintenance:
		return clock.WithTimeout(ctx, w.Clock, callLimit)
	}
	return ctx, func() {}
}

func (w *work) execute(ctx context.Context, e failover.Effect) failover.Event {
	ctx, stop := w.bounded(ctx, e)
	defer stop()
	switch e := e.(type) {
	case failover.Gather:
		return w.gather(ctx, e)
	case failover.Seal:
		return w.seal(ctx, e)
	case failover.Unseal:
		return w.unseal(ctx, e)
	case failover.Stop:
		outcome, err := w.Instances.Stop(ctx, w.node(e.Node))
		return failover.StopRequested{At: w.Clock.Now(), Node: e.Node, Outcome: outcome, Error: text(err)}
	case failover.Start:
		outcome, err := w.Instances.Start(ctx, w.node(e.Node))
		return failover.Started{At: w.Clock.Now(), Node: e.Node, Outcome: outcome, Error: text(err)}
	case failover.ReadGroups:
		groups, err := w.Instances.Groups(ctx, w.node(e.Node))
		return failover.GroupsRead{At: w.Clock.Now(), Node: e.Node, Groups: groups, Error: text(err)}
	case failover.SetGroups:
		err := w.Instances.SetGroups(ctx, w.node(e.Node), e.Groups)
		return failover.GroupsSet{At: w.Clock.Now(), Node: e.Node, OK: err == nil, Error: text(err)}
	case failover.StartDatabase:
		outcome, err := w.Engine.StartDatabase(ctx, Promotion{
			Group: w.group, Node: w.node(e.Node), Epoch: e.Epoch, OperationID: e.OperationID, Attempt: e.Attempt,
			Deadline: e.Deadline, Settings: w.config().Settings, Alone: e.Alone,
		})
		if err != nil {
			w.log.Warn("starting the database failed", "node", e.Node, "operation", e.OperationID, "epoch", e.Epoch, "error", err)
		}
		return failover.Started{At: w.Clock.Now(), Node: e.Node, Outcome: outcome, Error: text(err)}
	case failover.Reintegrate:
		result := w.Engine.Rejoin(ctx, Promotion{
			Group: w.group, Node: w.node(e.Node), Epoch: e.Epoch, OperationID: e.OperationID, Attempt: e.Attempt,
			VIP: w.config().VIP, Deadline: e.Deadline, Settings: w.config().Settings,
		})
		return failover.Reintegrated{At: w.Clock.Now(), Node: e.Node, Outcome: result.Outcome, Code: result.Code, Detail: result.Detail, Next: result.Next}
	case failover.ReadInstance:
		return w.readInstance(ctx, e)
	case failover.ReadNode:
		o := w.readNode(ctx, e)
		return failover.NodeRead{At: w.Clock.Now(), Observation: o}
	case failover.Promote:
		return w.promote(ctx, e)
	case failover.MoveRoute:
		err := w.Routes.Move(ctx, e.Table, w.config().VIP, w.node(e.Node).ENI)
		return failover.RouteMoved{At: w.Clock.Now(), Table: e.Table, OK: err == nil, Error: text(err)}
	case failover.Repair:
		return w.repair(ctx, e)
	case failover.ReadRoute:
		owner, err := w.Routes.Owner(ctx, e.Table, w.config().VIP)
		return failover.RouteRead{At: w.Clock.Now(), Table: e.Table, Owner: owner, Error: text(err)}
	case failover.EndMaintenance:
		if err := w.Store.EndMaintenance(ctx, w.group, w.persisted.Maintenance); err != nil {
			w.log.Warn("ending expired maintenance failed", "error", err)
		}
		return nil
	case failover.CheckPath:
		err := w.Routes.Check(ctx, w.config().Checkers[e.Table], w.config().VIP, w.config().Port)
		return failover.PathChecked{At: w.Clock.Now(), Table: e.Table, OK: err == nil, Error: text(err)}
	case failover.Wait:
		_ = w.Clock.Sleep(ctx, e.For) // an ended ctx is seen by drive
		return failover.Elapsed{At: w.Clock.Now()}
	}
	w.log.Error("the core asks for an effect that this runner does not know", "effect", fmt.Sprintf("%T", e))
	return nil
}

func (w *work) repair(ctx context.Context, e failover.Repair) failover.Event {
	was, err := w.Routes.Owner(ctx, e.Table, w.config().VIP)
	if err == nil {
		err = w.Routes.Move(ctx, e.Table, w.config().VIP, w.node(e.Node).ENI)
	}
	if err != nil {
		w.log.Warn("repairing a route failed", "table", e.Table, "epoch", e.Epoch, "error", err)
	}
	return failover.Repaired{At: w.Clock.Now(), Table: e.Table, Node: e.Node, Was: was, OK: err == nil, Error: text(err)}
}

// config is the operation's snapshot (R13), or what is declared now.
func (w *work) config() failover.Config {
	if w.state.Operation != nil {
		return w.state.Operation.Config
	}
	return w.state.Config
}

func (w *work) node(id string) failover.NodeConfig {
	n, _ := w.config().Node(id)
	return n
}

func (w *work) seal(ctx context.Context, e failover.Seal) failover.Event {
	ok, why, err := w.sealed(ctx, e)
	if err != nil {
		return failover.Sealed{At: w.Clock.Now(), Why: err.Error()}
	}
	return failover.Sealed{At: w.Clock.Now(), OK: ok, Why: why}
}

// sealed seals the lease. One that is evidence itself is sealed where it was
// seen to stand still, or not at all (R10).
func (w *work) sealed(ctx context.Context, e failover.Seal) (ok bool, why string, err error) {
	if w.still != nil && w.still.Epoch == e.Epoch && w.still.Holder == e.Node {
		return w.Leases.SealSeen(ctx, w.group, *w.still, e.OperationID)
	}
	return w.Store.Seal(ctx, w.group, e.Node, e.Epoch, e.OperationID)
}

func (w *work) unseal(ctx context.Context, e failover.Unseal) failover.Event {
	err := w.store(ctx, func(ctx context.Context) error { return w.Leases.Unseal(ctx, w.group, e.SealID) })
	if err != nil {
		w.log.Warn("unsealing the lease failed; the next look does it", "node", e.Node, "epoch", w.state.Epoch, "error", err)
	}
	return nil
}

// intent is a promotion that is on the record before its command is sent.
type intent struct {
	operation string
	attempt   int
}

// intended notes that this run put a promotion on the record: nobody can have
// sent its command before (R21).
func (w *work) intended(before, now *failover.Operation) {
	if before != nil && now != nil && before.ID == now.ID && now.Promotions == before.Promotions+1 {
		w.intends = intent{now.ID, now.Promotions}
	}
}

func (w *work) promote(ctx context.Context, e failover.Promote) failover.Event {
	result := w.Engine.Promote(ctx, Promotion{
		Group: w.group, Node: w.node(e.Node), Epoch: e.Epoch, OperationID: e.OperationID, Attempt: e.Attempt,
		CommandID: e.CommandID, First: e.CommandID == "" && w.intends == intent{e.OperationID, e.Attempt}, VIP: w.config().VIP, Deadline: e.Deadline, Settings: w.config().Settings, Force: e.Force, InOrder: e.InOrder,
		Other: w.node(w.config().Other(e.Node)),
	}, func(commandID string) { w.noteCommand(ctx, commandID) })
	return failover.Promoted{
		At: w.Clock.Now(), Node: e.Node, CommandID: result.CommandID, Outcome: result.Outcome, Role: result.Role,
		Code: result.Code, Detail: result.Detail, Next: result.Next,
	}
}

// noteCommand puts the command's id on the record, so that the next runner
// need not search for it (R21). It may fail: the comment finds it, too.
func (w *work) noteCommand(ctx context.Context, commandID string) {
	op := *w.state.Operation
	op.CommandID = commandID
	w.state.Operation = &op
	w.sign(0)
	if err := w.put(ctx); err != nil {
		w.log.Warn("noting the command failed", "operation", op.ID, "epoch", w.state.Epoch, "command", commandID, "error", err)
	}
}

// record appends to the history, and reports whether it is there.
func (w *work) record(ctx context.Context, e failover.Entry) bool {
	w.last = &e
	w.log.Info(e.Event, "operation", e.OperationID, "epoch", e.Epoch, "step", string(e.Step), "reason", e.Reason, "next", e.Next)
	var err error
	for range w.tries() {
		if err = w.store(ctx, func(ctx context.Context) error { return w.Store.Append(ctx, w.group, e) }); err == nil {
			if start := w.state.Start; start != nil && e.Event == start.Event && e.OperationID == start.OperationID {
				w.state.Start = nil
			}
			return true
		}
		if w.Clock.Sleep(ctx, retryPause) != nil {
			break
		}
	}
	w.log.Error("writing history failed", "operation", e.OperationID, "epoch", e.Epoch, "event", e.Event, "error", err)
	return false
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
