package check

import "github.com/hadr-dev/terraform-provider-hadr/internal/failover"

// Setup is a group and what may happen to it.
type Setup struct {
	Name    string
	Begin   Begin
	Fencing failover.Fencing
	Policy  failover.Policy // "" = automatic
	Agents  bool            // on both nodes: probes, lease and dead-man
	Runners int             // at the same time, at most 2
	Tables  int             // route tables, at most 2
	Cuts    bool            // a security group cuts off whoever does not stop
	Drifts  bool            // the clock of the primary is ahead, within its bound
	Faults  int             // how many may happen, one after the other or at once
	People  int             // things that people may do

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

	// Forgives lets a promise be broken in the course of things: what counts is
	// where the group comes to rest, and what people were told.
	Forgives bool
	// zealous agents end a primary that has lost its lease alone.
	zealous bool
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
	TooLate                  // a takeover came too late, and node a, stopped in time, can't be started
	CutOff                   // as TakenOver, and the stop hung so long that node a was cut off
	LossUnknown              // as TakenOver, and node a had committed alone what node b lacks
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
	StartLate            // no answer; it starts later
	GroupsUnread         // the security groups of a node can't be read
	GroupsFailed         // or not be replaced
	GroupsLost           // they are replaced, and the answer is lost
	CommandFailed        // a command on a node fails
	LinkBreaks           // between the nodes, and both notice
	LinkSilent           // between the nodes, and the primary notices later
	LinkDeaf             // between the nodes, and the standby notices later
	NodeCut              // a node loses its way to AWS's services
	AgentDies            // what it promised of its dead-man holds: its supervisor starts it again (A1)
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
	Asks         Deed = iota // for a takeover
	AsksLate                 // for one after the window, because nothing would be lost
	AcceptsLoss              // asks for one, whatever is lost
	Switches                 // asks for the other node as primary
	Approves                 // a takeover that waits for it
	Acknowledges             // the last takeover
	Resumes                  // a blocked operation
	Cancels                  // a blocked operation
	Releases                 // a fenced node
	Pauses                   // maintenance on
	PausesFor                // a while
	Unpauses                 // maintenance off
	Swaps                    // takes over by hand, gracefully
	Seizes                   // and by force, where the primary does not serve
	Rejoins                  // asks for the old primary back
	TurnsOn                  // starts a stopped machine
	Applies                  // runs Terraform
	deedCount
)

// Deeds is a set of them.
type Deeds uint32

// Only returns a set of deeds.
func Only(list ...Deed) (s Deeds) {
	for _, d := range list {
		s |= 1 << d
	}
	return s
}

func (s *Setup) may(d Deed) bool { return s.Persons == 0 || s.Persons&(1<<d) != 0 }

// proves reports whether it matters when a stop was read.
func (s *Setup) proves() bool { return s.People > 0 && s.may(AsksLate) }
