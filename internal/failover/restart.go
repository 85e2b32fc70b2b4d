package failover

import (
	"fmt"
	"slices"
	"time"
)

// withdraw stops a standby whose outcome can't be read, so that the old primary
// can be started without a second writer (R20). It is never done once a route
// has moved: clients may have written to the standby then.
func (s State) withdraw(at time.Time, why string) (State, []Effect) {
	op := s.Operation
	if op.Kind == Adopt || op.Kind == Switchover { // nothing was stopped, and either node may serve
		next := fmt.Sprintf("read the role on node %s by hand (%s), then: hadr resume %s", op.To, s.manual().Role, s.Group)
		if op.Kind == Adopt {
			next += "; or give up: hadr cancel " + s.Group
		}
		return s.block(at, why, next)
	}
	s.enter(StepWithdraw, at, op.Config.FenceTimeout)
	op.Fence.Sent, op.Fence.Tries = time.Time{}, 0
	s.mark(op.To, at)
	next, effects := s.readRoutes()
	return next, append([]Effect{s.stepped(at, why+"; if no route leads to it, stop it and start node "+op.From+" again")}, effects...)
}

// readRoutes reads where clients are led before a standby is stopped. The
// record does not tell: redirects may have been finished without it (R27).
func (s State) readRoutes() (State, []Effect) {
	op := s.Operation
	var effects []Effect
	for _, table := range s.tables() {
		effects = append(effects, ReadRoute{Table: table})
	}
	op.Pending = len(effects)
	if len(effects) == 0 {
		return s, []Effect{ReadInstance{Node: op.To}}
	}
	return s, effects
}

func (s State) routeRead(e RouteRead) (State, []Effect) {
	op := s.Operation
	if op.Step != StepWithdraw || !slices.Contains(op.Config.Routes, e.Table) {
		return s, nil
	}
	if op.Routes == nil {
		op.Routes = map[string]Redirect{}
	}
	to, _ := op.Config.Node(op.To)
	r := op.Routes[e.Table]
	r.Moved, r.Error = r.Moved || e.Owner == to.ENI, e.Error
	op.Routes[e.Table] = r
	if op.Pending--; op.Pending > 0 {
		return s, nil
	}
	for _, table := range s.tables() {
		switch r := op.Routes[table]; {
		case r.Moved:
			return s.keep(e.At, "route table "+table+" leads to it already, so that clients may have written there")
		case r.Error != "" && e.At.Before(op.Deadline):
			return s.again()
		case r.Error != "":
			return s.keep(e.At, "route table "+table+" can't be read, so that clients may be led to it: "+r.Error)
		}
	}
	return s, []Effect{ReadInstance{Node: op.To}}
}

// keep leaves a standby that may serve as it is, until its role can be read.
func (s State) keep(at time.Time, why string) (State, []Effect) {
	op := s.Operation
	delete(s.Fenced, op.To)
	s.enter(StepConfirm, at, op.Config.PromoteTimeout)
	return s.block(at,
		fmt.Sprintf("the role of node %s can't be read, and %s", op.To, why),
		fmt.Sprintf("make node %s answer its status command (%s tells the role), then: hadr resume %s", op.To, s.manual().Role, s.Group))
}

func (s State) withdrawing(e InstanceRead) (State, []Effect) {
	op := s.Operation
	switch {
	case e.State.Down():
		s.noteMachine(op.To, e.State, e.At)
		return s.restartOld(e.At, "node "+op.To+" is stopped")
	case e.At.After(op.Deadline) && !s.stopUntried(e.State):
		return s.block(e.At, fmt.Sprintf("neither the role of node %s can be read nor its machine stopped (it reads %s): starting node %s could make two writers", op.To, machineReads(e.State, e.Error), op.From), s.stopByHand(op.To))
	case e.State.Leaving():
		return s.again()
	}
	if stop, due := s.stop(op.To, e.At); due {
		return s, []Effect{stop}
	}
	return s.again()
}

// restartOld starts the fenced old primary again, in an epoch of its own: the
// standby can't take over any more and nobody would serve (R20, R31).
func (s State) restartOld(at time.Time, why string) (State, []Effect) {
	op := s.Operation
	if !s.on(R20) {
		return s.noService(at, why)
	}
	s.enter(StepRestart, at, bootLimit)
	op.Fence.Sent, op.Fence.Tries = time.Time{}, 0
	s.Epoch++
	next, effects := s.restart(at)
	return next, append([]Effect{s.stepped(at, why+"; start node "+op.From+" again, which has every commit")}, effects...)
}

// restart waits for the deadlines of earlier effects first (R22).
func (s State) restart(at time.Time) (State, []Effect) {
	op := s.Operation
	if s.promoting(at) {
		return s, []Effect{Wait{For: op.Promoting.Sub(at)}}
	}
	return s, []Effect{ReadInstance{Node: op.From}}
}

func (s State) restarting(e InstanceRead) (State, []Effect) {
	op := s.Operation
	switch {
	case e.At.After(op.Deadline):
		op.AwaitsStop = !e.State.runs()
		return s.noService(e.At, "its machine reads "+machineReads(e.State, e.Error))
	case e.State == InstanceStopped:
		delete(s.Fenced, op.From)
		return s, []Effect{Start{Node: op.From, Epoch: s.Epoch}}
	case e.State == InstanceTerminated || e.State == InstanceShuttingDown:
		return s.noService(e.At, "its machine is terminated")
	case e.State == InstanceRunning:
		delete(s.Fenced, op.From)
		return s, []Effect{s.readNode(op.From)}
	}
	return s.again()
}

func (s State) started() (State, []Effect) {
	if s.Operation.Step != StepRestart && s.Operation.Step != StepBoot {
		return s, nil
	}
	return s.again()
}

// databaseTries is how often a database is started on a running machine before
// the machine itself is started again (R31: the database first, then the host).
const databaseTries = 2

// databaseLimit bounds one start of a database: crash recovery takes its time.
const databaseLimit = 2 * time.Minute

func (s State) restarted(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	switch {
	case o.ServesAsPrimary() && s.stopOnItsWay(e.At):
		return s.again()
	case o.ServesAsPrimary():
		return s.end(e.At, "restarted", fmt.Sprintf("node %s serves again; nothing was promoted and nothing is lost", op.From))
	case e.At.After(op.Deadline):
		return s.noService(e.At, fmt.Sprintf("role %s, database %s%s", orNone(string(o.Role)), orNone(string(o.Database)), because(o.AnswerError)))
	case o.crashed() && e.At.Sub(op.StepSince) >= settling/2:
		if s.marked(op.To) { // R29: is its machine down?
			return s, []Effect{ReadInstance{Node: op.To}}
		}
		return s.startDatabase(e.At, false)
	}
	return s.again()
}

// partnerRead starts a primary without its standby where that one is fenced and
// its machine is read as down: it can't serve, and a primary that waits for it
// would stay down for ever (R29).
func (s State) partnerRead(e InstanceRead) (State, []Effect) {
	s.noteMachine(e.Node, e.State, e.At)
	f, fenced := s.Fenced[e.Node]
	if f.ConfirmedAt.Equal(e.At) { // down since now: no start could succeed before
		s.Operation.Fence.Tries = 0
	}
	return s.startDatabase(e.At, s.on(R29) && fenced && e.State.Down())
}

// startDatabase starts the database where its own start at boot did not do it.
func (s State) startDatabase(at time.Time, alone bool) (State, []Effect) {
	op := s.Operation
	switch {
	case op.Attempt > 1 && op.Fence.Tries == 0: // what was sent last is the stop
		if s.stopOnItsWay(at) {
			return s.again()
		}
	case at.Before(op.Fence.Sent.Add(databaseLimit)) && !op.Fence.Sent.IsZero():
		return s.again() // the last try may still succeed
	}
	switch {
	case op.Fence.Tries < databaseTries:
	case op.Attempt == 1:
		op.Attempt++
		op.Fence.Sent, op.Fence.Tries = at, 0
		return s, []Effect{
			s.stepped(at, "the database of node "+op.From+" does not start; start its machine again"),
			Stop{Node: op.From, Epoch: s.Epoch},
		}
	default:
		return s.noService(at, "its database does not start, not even after its machine was started again")
	}
	op.Fence.Tries++
	op.Starts++
	op.Fence.Sent = at
	return s, []Effect{StartDatabase{Node: op.From, Epoch: s.Epoch, OperationID: op.ID, Attempt: op.Starts, Deadline: at.Add(databaseLimit), Alone: alone}}
}

// callLate bounds how long after it was sent a call to AWS may still take effect
// that gave no answer: the runner gives it up before.
const callLate = 30 * time.Second

// stopOnItsWay reports whether the stop that was to start the machine again may
// still arrive. A database that serves meanwhile would be ended by it (R22).
func (s State) stopOnItsWay(at time.Time) bool {
	op := s.Operation
	return s.on(R22) && op.Attempt > 1 && op.Fence.Tries == 0 && at.Before(op.Fence.Sent.Add(callLate))
}

func (s State) noService(at time.Time, why string) (State, []Effect) {
	op := s.Operation
	other := "can't take over"
	lost := fmt.Sprintf("hadr takeover-after-window %s --from %s --reason WHY", s.Group, op.From)
	switch {
	case s.marked(op.To): // its role could not be read, so that it was stopped, too
		other = "is stopped and fenced"
		lost = fmt.Sprintf("hadr release %s --node %s --reason WHY", s.Group, op.To)
	case op.Promotions > 0:
		other = fmt.Sprintf("was not promoted (%s)", orNone(op.LastResult))
	}
	return s.block(at,
		fmt.Sprintf("no node serves: node %s %s and node %s does not come back: %s", op.To, other, op.From, why),
		fmt.Sprintf("start the database on node %s by hand (%s), then: hadr resume %s; or, if it is lost for good: hadr cancel %s, then %s", op.From, s.manual().Start, s.Group, s.Group, lost))
}
