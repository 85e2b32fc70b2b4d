package failover

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// Step returns the state of a group after an event, and what to do now.
//
// Whoever calls it saves a changed state before it runs the effects, and feeds
// the results of the effects back as events. Events that mean nothing in the
// present state change nothing: all of them may come late, twice or never.
func Step(s State, e Event) (State, []Effect) {
	s = s.clone()
	s.Config = s.Config.WithDefaults()
	switch e := e.(type) {
	case Alarmed:
		return s.alarmed(e)
	case Asked:
		return s.asked(e)
	case Reported:
		return s.reported(e)
	case Gathered:
		return s.gathered(e)
	case Sealed:
		return s.sealed(e)
	case Claimed:
		return s.claimed(e)
	case Resumed:
		if s.Operation != nil && s.Operation.Force != WithinWindow {
			return s, nil // R19: only a person goes on with it
		}
		return s.takeUp(e.At)
	case Elapsed:
		return s.resume(e.At)
	case Watched:
		return s.watched(e)
	case Repaired:
		return s.repaired(e)
	case RejoinAsked:
		return s.rejoinAsked(e)
	case SwitchAsked:
		return s.switchAsked(e)
	case Approved:
		return s.approved(e)
	case Acknowledged:
		return s.acknowledged(e)
	case ReleaseAsked:
		return s.releaseAsked(e)
	case Retried:
		return s.retried(e)
	case Cancelled:
		return s.cancelled(e)
	}
	if s.Operation == nil || s.Operation.Blocked != "" {
		return s, nil
	}
	switch e := e.(type) {
	case StopRequested:
		return s.stopRequested(e)
	case InstanceRead:
		return s.instanceRead(e)
	case NodeRead:
		return s.nodeRead(e)
	case Promoted:
		return s.promoted(e)
	case RouteMoved:
		return s.routeMoved(e)
	case RouteRead:
		return s.routeRead(e)
	case PathChecked:
		return s.pathChecked(e)
	case Started:
		return s.started()
	case GroupsRead:
		return s.groupsRead(e)
	case GroupsSet:
		return s.groupsSet(e)
	case Reintegrated:
		return s.reintegrated(e)
	}
	return s, nil
}

// clone copies what Step may change, so that the caller's state stays as it is.
func (s State) clone() State {
	s.Fenced = maps.Clone(s.Fenced)
	if s.Operation != nil {
		op := *s.Operation
		op.Routes = maps.Clone(op.Routes)
		op.Phases = slices.Clone(op.Phases)
		s.Operation = &op
	}
	if s.Attempt != nil {
		a := *s.Attempt
		a.Evidence = slices.Clone(a.Evidence)
		s.Attempt = &a
	}
	return s
}

// enter moves the operation to a step and notes how long the last one took.
func (s *State) enter(step StepName, at time.Time, limit time.Duration) {
	op := s.Operation
	op.Phases = append(op.Phases, PhaseTime{Step: op.Step, Start: op.StepSince, End: at})
	op.Step, op.StepSince, op.Deadline = step, at, at.Add(limit)
	op.Attempt = 1
	op.ReadSince = time.Time{}
}

// log is an entry of the history about the running operation.
func (s State) log(at time.Time, event, reason string) Entry {
	e := Entry{At: at, Event: event, Epoch: s.Epoch, Reason: reason}
	if op := s.Operation; op != nil {
		e.OperationID, e.Kind, e.From, e.To, e.Step = op.ID, op.Kind, op.From, op.To, op.Step
	}
	return e
}

// stepped is the Record of an operation that enters its present step.
func (s State) stepped(at time.Time, reason string) Effect {
	return Record{Entry: s.log(at, "step", reason)}
}

// block stops the operation with a reason and a way out (rule 5 of the design:
// no state without exit).
func (s State) block(at time.Time, reason, next string) (State, []Effect) {
	s.Operation.Blocked, s.Operation.Next = reason, next
	s.Phase = Blocked
	entry := s.log(at, "blocked", reason)
	entry.Next, entry.Evidence, entry.Outcome = next, s.Operation.Evidence, "blocked"
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// RouteOnly reports whether a blocked group serves from its recorded primary
// and only some route does not lead there yet. It may be taken over again
// (R26, R30).
func (s State) RouteOnly() bool {
	return s.Phase == Blocked && s.Operation != nil && s.Operation.Step == StepVerify && s.Primary == s.Operation.To
}

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
