// Package failover decides. Step takes the state of a group and one event and
// returns the next state and the effects to run. It is pure: it reads no
// clock, does no I/O and knows no AWS; times come with the events.
package failover

import "time"

// Phase is where a group is in its life.
type Phase string

// The phases of a group. It has none before its record exists: that is created
// once both nodes were read, as steady.
const (
	Steady        Phase = "steady"
	TakingOver    Phase = "taking_over"
	SwitchingOver Phase = "switching_over"
	Rejoining     Phase = "rejoining"
	Blocked       Phase = "blocked"
)

// Policy says how much the group does by itself.
type Policy string

// The policies of a group.
const (
	Automatic Policy = "automatic" // decide and act
	Approval  Policy = "approval"  // decide, then wait for a human
	Observe   Policy = "observe"   // say only what would have been done
)

// Fencing says when the standby may be promoted (R16).
type Fencing string

// The fencing modes of a group.
const (
	// Strict promotes once the old primary is read as stopped.
	Strict Fencing = "strict"
	// PeerWindow promotes once the stop is accepted, where the old primary's
	// dead-man is in force and its window has not ended.
	PeerWindow Fencing = "peer_window"
)

// NodeConfig is one side of a group as declared.
type NodeConfig struct {
	ID       string // such as "a"
	Instance string // EC2 instance id
	ENI      string // network interface that the VIP routes lead to
	Zone     string
	Region   string
}

// Config is what Terraform declares about a group. Times are whole seconds on
// the record and durations here.
type Config struct {
	Engine    string            // "db2"
	Settings  map[string]string // the engine's own, such as database and instance_owner
	Nodes     []NodeConfig      // two
	Preferred string            // node that is primary at creation
	VIP       string            // IPv4 address of the endpoint, "" without one
	Port      int               // TCP port of the endpoint, 0 = no check of the data path
	Routes    []string          // route tables that lead the VIP
	Checkers  map[string]string // route table -> instance in one of its subnets that can try the data path
	Policy    Policy
	Fencing   Fencing
	// Isolation is the security group that cuts a node off, "" = none (R16).
	Isolation string
	// HostApplications: applications run on the database hosts, or the VIP is
	// bound on both nodes. Moving the endpoint moves no such client (R25).
	HostApplications bool

	LatencyThreshold time.Duration // SQL slower than this counts as failed
	MaxClockOffset   time.Duration // R8: 2 s
	PromoteMargin    time.Duration // R8: window left at the expected start, 10 s
	PromoteDelay     time.Duration // expected time from decision to the start of the promotion
	GatherTimeout    time.Duration // R4: 3 s for a node's own view
	EvidenceWait     time.Duration // how long an event may wait for a second signal
	FenceTimeout     time.Duration // stop accepted to stop confirmed
	PromoteTimeout   time.Duration // deadline of the promotion command on the node
	RedirectTimeout  time.Duration // for all routes together
	Cooldown         time.Duration // R30
}

// Node returns the node with the given id.
func (c Config) Node(id string) (NodeConfig, bool) {
	for _, n := range c.Nodes {
		if n.ID == id {
			return n, true
		}
	}
	return NodeConfig{}, false
}

// Other returns the id of the node that is not id.
func (c Config) Other(id string) string {
	for _, n := range c.Nodes {
		if n.ID != id {
			return n.ID
		}
	}
	return ""
}

// State is a group's authority as one item of the record, and its Config.
type State struct {
	Group  string
	Config Config

	Epoch     uint64 // grows by one with every change of primary
	Primary   string // node id
	Phase     Phase
	Operation *Operation // nil if none runs

	Fenced      map[string]Fence // by node id (R18)
	Maintenance Maintenance
	Cooldown    time.Time // no automatic takeover before, unless R30 ends it
	Changed     time.Time // last change of primary; events older than it are stale (R3)
	Version     uint64    // compare-and-swap (R11)
	Refused     Refusal   // last refusal that watch told
	Pending     *Pending  // takeover that waits for a person (R9)
	Ended       []string  // operations that ended lately, the last one at the end: a redelivery of their events is over, too (R2)
	VoidSeal    string    // seal of the lease that no claim can follow any more (R10)
	// ClaimsWait is until when a runner that lost the record may still lead a route
	// to the present primary: nothing is claimed before (R27).
	ClaimsWait time.Time

	// Word is the last word of an operation, that it ended or is blocked, until it
	// is told. It is saved with what it tells of: whoever reads the record tells
	// it, so that no history lacks it and none has two. The core leaves it alone.
	Word *Entry

	// Start is the word that the operation started, until it is told. It is saved
	// with the operation, as Word is with its end.
	Start *Entry

	// Attended is until when a runner has said that it is at work on the
	// operation. The core leaves it alone.
	Attended time.Time

	// Off are rules that are left out: none, but where the model checker shows
	// what a rule is for. It is never on the record.
	Off Rules

	// Manual is what the group's engine tells people to do by hand. The runner
	// knows it; it is never on the record.
	Manual Manual

	// Attempt is a decision that is not claimed yet. It lives in the runner's
	// memory only.
	Attempt *Attempt
}

// Refusal is a refusal that need not be told again every minute.
type Refusal struct {
	Guard Guard
	At    time.Time
}

// Maintenance switches automatic action off.
type Maintenance struct {
	On     bool
	Until  time.Time // zero = until it is ended by hand
	Reason string
}

// Active reports whether maintenance is in force: expired maintenance is off.
func (m Maintenance) Active(now time.Time) bool {
	return m.On && (m.Until.IsZero() || now.Before(m.Until))
}

// Fence is the durable mark that a node must not run (R18).
type Fence struct {
	Epoch     uint64
	Method    string   // "stop"
	Groups    []string // original security groups, where the method isolates
	At        time.Time
	Confirmed bool // read as stopped or terminated (R17)
	// ConfirmedAt is when that was read first. The machine was not started since.
	ConfirmedAt time.Time
}

// Kind of an operation.
type Kind string

// The kinds of operations.
const (
	Takeover   Kind = "takeover"
	Switchover Kind = "switchover"
	Rejoin     Kind = "rejoin"
	Adopt      Kind = "adopt"   // follow an operator's own takeover (R7)
	Restart    Kind = "restart" // start the primary in place, as its standby can't take over (R31)
)

// phase is the phase of a group while an operation of this kind runs.
func (k Kind) phase() Phase {
	switch k {
	case Switchover:
		return SwitchingOver
	case Rejoin:
		return Rejoining
	}
	return TakingOver
}

// StepName is a step of an operation. A step is recorded before its effect.
type StepName string

// The steps of a takeover, in their order.
const (
	StepRecheck  StepName = "recheck"  // read the standby again, just before fencing (R20)
	StepFence    StepName = "fence"    // stop the old primary and read that it is accepted
	StepFenced   StepName = "fenced"   // strict: wait for stopped
	StepPromote  StepName = "promote"  // TAKEOVER
	StepConfirm  StepName = "confirm"  // read PRIMARY (R14)
	StepRedirect StepName = "redirect" // routes
	StepVerify   StepName = "verify"   // fence confirmed, data path checked
	StepWithdraw StepName = "withdraw" // R20: stop a standby that stays unreadable
	StepRestart  StepName = "restart"  // R20, R31: start the old primary again
	StepDone     StepName = "done"
)

// Operation is the one thing that a group does at a time.
type Operation struct {
	ID        string
	Kind      Kind
	From, To  string
	Step      StepName
	Attempt   int // of this step
	Started   time.Time
	StepSince time.Time
	Deadline  time.Time // of this step
	CommandID string    // SSM command of this step, once known (R21)

	// Promotions and Starts count the promotions and the starts of a database
	// that were sent: no two have the same number (R21).
	Promotions int
	Starts     int
	// Pending counts effects of this step whose results are not in yet.
	Pending int
	// ReadSince is when a node that must be read was first asked in vain.
	ReadSince time.Time
	// LastResult is what the last promotion said, such as "SQL1770N/9".
	LastResult string
	// Promoting is until when an earlier promotion may still take effect.
	Promoting time.Time
	// Fencing is the mode that this operation follows (R16).
	Fencing Fencing
	// Force is how far beyond the window a person let it go (R19).
	Force Force
	// WindowEnd is until when the old primary certainly accepts no commit by
	// itself, on the runner's clock; zero = it never stops by itself.
	WindowEnd time.Time

	// Replaced is an operation whose place this one took (R30): a rejoin, or one
	// that was blocked on a route only.
	Replaced *Replaced
	// Isolated is what came of cutting the old primary off, "" = not tried.
	Isolated string
	// AwaitsStop: it is blocked because the old primary's machine did not reach
	// the end of its stop, before which it can't be started.
	AwaitsStop bool
	// OldSeen: after a switchover, the old primary was read as no primary.
	OldSeen bool

	Trigger  string              // what set it off, for people
	Evidence []Evidence          // what the decision rests on
	Config   Config              // snapshot (R13)
	Routes   map[string]Redirect // result per route table (R26)
	Phases   []PhaseTime         // how long each step took
	Fence    FenceProgress

	// Blocked says why the operation does not go on, and Next what a human
	// does about it.
	Blocked string
	Next    string
}

// Replaced is what is told of an operation whose place another one took.
type Replaced struct {
	ID       string
	Kind     Kind
	From, To string
	Step     StepName
	Blocked  string
	Start    *Entry // word that it started, if that was not told; the core leaves it alone
}

// FenceProgress is what is known of the running fence.
type FenceProgress struct {
	Accepted  time.Time // read as stopping or later
	Confirmed time.Time // read as stopped or terminated
	Sent      time.Time // StopInstances was sent last
	Tries     int
}

// Redirect is the result of moving one route.
type Redirect struct {
	Moved    bool
	Verified bool
	Error    string
	Tries    int
}

// PhaseTime is one finished step.
type PhaseTime struct {
	Step  StepName
	Start time.Time
	End   time.Time
}

// Attempt is a takeover that was decided or is being considered, before the
// claim.
type Attempt struct {
	OperationID string
	Suspect     string // node that the evidence is about
	Alarm       string // ARN of the alarm that set it off, "" for a human
	Trigger     string // for people
	Human       string // who asked for it, "" = nobody
	Watch       bool   // it comes again by itself: the minutely look found it, or an agent tells of it
	Since       time.Time
	Evidence    []Evidence
	Fencing     Fencing
	WindowEnd   time.Time
	Kind        Kind   // what was decided
	FenceOld    bool   // adopting: the old primary may still be one
	Claims      int    // that met another version of the record
	Approver    string // who approved it, "" = nobody had to or did
	Switch      bool   // in order, while both nodes are well
	Force       Force
}
