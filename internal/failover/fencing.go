package failover

import (
	"fmt"
	"strconv"
	"time"
)

const (
	stopTries = 12              // how often a stop is sent, within the step's deadline
	stopPause = 5 * time.Second // before a stop that shows no effect is sent again
)

// rechecked fences only if the standby is still fit (R20): a link that healed
// meanwhile may have put it back into catch-up, and then nobody would serve.
func (s State) rechecked(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	if o.Answer != Answered {
		if e.At.Before(op.Deadline) {
			return s.again()
		}
		return s.giveUp(e.At, fmt.Sprintf("node %s can't be read any more (%s)", op.To, orNone(o.AnswerError)))
	}
	if s.on(R7) && o.ServesAsPrimary() && !s.marked(op.To) { // an operator was faster
		op.Kind = Adopt
		return s, []Effect{s.readNode(op.From)}
	}
	switch {
	case op.Kind == Switchover:
		return s.recheckedSwitch(e)
	case op.Force != WithinWindow:
		return s.recheckedForced(e)
	}
	if s.on(R20) && (o.Role != RoleStandby || !s.fit(o)) {
		return s.giveUp(e.At, fmt.Sprintf("node %s is not a fit standby any more: role %s, %s", op.To, orNone(string(o.Role)), orNone(o.FitnessWhy)))
	}
	s.enter(StepFence, e.At, op.Config.FenceTimeout)
	return s, []Effect{s.stepped(e.At, "stop node "+op.From), ReadInstance{Node: op.From}}
}

// overtaken follows an operator who was faster than the fence. An old primary
// that does not read STANDBY now is fenced as a second one (R7).
func (s State) overtaken(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	if o.Answer == Answered && o.Role == RoleStandby {
		delete(s.Fenced, op.From)
		s.enter(StepConfirm, e.At, op.Config.PromoteTimeout)
		return s, []Effect{s.stepped(e.At, "node "+op.To+" reads PRIMARY: somebody took over by hand; follow it"), s.readNode(op.To)}
	}
	s.enter(StepFence, e.At, op.Config.FenceTimeout)
	return s, []Effect{s.stepped(e.At, "node "+op.To+" reads PRIMARY: somebody took over by hand; stop node "+op.From), ReadInstance{Node: op.From}}
}

// giveUp ends an operation that has touched nothing yet.
func (s State) giveUp(at time.Time, why string) (State, []Effect) {
	entry := s.log(at, "ended", "given up before the fence: "+why+"; node "+s.Operation.From+" was not touched")
	entry.Outcome, entry.Next, entry.Evidence = "given_up", "hadr status "+s.Group, s.Operation.Evidence
	if s.Operation.Force == WithinWindow { // else it was fenced before, by another operation
		delete(s.Fenced, s.Operation.From)
	}
	s.finish()
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// fencing stops the old primary and reads that the stop is accepted (R15).
func (s State) fencing(e InstanceRead) (State, []Effect) {
	op := s.Operation
	switch {
	case op.Force == AfterWindow && !s.stoppedSince(op.Started):
		return s.proofGone(e)
	case e.State.Leaving():
		return s.fenceAccepted(e.At)
	case e.At.After(op.Deadline) && !s.stopUntried(e.State):
		return s.block(e.At,
			fmt.Sprintf("the stop of node %s is not accepted: its machine reads %s; %s", op.From, machineReads(e.State, e.Error), s.withoutStop()),
			s.stopByHand(op.From))
	case e.State == InstanceUnknown && op.Fence.Tries == 0:
		return s.again()
	}
	if stop, due := s.stop(op.From, e.At); due {
		return s, []Effect{stop}
	}
	return s.again()
}

// stopUntried reports whether nobody has sent a stop in this step yet to a
// machine that runs: whoever was to do it died, and the step's time with him.
func (s State) stopUntried(m InstanceState) bool {
	return s.Operation.Fence.Tries == 0 && m.runs()
}

// stop is the stop of a machine that does not leave, where the last one was not
// sent a moment ago. The time of a step that is overdue at its first begins anew.
func (s State) stop(node string, at time.Time) (stop Effect, due bool) {
	f := &s.Operation.Fence
	if f.Tries >= stopTries || at.Sub(f.Sent) < stopPause {
		return nil, false
	}
	if f.Tries == 0 && at.After(s.Operation.Deadline) {
		s.Operation.Deadline = at.Add(s.Operation.Config.FenceTimeout)
	}
	f.Tries++
	f.Sent = at
	return Stop{Node: node, Epoch: s.Epoch}, true
}

// stopAgain stops the old primary once more where its machine, whose stop was
// accepted, reads as running: a person, or automatic recovery, has started it
// (R18). The look of every minute keeps away while an operation runs.
func (s State) stopAgain(e InstanceRead) []Effect {
	if !e.State.runs() || s.Operation.Fence.Accepted.IsZero() || !s.marked(e.Node) || !s.on(R18) {
		return nil
	}
	if stop, due := s.stop(e.Node, e.At); due {
		return []Effect{stop}
	}
	return nil
}

// stopRequested: a rejected stop never promotes (R15); an unknown outcome is
// resolved by reading (R23).
func (s State) stopRequested(e StopRequested) (State, []Effect) {
	op := s.Operation
	if !s.on(R15) && op.Step == StepFence {
		return s.fenceAccepted(e.At)
	}
	if op.Step == StepVerify { // what comes of it is read in the next round
		return s, nil
	}
	if e.Outcome == Failed && (op.Step == StepFence || op.Step == StepWithdraw) {
		if op.Step == StepFence {
			delete(s.Fenced, op.From)
		}
		return s.block(e.At,
			fmt.Sprintf("AWS rejected the stop of node %s: %s; %s", e.Node, e.Error, s.withoutStop()),
			s.stopByHand(e.Node))
	}
	return s, []Effect{ReadInstance{Node: e.Node}}
}

// withoutStop says what a stop that is not accepted holds back.
func (s State) withoutStop() string {
	op := s.Operation
	switch {
	case op.Step == StepWithdraw:
		return fmt.Sprintf("its role can't be read, so node %s was not started, because two nodes could write", op.From)
	case op.Kind == Adopt:
		return fmt.Sprintf("node %s is primary already, so two nodes may write", op.To)
	}
	return "nothing was promoted, because two nodes could write"
}

func (s State) stopByHand(node string) string {
	n, _ := s.Operation.Config.Node(node)
	next := fmt.Sprintf("aws ec2 stop-instances --instance-ids %s --force --skip-os-shutdown (lift stop protection first), then: hadr resume %s", n.Instance, s.Group)
	if s.Operation.Step == StepWithdraw { // can't be given up: either node may be primary
		return next
	}
	return fmt.Sprintf("%s; or give up: hadr cancel %s", next, s.Group)
}

// machineReads says what a machine reads, and why it can't be read.
func machineReads(m InstanceState, problem string) string {
	if problem == "" {
		return strconv.Quote(string(m))
	}
	return fmt.Sprintf("%q (%s)", m, problem)
}

func (s State) fenceAccepted(at time.Time) (State, []Effect) {
	op := s.Operation
	if op.Fence.Confirmed.IsZero() && op.Fencing != PeerWindow {
		s.enter(StepFenced, at, op.Config.FenceTimeout)
		return s, []Effect{s.stepped(at, "stop accepted; wait until node "+op.From+" is stopped (strict)"), ReadInstance{Node: op.From}}
	}
	return s.fenced(at)
}

// awaitFenced waits for the proof that nothing runs on the old primary (R16, R17).
func (s State) awaitFenced(e InstanceRead) (State, []Effect) {
	op := s.Operation
	switch {
	case s.confirmed(e.State):
		return s.fenced(e.At)
	case e.At.After(op.Deadline):
		n, _ := op.Config.Node(op.From)
		return s.block(e.At,
			fmt.Sprintf("the stop of node %s was accepted at %s, but its machine still reads %q: it may still write, so node %s was not promoted",
				op.From, stamp(op.Fence.Accepted), e.State, op.To),
			fmt.Sprintf("wait for or force the stop of %s (aws ec2 describe-instances --instance-ids %s), then: hadr resume %s", n.Instance, n.Instance, s.Group))
	}
	if again := s.stopAgain(e); again != nil {
		return s, again
	}
	return s.again()
}

func (s State) fenced(at time.Time) (State, []Effect) {
	if s.Operation.Kind == Adopt {
		s.enter(StepConfirm, at, s.Operation.Config.PromoteTimeout)
		return s, []Effect{s.stepped(at, "node "+s.Operation.From+" is fenced; read node "+s.Operation.To), s.readNode(s.Operation.To)}
	}
	return s.promote(at)
}

// confirmed reports whether nothing runs on a machine any more: a stop that is
// only accepted, or a network that is cut, is no proof of it (R17).
func (s State) confirmed(m InstanceState) bool { return m.Down() || !s.on(R17) && m.Leaving() }

// marked reports whether a node is marked as not to run.
func (s State) marked(node string) bool {
	_, marked := s.Fenced[node]
	return marked
}

// noteFence keeps what is known of the fence (R17: only what is read counts).
func (s *State) noteFence(e InstanceRead) {
	op := s.Operation
	if e.Node != op.From || op.Step == StepRestart || op.Kind == Rejoin {
		return
	}
	if e.State.Leaving() && op.Fence.Accepted.IsZero() {
		op.Fence.Accepted = e.At
	}
	if s.confirmed(e.State) && op.Fence.Confirmed.IsZero() {
		op.Fence.Confirmed = e.At
	}
	s.noteMachine(op.From, e.State, e.At)
}

// noteMachine keeps since when a fenced node is certainly down.
func (s *State) noteMachine(node string, machine InstanceState, at time.Time) {
	f, fenced := s.Fenced[node]
	switch {
	case !fenced:
		return
	case s.confirmed(machine) && f.ConfirmedAt.IsZero():
		f.Confirmed, f.ConfirmedAt = true, at
	case machine == InstanceRunning, machine == InstancePending: // somebody started it
		f.Confirmed, f.ConfirmedAt = false, time.Time{}
	default:
		return
	}
	s.Fenced[node] = f
}
