package failover

import (
	"fmt"
	"time"
)

// retried goes on with a blocked operation, from its step and with new time.
func (s State) retried(e Retried) (State, []Effect) {
	op := s.Operation
	if op == nil || op.Blocked == "" { // whoever began it may have died
		return s.takeUp(e.At)
	}
	entry := s.log(e.At, "step", fmt.Sprintf("%s goes on after: %s", e.Actor, op.Blocked))
	entry.Actor = e.Actor
	op.Blocked, op.Next, op.AwaitsStop = "", "", false
	s.Phase = op.Kind.phase()
	if op.Step == StepVerify && len(s.unmoved()) > 0 {
		op.Step = StepRedirect
	}
	op.Deadline = e.At.Add(s.limit(op.Step))
	op.Fence.Tries, op.ReadSince = 0, e.At
	if op.Step == StepFence {
		s.fence(e.At)
	}
	next, effects := s.resume(e.At)
	return next, append([]Effect{Record{Entry: entry}}, effects...)
}

func (s State) limit(step StepName) (d time.Duration) {
	c := s.Operation.Config
	switch step {
	case StepFence, StepFenced, StepWithdraw, StepVerify:
		return c.FenceTimeout
	case StepPromote, StepConfirm:
		return c.PromoteTimeout
	case StepRedirect:
		return c.RedirectTimeout
	case StepRestart:
		return bootLimit
	}
	return c.GatherTimeout * 3
}

// cancelled gives a blocked operation up where that leaves one clear primary:
// before anything was promoted, or after everything but routes is done.
func (s State) cancelled(e Cancelled) (State, []Effect) {
	op := s.Operation
	if op == nil || op.Blocked == "" {
		return s, nil
	}
	switch {
	case op.Step == StepRecheck, op.Step == StepFence, op.Step == StepFenced, op.Step == StepConfirm && op.Kind == Adopt:
		delete(s.Fenced, op.From)
	case op.Step == StepRestart: // the other node is not primary, or stopped and fenced
	case op.Step == StepVerify:
		if s.fenceOpen() {
			return s.notCancelled(e, "the old primary is not confirmed to be down, so two nodes may write")
		}
	default:
		return s.notCancelled(e, "the role of node "+op.To+" is not settled at step "+string(op.Step))
	}
	entry := s.log(e.At, "ended", fmt.Sprintf("%s cancelled it after: %s; node %s stays primary", e.Actor, op.Blocked, s.Primary))
	entry.Outcome, entry.Actor = "cancelled", e.Actor
	s.finish()
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

func (s State) notCancelled(e Cancelled, why string) (State, []Effect) {
	entry := s.log(e.At, "refused", "not cancelled: "+why)
	entry.Next, entry.Actor, entry.Outcome = s.Operation.Next, e.Actor, "refused"
	return s, []Effect{Record{Entry: entry}}
}
