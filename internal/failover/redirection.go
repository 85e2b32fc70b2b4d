package failover

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// redirect leads clients to the new primary, after its role was read (R25).
func (s State) redirect(at time.Time) (State, []Effect) {
	op := s.Operation
	s.enter(StepRedirect, at, op.Config.RedirectTimeout)
	step := s.stepped(at, fmt.Sprintf("node %s reads PRIMARY and is the recorded primary of epoch %d; lead the endpoint to it", op.To, s.Epoch))
	next, effects := s.moveRoutes(at)
	return next, append([]Effect{step}, effects...)
}

// moveRoutes tries every route that does not lead to the new primary yet: one
// that is denied holds up no other (R26).
func (s State) moveRoutes(at time.Time) (State, []Effect) {
	op := s.Operation
	var effects []Effect
	for _, table := range s.tables() {
		if !op.Routes[table].Moved && (s.on(R26) || len(effects) == 0) {
			effects = append(effects, MoveRoute{Table: table, Node: op.To, Epoch: s.Epoch, Deadline: op.Deadline})
		}
	}
	op.Pending = len(effects)
	if len(effects) == 0 {
		return s.enterVerify(at)
	}
	return s, effects
}

func (s State) tables() []string {
	if s.Operation.Config.VIP == "" {
		return nil
	}
	return slices.Sorted(slices.Values(s.Operation.Config.Routes))
}

func (s State) routeMoved(e RouteMoved) (State, []Effect) {
	op := s.Operation
	if op.Step != StepRedirect || !slices.Contains(op.Config.Routes, e.Table) {
		return s, nil
	}
	r := op.Routes[e.Table]
	r.Moved, r.Error = r.Moved || e.OK, e.Error
	r.Tries++
	op.Routes[e.Table] = r
	op.Pending--
	switch {
	case op.Pending > 0:
		return s, nil
	case len(s.unmoved()) > 0 && e.At.Before(op.Deadline):
		return s.again()
	}
	return s.enterVerify(e.At)
}

func (s State) unmoved() []string {
	var tables []string
	for _, table := range s.tables() {
		if !s.Operation.Routes[table].Moved {
			tables = append(tables, table)
		}
	}
	return tables
}

func (s State) enterVerify(at time.Time) (State, []Effect) {
	op := s.Operation
	limit := op.Config.FenceTimeout
	if !op.WindowEnd.IsZero() && op.Fence.Confirmed.IsZero() {
		// R16: an unconfirmed fence must be loud before the old primary's own
		// window ends and it may write again.
		limit = max(0, min(limit, op.WindowEnd.Sub(at)-op.Config.PromoteMargin))
	}
	s.enter(StepVerify, at, limit)
	step := s.stepped(at, "check the way through every route table and that the old primary is down")
	next, effects := s.verify(at)
	return next, append([]Effect{step}, effects...)
}

// verify reads what is still open: the fence and the data path.
func (s State) verify(at time.Time) (State, []Effect) {
	op := s.Operation
	var effects []Effect
	if s.fenceOpen() {
		effects = append(effects, ReadInstance{Node: op.From})
	}
	for _, table := range s.unchecked() {
		effects = append(effects, CheckPath{Table: table, Node: op.To})
	}
	if s.oldOpen() {
		effects = append(effects, s.readNode(op.From))
	}
	op.Pending = len(effects)
	if len(effects) == 0 {
		return s.settle(at)
	}
	return s, effects
}

// fenceOpen reports whether the old primary's stop is still to be confirmed.
func (s State) fenceOpen() bool {
	return s.marked(s.Operation.From) && s.Operation.Fence.Confirmed.IsZero()
}

// unchecked are the moved routes whose data path can be tried and was not seen
// to work yet.
func (s State) unchecked() []string {
	if !s.on(R25) {
		return nil
	}
	var tables []string
	for _, table := range s.tables() {
		r := s.Operation.Routes[table]
		if s.Operation.Config.Checkers[table] != "" && r.Moved && !r.Verified {
			tables = append(tables, table)
		}
	}
	return tables
}

func (s State) pathChecked(e PathChecked) (State, []Effect) {
	op := s.Operation
	if op.Step != StepVerify || !slices.Contains(op.Config.Routes, e.Table) {
		return s, nil
	}
	r := op.Routes[e.Table]
	r.Verified, r.Error = r.Verified || e.OK, e.Error
	op.Routes[e.Table] = r
	return s.verified(e.At)
}

// verified counts one answer of a round of checks.
func (s State) verified(at time.Time) (State, []Effect) {
	op := s.Operation
	op.Pending--
	switch {
	case op.Pending > 0:
		return s, nil
	case (s.fenceOpen() || s.oldOpen() || len(s.unchecked()) > 0) && at.Before(op.Deadline):
		return s.again()
	}
	return s.settle(at)
}

// settle ends the operation, or says what is missing.
func (s State) settle(at time.Time) (State, []Effect) {
	op := s.Operation
	from, _ := op.Config.Node(op.From)
	if s.fenceOpen() {
		if next, effects, begun := s.isolate(at); begun {
			return next, effects
		}
		return s.block(at,
			strings.TrimSuffix(fmt.Sprintf("two writers possible: node %s is primary, but node %s is not confirmed to be down (stop accepted %s); %s", op.To, op.From, stamp(op.Fence.Accepted), op.Isolated), "; "),
			fmt.Sprintf("make sure that %s is stopped (aws ec2 describe-instances --instance-ids %s; kill the database there: %s), then: hadr resume %s", from.Instance, from.Instance, s.manual().Kill, s.Group))
	}
	if unmoved := s.unmoved(); len(unmoved) > 0 {
		to, _ := op.Config.Node(op.To)
		return s.block(at,
			fmt.Sprintf("node %s is primary and serves, but %s could not be led to it: %s", op.To, strings.Join(unmoved, ", "), op.Routes[unmoved[0]].Error),
			fmt.Sprintf("aws ec2 replace-route --route-table-id %s --destination-cidr-block %s/32 --network-interface-id %s, then: hadr resume %s", unmoved[0], op.Config.VIP, to.ENI, s.Group))
	}
	if broken := s.unchecked(); len(broken) > 0 {
		return s.block(at,
			fmt.Sprintf("node %s is primary and its routes are set, but no connection to %s:%d works through %s: %s", op.To, op.Config.VIP, op.Config.Port, strings.Join(broken, ", "), op.Routes[broken[0]].Error),
			fmt.Sprintf("check security groups, the listener and that %s is bound on node %s (ip addr), then: hadr resume %s", op.Config.VIP, op.To, s.Group))
	}
	return s.end(at, "ok", fmt.Sprintf("node %s is primary in epoch %d", op.To, s.Epoch))
}

// endedKept is how many ended operations the record knows. While an alarm stays
// red, the looks of every minute can end one each; an event is delivered again for
// six minutes at most, and by some services a little longer.
const endedKept = 32

// finish leaves the group steady, and remembers whose event is over (R2).
func (s *State) finish() {
	known := s.Ended[max(0, len(s.Ended)-endedKept+1):]
	s.Ended = append(slices.Clip(known), s.Operation.ID)
	s.Operation, s.Phase = nil, Steady
}

// end finishes the operation.
func (s State) end(at time.Time, outcome, reason string) (State, []Effect) {
	op := s.Operation
	s.enter(StepDone, at, 0)
	entry := s.log(at, "ended", reason)
	entry.Outcome, entry.Phases, entry.Evidence = outcome, op.Phases, op.Evidence
	s.finish()
	s.Cooldown = at.Add(op.Config.Cooldown)
	if op.Kind == Switchover { // R30: whoever asked for it has seen it
		s.Cooldown = time.Time{}
	}
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}
