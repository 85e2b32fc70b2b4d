package failover

import (
	"fmt"
	"strings"
	"time"
)

// promotionTries bounds how often a promotion that certainly did not happen is
// tried again.
const promotionTries = 3

// promote asks the standby to become primary, if its window still allows it.
func (s State) promote(at time.Time) (State, []Effect) {
	op := s.Operation
	limit := op.Config.PromoteTimeout
	if !op.WindowEnd.IsZero() {
		left := op.WindowEnd.Sub(at)
		if left < op.Config.PromoteMargin {
			return s.restartOld(at, fmt.Sprintf("only %s of the window are left for a promotion", left.Round(time.Second)))
		}
		limit = min(limit, left)
	}
	s.enter(StepPromote, at, limit)
	op.Promotions++
	op.CommandID = ""
	// The node compares the deadline with its own clock, which may be behind.
	op.Promoting = op.Deadline.Add(op.Config.MaxClockOffset)
	return s, []Effect{s.stepped(at, "promote node "+op.To), s.promotion()}
}

// promoteAgain tries a promotion that certainly did not happen once more. It
// makes sure of the fence first: the old primary was read as leaving before the
// first try, and may have been started and be connected since. Promoted next to
// it, the standby would become a second writer (R15, R18).
func (s State) promoteAgain(at time.Time) (State, []Effect) {
	op := s.Operation
	op.Fence = FenceProgress{}
	s.enter(StepFence, at, op.Config.FenceTimeout)
	return s, []Effect{
		s.stepped(at, fmt.Sprintf("node %s was not promoted (%s); see that node %s is still down, and try again", op.To, orNone(op.LastResult), op.From)),
		ReadInstance{Node: op.From},
	}
}

func (s State) promotion() Effect {
	op := s.Operation
	return Promote{Node: op.To, Epoch: s.Epoch, OperationID: op.ID, Attempt: op.Promotions, CommandID: op.CommandID, Deadline: op.Deadline, Force: op.Force != WithinWindow, InOrder: op.Kind == Switchover}
}

// promoted: whatever the command said, the role that is read decides (R14, R23).
func (s State) promoted(e Promoted) (State, []Effect) {
	op := s.Operation
	if op.Step != StepPromote {
		return s, nil
	}
	op.CommandID = e.CommandID
	op.LastResult = strings.TrimSpace(e.Code + " " + e.Detail)
	switch {
	case e.Outcome != Unknown:
		op.Promoting = time.Time{} // it is over, one way or the other
	case !s.on(R23):
		return s.restartOld(e.At, "the outcome of the promotion is unknown: roll back")
	}
	limit := op.Config.PromoteTimeout
	s.enter(StepConfirm, e.At, limit)
	if e.Outcome == OK && e.Role == RolePrimary { // R14: it is read already
		step := s.stepped(e.At, fmt.Sprintf("the takeover command ended and read PRIMARY on node %s", op.To))
		next, effects := s.confirming(NodeRead{At: e.At, Observation: Observation{Node: op.To, Answer: Answered, Role: RolePrimary}})
		return next, append([]Effect{step}, effects...)
	}
	return s, []Effect{
		s.stepped(e.At, fmt.Sprintf("the takeover command ended (%s: %s); read the role of node %s", e.Outcome, orNone(op.LastResult), op.To)),
		s.readNode(op.To),
	}
}

// promoting reports whether an earlier command may still take effect (R22).
func (s State) promoting(at time.Time) bool {
	return s.on(R22) && at.Before(s.Operation.Promoting)
}

// confirming changes the recorded primary only once PRIMARY has been read (R14).
func (s State) confirming(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	switch {
	case o.Answer != Answered || o.Role != RolePrimary && o.Role != RoleStandby:
		// A database that went down since may have become primary before (R23).
		if op.ReadSince.IsZero() {
			op.ReadSince = e.At
		}
		if e.At.Sub(op.ReadSince) < op.Config.PromoteTimeout {
			return s.again()
		}
		return s.withdraw(e.At, fmt.Sprintf("the role of node %s can't be read since %s", op.To, stamp(op.ReadSince)))
	case o.Role == RolePrimary || !s.on(R14):
		s.Primary, s.Changed = op.To, e.At
		return s.redirect(e.At)
	case op.Kind == Adopt && !s.marked(op.From):
		return s.giveUp(e.At, fmt.Sprintf("node %s read PRIMARY and now reads %s", op.To, o.Role))
	case op.Kind == Adopt:
		return s.block(e.At, fmt.Sprintf("node %s read PRIMARY and now reads %s", op.To, orNone(string(o.Role))), fmt.Sprintf("hadr status %s, then: hadr resume %s; or give up: hadr cancel %s", s.Group, s.Group, s.Group))
	case s.promoting(e.At):
		return s.again()
	case op.Kind == Switchover:
		return s.notSwitched(e.At)
	case o.Role == RoleStandby && (s.fit(o) || op.Force != WithinWindow) && op.Promotions < promotionTries && (op.WindowEnd.IsZero() || op.WindowEnd.Sub(e.At) >= op.Config.PromoteMargin):
		return s.promoteAgain(e.At)
	}
	return s.restartOld(e.At, fmt.Sprintf("node %s was not promoted (%s) and can't be now: %s", op.To, orNone(op.LastResult), s.notAgain(e)))
}

// notAgain says why a promotion that did not happen is not tried again.
func (s State) notAgain(e NodeRead) string {
	op, o := s.Operation, e.Observation
	switch {
	case op.Force == WithinWindow && !s.fit(o):
		return "it is not fit any more" + because(o.FitnessWhy)
	case op.Promotions >= promotionTries:
		return fmt.Sprintf("it was tried %d times", op.Promotions)
	}
	return fmt.Sprintf("%s of the window are left", max(0, op.WindowEnd.Sub(e.At)).Round(time.Second))
}
