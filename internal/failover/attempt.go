package failover

import (
	"fmt"
	"slices"
	"time"
)

// gatherPause lies between two looks at the evidence while an event waits for
// a second signal.
const gatherPause = 5 * time.Second

// alarmed starts a look at a group whose alarm went off.
func (s State) alarmed(e Alarmed) (State, []Effect) {
	if op := s.Operation; s.on(R2) && op != nil && op.ID == e.OperationID {
		return s.takeUp(e.At) // R2: a redelivery goes on with its operation
	}
	reason := s.ignores(e)
	if s.on(R2) && slices.Contains(s.Ended, e.OperationID) {
		reason = fmt.Sprintf("operation %s of this event has ended", e.OperationID)
	}
	if reason != "" {
		entry := Entry{At: e.At, OperationID: e.OperationID, Event: "ignored", Epoch: s.Epoch, From: e.Node, Reason: reason, Actor: e.Alarm}
		return s, []Effect{Record{Entry: entry}}
	}
	trigger := "alarm " + e.Alarm
	if e.Reason != "" {
		trigger += ": " + e.Reason
	}
	s.Attempt = &Attempt{OperationID: e.OperationID, Suspect: e.Node, Alarm: e.Alarm, Trigger: trigger, Since: e.At}
	return s.look(e.At)
}

// ignores says why an alarm starts nothing, "" if it does.
func (s State) ignores(e Alarmed) string {
	switch {
	case s.busy():
		if s.Phase == Blocked {
			return fmt.Sprintf("operation %s is blocked: %s", s.Operation.ID, s.Operation.Blocked)
		}
		return fmt.Sprintf("operation %s (%s to %s) is running already", s.Operation.ID, s.Operation.Kind, s.Operation.To)
	case e.Node != s.Primary:
		return fmt.Sprintf("standby unhealthy: node %s is not the primary (node %s is, epoch %d); nothing to take over", e.Node, s.Primary, s.Epoch)
	case s.on(R3) && !s.Changed.IsZero() && e.Changed.Before(s.Changed):
		return fmt.Sprintf("stale: the alarm changed at %s, before node %s became primary at %s", stamp(e.Changed), s.Primary, stamp(s.Changed))
	}
	return ""
}

// busy reports whether an operation runs that a takeover must not interrupt. A
// rejoin, and a group that is blocked on a route only, don't count (R30).
func (s State) busy() bool {
	return s.Operation != nil && (!s.on(R30) || !s.RouteOnly() && s.Operation.Kind != Rejoin)
}

// asked starts a look at a group on a human's word.
func (s State) asked(e Asked) (State, []Effect) {
	if op := s.Operation; op != nil && op.ID == e.OperationID {
		return s.takeUp(e.At)
	}
	s.Attempt = &Attempt{OperationID: e.OperationID, Suspect: e.Node, Human: e.Actor, Trigger: fmt.Sprintf("%s asks: %s", e.Actor, e.Reason), Since: e.At, Force: e.Force}
	switch {
	case s.busy():
		return s.refuse(e.At, s.occupied())
	case e.Node != s.Primary:
		return s.refuse(e.At, Decision{
			Guard:  GuardNotPrimary,
			Reason: fmt.Sprintf("node %s is not the primary; node %s is, epoch %d", e.Node, s.Primary, s.Epoch),
			Next:   "hadr status " + s.Group,
		})
	}
	return s.look(e.At)
}

// occupied words an operation that is in the way, and what becomes of it.
func (s State) occupied() Decision {
	op := s.Operation
	d := Decision{Guard: GuardBusy, Reason: fmt.Sprintf("operation %s is at step %s", op.ID, op.Step), Next: "hadr history " + s.Group}
	if op.Blocked != "" {
		d.Reason, d.Next = fmt.Sprintf("operation %s is blocked: %s", op.ID, op.Blocked), op.Next
	}
	return d
}

// look gathers what is known of both nodes (R4).
func (s State) look(time.Time) (State, []Effect) {
	a := s.Attempt
	return s, []Effect{Gather{
		Nodes:   []string{a.Suspect, s.Config.Other(a.Suspect)},
		Suspect: a.Suspect,
		Alarm:   a.Alarm,
		Timeout: s.Config.GatherTimeout,
	}}
}

// gathered decides on what was gathered.
func (s State) gathered(e Gathered) (State, []Effect) {
	if s.Attempt == nil {
		return s, nil
	}
	d := Decide(s, e)
	s.Attempt.Evidence = d.Evidence
	switch d.Verdict {
	case Hold:
		if e.At.Add(gatherPause).Before(s.Attempt.Since.Add(s.Config.EvidenceWait)) {
			return s, []Effect{Wait{For: gatherPause}}
		}
		return s.refuse(e.At, d)
	case Refuse:
		return s.refuse(e.At, d)
	case Ask:
		return s.askApproval(e.At, d)
	}
	s.Attempt.Fencing, s.Attempt.WindowEnd, s.Attempt.FenceOld = d.Fencing, d.WindowEnd, d.FenceOld
	if d.Verdict == Follow {
		s.Attempt.Force = WithinWindow // it is primary already: nothing is forced
	}
	s.Attempt.Kind = map[Verdict]Kind{Act: Takeover, Follow: Adopt, StartAgain: Restart}[d.Verdict]
	if s.Attempt.Switch && d.Verdict == Act {
		s.Attempt.Kind = Switchover
	}
	if s.Config.Policy == Observe && s.Attempt.Human == "" {
		return s.wouldHaveActed(e.At, d)
	}
	return s, []Effect{Seal{Node: s.Attempt.Suspect, Epoch: s.Epoch, OperationID: s.Attempt.OperationID}}
}

// refuse ends a look without action, with its reason and the next command.
func (s State) refuse(at time.Time, d Decision) (State, []Effect) {
	a := s.Attempt
	if s.silenced(at, d.Guard) {
		return s.goOn(at)
	}
	entry := Entry{
		At: at, OperationID: a.OperationID, Event: "refused", Kind: Takeover, Epoch: s.Epoch,
		From: a.Suspect, To: s.Config.Other(a.Suspect),
		Reason: fmt.Sprintf("%s: %s", d.Guard, d.Reason), Next: d.Next, Evidence: a.Evidence,
		Outcome: "refused", Actor: a.Trigger,
	}
	return s.goOn(at, Record{Entry: entry}, Notify{Entry: entry})
}

// goOn ends a look and goes on with the rejoin that it has interrupted, if there
// is one: what watch and agents look at has no other runner.
func (s State) goOn(at time.Time, told ...Effect) (State, []Effect) {
	looked := s.Attempt.Watch
	s.Attempt = nil
	if !looked {
		return s, told
	}
	next, effects := s.takeUp(at)
	return next, append(told, effects...)
}

// wouldHaveActed tells once what policy observe leaves undone: the next look
// would say the same.
func (s State) wouldHaveActed(at time.Time, d Decision) (State, []Effect) {
	a := s.Attempt
	if s.silenced(at, GuardPolicy) {
		return s.goOn(at)
	}
	entry := Entry{
		At: at, OperationID: a.OperationID, Event: "would_have_acted", Kind: Takeover, Epoch: s.Epoch,
		From: a.Suspect, To: s.Config.Other(a.Suspect),
		Reason: "policy observe: " + d.Reason, Next: fmt.Sprintf("hadr takeover %s --from %s --reason WHY", s.Group, a.Suspect),
		Evidence: a.Evidence, Outcome: "observed", Actor: a.Trigger,
	}
	return s.goOn(at, Record{Entry: entry}, Notify{Entry: entry})
}

// sealed claims the group once the old primary's lease can't be renewed (R10).
func (s State) sealed(e Sealed) (State, []Effect) {
	a := s.Attempt
	if a == nil || a.Kind == "" { // nothing was decided yet: an answer to somebody else
		return s, nil
	}
	if !e.OK {
		return s.refuse(e.At, Decision{
			Guard:  GuardLease,
			Reason: "the lease of node " + a.Suspect + " could not be sealed, so it may be alive: " + e.Why,
			Next:   "hadr status " + s.Group,
		})
	}
	to := s.Config.Other(a.Suspect)
	replaced := s.replaced()
	if s.sealedLate(e.At) {
		a.Fencing = Strict
	}
	s.Epoch++
	s.Phase, s.Pending = a.Kind.phase(), nil
	if a.Kind == Takeover {
		// It is read as a fit standby, so it is back, whatever a rejoin that
		// was still under way would have said (R30).
		delete(s.Fenced, to)
	}
	s.Operation = &Operation{
		ID: a.OperationID, Kind: a.Kind, From: a.Suspect, To: to,
		Step: StepRecheck, Attempt: 1, Started: e.At, StepSince: e.At, Deadline: e.At.Add(s.Config.GatherTimeout * 3),
		Trigger: a.Trigger, Evidence: a.Evidence, Config: s.Config, Routes: map[string]Redirect{},
		Fencing: a.Fencing, Force: a.Force, WindowEnd: a.WindowEnd, Replaced: replaced,
		Phases: []PhaseTime{{Step: "decide", Start: a.Since, End: e.At}},
	}
	switch {
	case a.Kind == Switchover: // nobody is fenced
	case a.Kind == Restart:
		s.Operation.Step, s.Operation.Deadline = StepRestart, e.At.Add(bootLimit)
	case a.Kind == Adopt && !a.FenceOld:
		s.Operation.Step = StepConfirm
	case a.Kind == Adopt:
		s.Operation.Step, s.Operation.Deadline = StepFence, e.At.Add(s.Config.FenceTimeout)
		s.fence(e.At)
	default:
		s.fence(e.At)
	}
	return s, []Effect{Claim{}}
}

// fence marks the old primary as not to run, before anything is promoted (R18).
func (s *State) fence(at time.Time) {
	s.mark(s.Operation.From, at)
}

func (s *State) mark(node string, at time.Time) {
	if !s.on(R18) {
		return
	}
	if s.Fenced == nil {
		s.Fenced = map[string]Fence{}
	}
	was := s.Fenced[node] // what is known of its machine stays true
	s.Fenced[node] = Fence{Epoch: s.Epoch, Method: "stop", At: at, Confirmed: was.Confirmed, ConfirmedAt: was.ConfirmedAt}
}

// claimed starts the operation, or steps back for whoever won the race.
func (s State) claimed(e Claimed) (State, []Effect) {
	if !e.OK {
		if e.State == nil {
			return s, nil
		}
		lost := *e.State
		lost.Off = s.Off
		if s.mayClaimAgain(lost) {
			lost.Attempt = s.Attempt
			lost.Attempt.Claims++
			return lost.look(e.At)
		}
		entry := Entry{At: e.At, Event: "ignored", Epoch: lost.Epoch, Reason: "not claimed: " + e.Why}
		if s.Operation != nil {
			entry.OperationID, entry.From, entry.To = s.Operation.ID, s.Operation.From, s.Operation.To
		}
		return lost, []Effect{Record{Entry: entry}}
	}
	if s.Operation == nil {
		return s, nil
	}
	s.Attempt = nil
	entry := s.Begun()
	next, effects := s.resume(e.At)
	return next, append(append(s.succession(), Record{Entry: entry}, Notify{Entry: entry}), effects...)
}

// replaced is what has to be told of an operation that is still on the record
// when another one is claimed.
func (s State) replaced() *Replaced {
	op := s.Operation
	if op == nil {
		return nil
	}
	return &Replaced{ID: op.ID, Kind: op.Kind, From: op.From, To: op.To, Step: op.Step, Blocked: op.Blocked}
}

// succession ends the operation whose place the running one took: a history must
// not have a start alone.
func (s State) succession() []Effect {
	op := s.Operation
	if op == nil || op.Replaced == nil {
		return nil
	}
	r := *op.Replaced
	why := fmt.Sprintf("operation %s (%s) takes its place", op.ID, op.Kind)
	if r.Blocked != "" {
		why += "; it was blocked: " + r.Blocked
	}
	var told []Effect
	if r.Start != nil {
		told = append(told, Record{Entry: *r.Start})
	}
	return append(told, Record{Entry: Entry{
		At: op.Started, OperationID: r.ID, Event: "ended", Kind: r.Kind, Epoch: s.Epoch, From: r.From, To: r.To, Step: r.Step,
		Reason: why, Outcome: "replaced", Actor: op.Trigger,
	}})
}

// Begun is the entry that tells of the operation's start.
func (s State) Begun() Entry {
	op := s.Operation
	what := fmt.Sprintf("takeover from %s to %s, fencing %s", op.From, op.To, op.Fencing)
	switch op.Force {
	case AfterWindow:
		what += ", after the window: the old primary was stopped within it, so nothing is lost"
	case DataLoss:
		what += ", BY FORCE: a person accepts that commits may be lost"
	}
	switch op.Kind {
	case Switchover:
		what = fmt.Sprintf("switchover from %s to %s, in order", op.From, op.To)
	case Adopt:
		what = fmt.Sprintf("node %s is primary already (an operator's takeover): follow it", op.To)
	case Rejoin:
		what = fmt.Sprintf("bring node %s back as standby of node %s", op.From, op.To)
	case Restart:
		what = fmt.Sprintf("start the database of node %s again in place, as node %s can't take over", op.From, op.To)
	}
	entry := s.log(op.Started, "started", what)
	entry.Evidence, entry.Actor, entry.Phases = op.Evidence, op.Trigger, op.Phases
	return entry
}

// claimTries bounds how often a claim is tried on a record that keeps changing.
const claimTries = 3

// mayClaimAgain: somebody else wrote to the record, but neither claimed the
// group nor changed its primary; a rejoin may have gone on (R30). Then every
// guard is asked again.
func (s State) mayClaimAgain(now State) bool {
	return s.Attempt != nil && s.Attempt.Claims+1 < claimTries &&
		!now.busy() && now.Primary == s.Primary && now.Epoch+1 == s.Epoch
}

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.0Z") }
