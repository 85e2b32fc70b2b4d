package failover

import "time"

const (
	readPause = 2 * time.Second // between two reads of something that is expected to change
	bootLimit = 10 * time.Minute
)

// takeUp goes on with an operation that another runner may have left. In its
// first step that one may have died before it told of the start: a history must
// not have an end alone. The record knows a repetition.
func (s State) takeUp(at time.Time) (State, []Effect) {
	s.succeeded(at)
	next, effects := s.resume(at)
	op := next.Operation
	if next.Attempt != nil || op == nil || op.Blocked != "" || op.StepSince.After(op.Started) {
		return next, effects
	}
	return next, append(append(next.succession(), Record{Entry: next.Begun()}), effects...)
}

// resume issues the effects of the present step, again if need be: a runner
// may have died after any effect, so every step can be repeated (R21, R23).
func (s State) resume(at time.Time) (State, []Effect) {
	if s.Attempt != nil {
		return s.look(at)
	}
	op := s.Operation
	if op == nil || op.Blocked != "" {
		return s, nil
	}
	switch op.Step {
	case StepRecheck, StepConfirm:
		return s, []Effect{s.readNode(op.To)}
	case StepFence, StepFenced:
		return s, []Effect{ReadInstance{Node: op.From}}
	case StepBoot:
		return s, []Effect{ReadInstance{Node: op.From}}
	case StepReintegrate:
		return s, []Effect{s.reintegration()}
	case StepPeer:
		return s, []Effect{s.readNode(op.From)}
	case StepWithdraw:
		return s.readRoutes()
	case StepPromote:
		return s, []Effect{s.promotion()}
	case StepRedirect:
		return s.moveRoutes(at)
	case StepVerify:
		return s.verify(at)
	case StepRestart:
		return s.restart(at)
	}
	return s, nil
}

func (s State) readNode(node string) Effect {
	return ReadNode{Node: node, Timeout: s.Operation.Config.GatherTimeout}
}

func (s State) again() (State, []Effect) { return s, []Effect{Wait{For: readPause}} }

// instanceRead goes on where the state of a machine decides.
func (s State) instanceRead(e InstanceRead) (State, []Effect) {
	op := s.Operation
	s.noteFence(e)
	switch {
	case op.Step == StepFence && e.Node == op.From:
		return s.fencing(e)
	case op.Step == StepFenced && e.Node == op.From:
		return s.awaitFenced(e)
	case op.Step == StepWithdraw && e.Node == op.To:
		return s.withdrawing(e)
	case op.Step == StepVerify && e.Node == op.From:
		again := s.stopAgain(e)
		next, effects := s.verified(e.At)
		return next, append(again, effects...)
	case op.Step == StepRestart && e.Node == op.From:
		return s.restarting(e)
	case op.Step == StepRestart && e.Node == op.To:
		return s.partnerRead(e)
	case op.Step == StepBoot && e.Node == op.From:
		return s.booting(e)
	}
	return s, nil
}

// nodeRead goes on where a node's own view decides.
func (s State) nodeRead(e NodeRead) (State, []Effect) {
	op := s.Operation
	switch {
	case op.Step == StepRecheck && e.Observation.Node == op.To:
		return s.rechecked(e)
	case op.Step == StepRecheck && e.Observation.Node == op.From && op.Kind == Adopt:
		return s.overtaken(e)
	case op.Step == StepBoot && e.Observation.Node == op.To:
		return s.booted(e)
	case op.Step == StepVerify && e.Observation.Node == op.From:
		return s.oldRead(e)
	case op.Step == StepConfirm && e.Observation.Node == op.To:
		return s.confirming(e)
	case op.Step == StepRestart && e.Observation.Node == op.From:
		return s.restarted(e)
	case op.Step == StepPeer && e.Observation.Node == op.From:
		return s.peering(e)
	}
	return s, nil
}
