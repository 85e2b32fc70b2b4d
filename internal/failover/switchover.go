package failover

import (
	"fmt"
	"time"
)

// SwitchAsked: a person wants the other node to be primary, while both are well.
type SwitchAsked struct {
	At          time.Time
	To          string
	OperationID string
	Actor       string
	Reason      string
}

func (SwitchAsked) isEvent() {}

// switchAsked starts a look at a group whose primary is to change in order.
func (s State) switchAsked(e SwitchAsked) (State, []Effect) {
	if op := s.Operation; op != nil && op.ID == e.OperationID {
		return s.takeUp(e.At)
	}
	s.Attempt = &Attempt{OperationID: e.OperationID, Suspect: s.Primary, Human: e.Actor, Switch: true, Since: e.At,
		Trigger: fmt.Sprintf("%s asks for node %s as primary: %s", e.Actor, e.To, e.Reason)}
	_, known := s.Config.Node(e.To)
	switch {
	case s.Operation != nil:
		return s.refuse(e.At, s.occupied())
	case !known:
		return s.refuse(e.At, Decision{Guard: GuardNotPrimary, Reason: fmt.Sprintf("there is no node %q", e.To), Next: "hadr status " + s.Group})
	case e.To == s.Primary:
		return s.refuse(e.At, Decision{Guard: GuardNotPrimary, Reason: fmt.Sprintf("node %s is the primary already, in epoch %d", e.To, s.Epoch), Next: "hadr status " + s.Group})
	}
	return s.look(e.At)
}

// switchable: both nodes answer, and the standby hears its primary: only then
// does a change of roles lose nothing and end soon.
func switchable(q question) *Decision {
	status := "hadr status " + q.state.Group
	switch {
	case !q.suspect.ServesAsPrimary():
		return &Decision{Verdict: Refuse, Guard: GuardServes,
			Reason: fmt.Sprintf("node %s reads role %s, database %s%s: that is a failure, not a switchover", q.suspect.Node, orNone(string(q.suspect.Role)), orNone(string(q.suspect.Database)), because(q.suspect.AnswerError)),
			Next:   fmt.Sprintf("hadr takeover %s --from %s --reason WHY", q.state.Group, q.suspect.Node)}
	case q.standby.PartnerLost:
		return &Decision{Verdict: Refuse, Guard: GuardFitness,
			Reason: fmt.Sprintf("node %s does not hear node %s (%s %s, silent for %s)", q.standby.Node, q.suspect.Node, q.standby.State, q.standby.PartnerStatus, q.standby.PartnerSilence.Round(time.Second)),
			Next:   status}
	case q.suspect.WaitsForStandby:
		return &Decision{Verdict: Refuse, Guard: GuardWaits,
			Reason: fmt.Sprintf("node %s waits for its standby (%s %s)", q.suspect.Node, q.suspect.State, q.suspect.PartnerStatus), Next: status}
	}
	return nil
}

// switched is the decision for a switchover that no guard speaks against.
func (q question) switched() Decision {
	return Decision{Verdict: Act, Guard: GuardNone, Evidence: q.evidence, Fencing: Strict,
		Reason: fmt.Sprintf("node %s serves and node %s is in step with it", q.suspect.Node, q.standby.Node)}
}

// recheckedSwitch promotes in order if the standby is still in step.
func (s State) recheckedSwitch(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	if o.Role != RoleStandby || o.Fitness != Fit || o.PartnerLost {
		return s.giveUp(e.At, fmt.Sprintf("node %s is not in step any more: role %s, %s %s%s", op.To, orNone(string(o.Role)), o.State, o.PartnerStatus, because(o.FitnessWhy)))
	}
	return s.promote(e.At)
}

// notSwitched ends a switchover that did not come about: both nodes have the
// roles that they had.
func (s State) notSwitched(at time.Time) (State, []Effect) {
	op := s.Operation
	s.enter(StepDone, at, 0)
	entry := s.log(at, "ended", fmt.Sprintf("node %s stays primary: node %s reads STANDBY after the command (%s)", op.From, op.To, orNone(op.LastResult)))
	entry.Outcome, entry.Next, entry.Phases = "given_up", "hadr status "+s.Group, op.Phases
	s.finish()
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}

// oldRead ends with one writer for certain: the old primary must not serve as
// primary any more.
func (s State) oldRead(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	if o.ServesAsPrimary() && !e.At.Before(op.Deadline) {
		n, _ := op.Config.Node(op.From)
		return s.block(e.At,
			fmt.Sprintf("two writers possible: nodes %s and %s both read PRIMARY after a switchover", op.From, op.To),
			fmt.Sprintf("find out which one clients write to, stop the other (aws ec2 stop-instances --instance-ids %s --force --skip-os-shutdown), then: hadr resume %s", n.Instance, s.Group))
	}
	op.OldSeen = o.Answer == Answered && !o.ServesAsPrimary() || e.At.After(op.Deadline)
	return s.verified(e.At)
}

// oldOpen reports whether the old primary's new role is still to be read.
func (s State) oldOpen() bool {
	return s.Operation.Kind == Switchover && !s.Operation.OldSeen
}
