package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Setup is a group and what may happen to it.
type Setup struct {
	Name    string
	Begin   Begin
	Fencing failover.Fencing
	Agents  bool // on both nodes: probes, lease and dead-man
	Runners int  // at the same time, at most 2
	Tables  int  // route tables, at most 2
	Faults  int  // how many may happen, one after the other or at once
	People  int  // things that people may do

	// Sweep lets nothing go wrong after the last fault: each one happens at every
	// moment, and then the group is seen to come to rest.
	Sweep bool
	// Sample is how many states there are for each one whose rest is looked at.
	Sample int
	// LoudIsEnough lets go what happens while the group is blocked, which says so.
	LoudIsEnough bool
	// Prompt stops take effect at once, and swift runners are never held up.
	Prompt, Swift bool

	Allowed Faults         // 0: all
	Persons Deeds          // 0: all
	Off     failover.Rules // that are left out
	Broken  Assumptions    // that do not hold
}

// Begin is where a search begins: the later, the deeper it gets for the same
// number of faults.
type Begin uint8

// Where a search begins.
const (
	Healthy     Begin = iota // in peer state
	PrimaryLost              // the machine of the primary has just lost its power
	PrimaryCut               // the primary has lost its way to AWS, and its standby
	TakenOver                // a takeover to node b is over, node a is stopped and fenced
	RoleUnknown              // a takeover to node b is under way, which was promoted and can't be read
)

// Assumption is one of those that the design names.
type Assumption uint8

// The assumptions.
const (
	A1 Assumption = iota // an accepted stop takes effect, or the dead-man acts
	A2                   // clocks drift within their bound
	A3                   // conditional writes are linearizable
	A4                   // Db2 refuses outside the window
)

// Assumptions is a set of them.
type Assumptions uint8

func (s Assumptions) has(a Assumption) bool { return s&(1<<a) != 0 }

// Without returns a set of assumptions.
func Without(list ...Assumption) (s Assumptions) {
	for _, a := range list {
		s |= 1 << a
	}
	return s
}

// Fault is something that goes wrong.
type Fault uint8

// The faults.
const (
	NoFault        Fault = iota
	RunnerDies           // between any two effects
	RecordDown           // the record gives no answer, nothing was written
	AnswerLost           // the record was written, and the answer is lost
	StopRejected         // stop protection, or a denied permission
	StopUnknown          // no answer; it was not stopped
	StopLost             // the stop is accepted, and the answer is lost
	StopLate             // no answer; it arrives later
	PromoteUnknown       // the command is lost
	PromoteLost          // the command ran, and its result is lost
	PromoteLate          // no answer; it runs later
	NodeSilent           // the status command gives no answer in time
	InstanceUnread       // the machine's state can't be read
	MoveFailed           // throttled
	MoveDenied           // a permission is missing
	MoveLate             // no answer; it arrives later
	StartUnknown         // no answer; nothing started
	CommandFailed        // a command on a node fails
	LinkBreaks           // between the nodes, and both notice
	LinkSilent           // between the nodes, and the primary notices later
	NodeCut              // a node loses its way to AWS's services
	PowerLost            // the machine stops
	HostFrozen           // the machine reads as running and does nothing
	DatabaseDies         // its server
	DatabaseHangs        // commits nothing, and stays connected
	AlarmLies            // it goes red for no reason
	CheckLies            // a machine's status check fails for no reason
	EventLost            // an alarm's event
	EventRepeated        // it will come again
	MachineStarted       // automatic recovery starts a stopped one
	ClockWrong           // the standby's is behind
	PathBlocked          // a security group, on the way to node b
	faultCount
)

// Faults is a set of them.
type Faults uint64

// Just returns a set of faults.
func Just(list ...Fault) (s Faults) {
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

func (s *Setup) allows(f Fault) bool { return s.Allowed == 0 || s.Allowed&(1<<f) != 0 }

// Deed is something that a person does.
type Deed uint8

// The deeds.
const (
	Asks     Deed = iota // for a takeover
	Resumes              // a blocked operation
	Cancels              // a blocked operation
	Pauses               // maintenance on
	Unpauses             // maintenance off
	Swaps                // takes over by hand, gracefully
	Rejoins              // asks for the old primary back
	TurnsOn              // starts a stopped machine
	deedCount
)

// Deeds is a set of them.
type Deeds uint16

// Only returns a set of deeds.
func Only(list ...Deed) (s Deeds) {
	for _, d := range list {
		s |= 1 << d
	}
	return s
}

func (s *Setup) may(d Deed) bool { return s.Persons == 0 || s.Persons&(1<<d) != 0 }

// record is what the record holds at the beginning.
func (b Begin) record(c failover.Config) failover.State {
	s := failover.State{Group: "orders", Config: c, Epoch: 1, Primary: names[0], Phase: failover.Steady, Changed: now.Add(-long)}
	if b == TakenOver {
		s.Primary, s.Changed = names[1], now
		s.Cooldown = now.Add(c.Cooldown)
		s.Fenced = map[string]failover.Fence{names[0]: {Epoch: 1, Method: "stop", At: now, Confirmed: true, ConfirmedAt: now}}
	}
	if b == RoleUnknown {
		s.Phase, s.Fenced = failover.TakingOver, map[string]failover.Fence{names[0]: {Epoch: 1, Method: "stop", At: now, Confirmed: true, ConfirmedAt: now}}
		s.Operation = &failover.Operation{
			ID: ids[look], Kind: failover.Takeover, From: names[0], To: names[1], Step: failover.StepConfirm, Attempt: 1, Promotions: 1,
			Started: now, StepSince: now, Deadline: now.Add(c.PromoteTimeout), ReadSince: now, Fencing: failover.Strict, Config: c,
			Fence: failover.FenceProgress{Accepted: now, Confirmed: now},
		}
	}
	return s
}

// start is the world at the beginning.
func (s *Setup) start(record coreID) world {
	w := world{link: true, record: record, faults: uint8(s.Faults), people: uint8(s.People)}
	w.nodes[0] = node{role: primary, whole: true, clients: true}
	w.nodes[1] = node{role: standby, whole: true, settled: true}
	switch s.Begin {
	case PrimaryLost:
		w.halt(0, stopped)
	case PrimaryCut:
		w.link, w.nodes[0].cut = false, true
	case TakenOver:
		w.halt(0, stopped)
		w.promote(1, false)
		w.routes = [2]uint8{1, 1}
	case RoleUnknown:
		w.halt(0, stopped)
		w.promote(1, false)
		w.cmd = command{state: succeeded, node: 1, attempt: 1}
		w.nodes[1].cut = true
	}
	w.settle()
	return w
}
