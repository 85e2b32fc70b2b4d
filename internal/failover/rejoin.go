package failover

import (
	"cmp"
	"fmt"
	"time"
)

// The steps of a rejoin.
const (
	StepBoot        StepName = "boot"        // the machine of the old primary runs
	StepReintegrate StepName = "reintegrate" // START HADR AS STANDBY
	StepPeer        StepName = "peer"        // it is read as a fit standby (R28)
)

// rejoinLimit bounds the catch-up of an old primary. After it the standby needs
// a reseed (R28).
const rejoinLimit = 15 * time.Minute

// reintegrateLimit bounds the start as standby on a machine whose agent may
// still be starting.
const reintegrateLimit = 5 * time.Minute

// RejoinAsked: a human wants the old primary back as standby.
type RejoinAsked struct {
	At          time.Time
	Node        string
	OperationID string
	Actor       string
}

// Reintegrate makes the database of a node the standby of the other one: the
// virtual address is absent, nothing connects to it before (R28).
type Reintegrate struct {
	Node        string
	Epoch       uint64
	OperationID string
	Attempt     int
	Deadline    time.Time
}

// Reintegrated is how that command ended. What came of it is read.
type Reintegrated struct {
	At      time.Time
	Node    string
	Outcome Outcome
	Code    string // engine's word; NeedsReseed and NotReady end the rejoin at once
	Detail  string
	Next    string // engine's next command for people, "" = none in particular
}

func (RejoinAsked) isEvent()  {}
func (Reintegrated) isEvent() {}
func (Reintegrate) isEffect() {}

// rejoinAsked begins to bring a node back as standby. The epoch stays: the
// primary does not change.
func (s State) rejoinAsked(e RejoinAsked) (State, []Effect) {
	next := "hadr status " + s.Group
	refuse := func(why string) (State, []Effect) {
		entry := Entry{At: e.At, OperationID: e.OperationID, Event: "refused", Kind: Rejoin, Epoch: s.Epoch, From: e.Node, To: s.Primary,
			Reason: why, Next: next, Outcome: "refused", Actor: e.Actor}
		return s, []Effect{Record{Entry: entry}}
	}
	_, known := s.Config.Node(e.Node)
	switch {
	case !known:
		return refuse(fmt.Sprintf("group %s has no node %q", s.Group, e.Node))
	case e.Node == s.Primary:
		return refuse(fmt.Sprintf("node %s is the primary", e.Node))
	case s.Operation != nil && s.Operation.ID == e.OperationID:
		return s.takeUp(e.At)
	case s.Operation != nil:
		return refuse(fmt.Sprintf("operation %s is at step %s", s.Operation.ID, s.Operation.Step))
	case s.Maintenance.Active(e.At):
		next = "hadr maintenance " + s.Group + " --off"
		return refuse("the group is in maintenance: a claim would not be granted")
	}
	s.Phase = Rejoining
	s.Operation = &Operation{
		ID: e.OperationID, Kind: Rejoin, From: e.Node, To: s.Primary, Step: StepBoot, Attempt: 1,
		Started: e.At, StepSince: e.At, Deadline: e.At.Add(bootLimit), Trigger: e.Actor + " asks for node " + e.Node + " back as standby",
		Config: s.Config,
	}
	return s, []Effect{Claim{}}
}

// booting starts the machine where it is stopped.
func (s State) booting(e InstanceRead) (State, []Effect) {
	op := s.Operation
	if effect, cut := s.reconnect(); cut && e.State != InstanceTerminated {
		return s, []Effect{effect}
	}
	switch {
	case e.State == InstanceRunning && e.At.Before(op.Deadline):
		return s, []Effect{s.readNode(op.To)}
	case e.State == InstanceTerminated || e.State == InstanceShuttingDown:
		return s.needsReseed(e.At, "its machine reads "+machineReads(e.State, e.Error), "create its machine again, then: ", "")
	case e.At.After(op.Deadline):
		n, _ := op.Config.Node(op.From)
		return s.notBack(e.At, "its machine does not run, it reads "+machineReads(e.State, e.Error), "given_up",
			fmt.Sprintf("see to the machine (aws ec2 describe-instances --instance-ids %s), then: hadr rejoin %s --node %s", n.Instance, s.Group, op.From))
	case e.State == InstanceStopped:
		return s, []Effect{Start{Node: op.From, Epoch: s.Epoch}}
	}
	return s.again()
}

// booted goes on only if the other node serves as primary now: an operator may
// have moved the primary, and the start as standby kills what runs on this one.
func (s State) booted(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	switch {
	case o.ServesAsPrimary():
		s.enter(StepReintegrate, e.At, reintegrateLimit)
		return s, []Effect{s.stepped(e.At, "the machine of node "+op.From+" runs; start its database as standby"), s.reintegration()}
	case o.Answer == Answered && o.Role == RoleStandby || e.At.After(op.Deadline):
		entry := s.log(e.At, "ended", fmt.Sprintf("node %s is not made standby: node %s does not serve as primary now (role %s, database %s%s)",
			op.From, op.To, orNone(string(o.Role)), orNone(string(o.Database)), because(o.AnswerError)))
		entry.Outcome, entry.Phases, entry.Next = "given_up", op.Phases, "hadr status "+s.Group
		s.finish()
		return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
	}
	return s.again()
}

func (s State) reintegration() Effect {
	op := s.Operation
	return Reintegrate{Node: op.From, Epoch: s.Epoch, OperationID: op.ID, Attempt: op.Attempt, Deadline: op.Deadline}
}

// reintegrated: success of the command does not mean that the node is back;
// only PEER does (R28).
func (s State) reintegrated(e Reintegrated) (State, []Effect) {
	op := s.Operation
	if op.Step != StepReintegrate {
		return s, nil
	}
	op.LastResult = orNone(e.Code) + " " + e.Detail
	switch {
	case e.Outcome == OK:
	case e.Code == NotReady:
		return s.notBack(e.At, e.Detail, "given_up", s.atWork(orNone(e.Next)))
	case e.Code == NeedsReseed:
		return s.needsReseed(e.At, e.Detail, "", e.Next)
	case e.At.Before(op.Deadline): // the host or its agent may still be starting
		op.Attempt++
		return s.again()
	case e.Outcome == Failed:
		return s.needsReseed(e.At, "its database does not start as standby: "+op.LastResult, "", e.Next)
	}
	s.enter(StepPeer, e.At, rejoinLimit)
	return s, []Effect{s.stepped(e.At, "wait until node "+op.From+" is a fit standby again"+because(e.Detail)), s.readNode(op.From)}
}

func (s State) peering(e NodeRead) (State, []Effect) {
	op, o := s.Operation, e.Observation
	switch {
	case o.Answer == Answered && o.Role == RoleStandby && (o.Fitness == Fit && !o.PartnerLost || !s.on(R28)):
		delete(s.Fenced, op.From)
		s.Cooldown = e.At.Add(settling) // R30: back in peer state, the next failure is a new one soon
		s.enter(StepDone, e.At, 0)
		entry := s.log(e.At, "ended", fmt.Sprintf("node %s is back as standby of node %s (%s)", op.From, op.To, o.State))
		entry.Outcome, entry.Phases, entry.Actor = "rejoined", op.Phases, op.Trigger
		s.finish()
		return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
	case e.At.After(op.Deadline):
		return s.needsReseed(e.At, fmt.Sprintf("it did not become a fit standby: role %s%s%s%s", orNone(string(o.Role)), because(o.State), because(o.FitnessWhy), because(o.AnswerError)), "", "")
	}
	return s.again()
}

// needsReseed ends a rejoin of a node whose data are of no use. A person makes
// them anew, in the engine's words, after what must be done first.
func (s State) needsReseed(at time.Time, why, first, how string) (State, []Effect) {
	op := s.Operation
	how = cmp.Or(how, fmt.Sprintf("make the data of node %s anew from node %s (%s)", op.From, op.To, s.manual().Reseed))
	return s.notBack(at, why, NeedsReseed, first+s.atWork(how))
}

// atWork is what a person does on a fenced node before it is tried again.
func (s State) atWork(how string) string {
	return fmt.Sprintf("hadr maintenance %s --on (it would be stopped again), %s, then: hadr maintenance %s --off; hadr rejoin %s --node %s",
		s.Group, how, s.Group, s.Group, s.Operation.From)
}

// notBack ends a rejoin that failed. The node stays fenced.
func (s State) notBack(at time.Time, why, outcome, next string) (State, []Effect) {
	op := s.Operation
	entry := s.log(at, "ended", fmt.Sprintf("node %s is not back: %s; it stays fenced", op.From, why))
	entry.Outcome, entry.Phases, entry.Next = outcome, op.Phases, next
	s.finish()
	return s, []Effect{Record{Entry: entry}, Notify{Entry: entry}}
}
