package failover

import (
	"fmt"
	"time"
)

// Pending is a takeover that every guard agreed to and that waits for a person,
// because the policy is approval. It is bound to its operation and epoch (R9).
type Pending struct {
	OperationID string
	Epoch       uint64
	From        string
	Alarm       string // ARN to read again, "" = none
	Trigger     string
	Since       time.Time
	Expires     time.Time // after it, the window would be too short
}

// approvalLimit bounds an approval where no window does.
const approvalLimit = 10 * time.Minute

// Approved: a person agrees to a takeover that waits.
type Approved struct {
	At          time.Time
	OperationID string
	Actor       string
}

// Acknowledged: a person has seen the last takeover, so that the next failure
// need not wait for the end of the cool-down (R30).
type Acknowledged struct {
	At    time.Time
	Actor string
}

func (Approved) isEvent()     {}
func (Acknowledged) isEvent() {}

// waits reports whether a takeover waits for a person now.
func (s State) waits(at time.Time) bool {
	p := s.Pending
	return p != nil && p.Epoch == s.Epoch && p.From == s.Primary && at.Before(p.Expires)
}

// askApproval records that a person is needed, once per operation.
func (s State) askApproval(at time.Time, d Decision) (State, []Effect) {
	a := s.Attempt
	s.Attempt = nil
	if s.waits(at) {
		entry := Entry{At: at, OperationID: a.OperationID, Event: "ignored", Epoch: s.Epoch, From: a.Suspect, Actor: a.Trigger,
			Reason: fmt.Sprintf("operation %s waits for approval until %s already", s.Pending.OperationID, stamp(s.Pending.Expires))}
		if a.Watch {
			return s, nil
		}
		return s, []Effect{Record{Entry: entry}}
	}
	s.Pending = &Pending{
		OperationID: a.OperationID, Epoch: s.Epoch, From: a.Suspect, Alarm: a.Alarm, Trigger: a.Trigger, Since: at,
		Expires: s.approvalEnd(at, d),
	}
	entry := Entry{
		At: at, OperationID: a.OperationID, Event: "approval_wanted", Kind: Takeover, Epoch: s.Epoch,
		From: a.Suspect, To: s.Config.Other(a.Suspect), Outcome: "waiting", Actor: a.Trigger, Evidence: d.Evidence,
		Reason: fmt.Sprintf("%s; it waits for a person until %s", d.Reason, stamp(s.Pending.Expires)),
		Next:   fmt.Sprintf("hadr approve %s --operation %s", s.Group, a.OperationID),
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// approvalEnd is when too little of the window would be left for what an
// approval begins.
func (s State) approvalEnd(at time.Time, d Decision) time.Time {
	if d.WindowEnd.IsZero() {
		return at.Add(approvalLimit)
	}
	return d.WindowEnd.Add(-s.Config.PromoteDelay - s.Config.PromoteMargin)
}

// approved asks every guard again: what was so when the approval was asked for
// need not be so any more (R9).
func (s State) approved(e Approved) (State, []Effect) {
	p := s.Pending
	refuse := func(why string) (State, []Effect) {
		entry := Entry{At: e.At, OperationID: e.OperationID, Event: "refused", Kind: Takeover, Epoch: s.Epoch, From: s.Primary, Outcome: "refused", Actor: e.Actor,
			Reason: "not approved: " + why, Next: "hadr status " + s.Group}
		return s, []Effect{Record{Entry: entry}}
	}
	if op := s.Operation; op != nil {
		if op.ID == e.OperationID {
			return s.takeUp(e.At)
		}
		if s.busy() {
			return refuse(fmt.Sprintf("operation %s is at step %s", op.ID, op.Step))
		}
	}
	switch {
	case p == nil || p.OperationID != e.OperationID:
		return refuse(fmt.Sprintf("no takeover %s waits for approval", e.OperationID))
	case s.on(R9) && (p.Epoch != s.Epoch || p.From != s.Primary):
		return refuse(fmt.Sprintf("it was for node %s in epoch %d; now node %s is primary in epoch %d", p.From, p.Epoch, s.Primary, s.Epoch))
	case s.on(R9) && !e.At.Before(p.Expires):
		return refuse(fmt.Sprintf("it had to be given until %s, as too little of the window is left after that", stamp(p.Expires)))
	}
	s.Pending = nil
	s.Attempt = &Attempt{OperationID: p.OperationID, Suspect: p.From, Alarm: p.Alarm, Approver: e.Actor, Since: e.At,
		Trigger: fmt.Sprintf("%s, approved by %s", p.Trigger, e.Actor)}
	return s.look(e.At)
}

func (s State) acknowledged(e Acknowledged) (State, []Effect) {
	entry := Entry{At: e.At, Event: "acknowledged", Epoch: s.Epoch, To: s.Primary, Outcome: "acknowledged", Actor: e.Actor,
		Reason: fmt.Sprintf("%s has seen the takeover by node %s; the next failure does not wait for the end of the cool-down at %s", e.Actor, s.Primary, stamp(s.Cooldown))}
	if !e.At.Before(s.Cooldown) {
		entry.Event, entry.Outcome, entry.Reason, entry.Next = "refused", "refused", "no cool-down is in force", "hadr status "+s.Group
		return s, []Effect{Record{Entry: entry}}
	}
	s.Cooldown = time.Time{}
	return s, []Effect{Record{Entry: entry}}
}
