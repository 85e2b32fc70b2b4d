package failover

import "time"

// Event is something that happened. Every event carries its own time.
type Event interface{ isEvent() }

// Alarmed: an alarm that is bound to Node (R1) went into ALARM at Changed.
type Alarmed struct {
	At          time.Time // now
	Node        string
	Alarm       string // ARN
	Changed     time.Time
	OperationID string // of this delivery; a redelivery carries the first one's (R2)
	Reason      string
}

// Asked: a human asks for a takeover from Node. Every guard but the policy's
// applies, and those of its Force otherwise.
type Asked struct {
	At          time.Time
	Node        string
	OperationID string
	Actor       string
	Reason      string
	Force       Force
}

// Retried: a human has done what a blocked operation asked for.
type Retried struct {
	At    time.Time
	Actor string
}

// Cancelled: a human gives a blocked operation up.
type Cancelled struct {
	At    time.Time
	Actor string
}

// Gathered: both nodes were read.
type Gathered struct {
	At    time.Time
	Nodes map[string]Observation
	// Evidence from sources that are not a node's own view: alarms, lease.
	Evidence []Evidence
}

// Sealed: the lease was sealed for an operation, or was not.
type Sealed struct {
	At  time.Time
	OK  bool
	Why string // for people, if not OK
}

// Claimed: the state was saved as claim (OK), or somebody else changed it.
type Claimed struct {
	At    time.Time
	OK    bool
	Why   string
	State *State // what is on the record now, if not OK
}

// Resumed: a runner found an operation on the record and goes on with it.
type Resumed struct{ At time.Time }

// Outcome of an effect.
type Outcome string

// Outcomes of an effect. Unknown is resolved by reading, never by rollback (R23).
const (
	OK      Outcome = "ok"
	Failed  Outcome = "failed"  // certainly had no effect
	Unknown Outcome = "unknown" // may have had its effect
)

// StopRequested: StopInstances returned.
type StopRequested struct {
	At      time.Time
	Node    string
	Outcome Outcome
	Error   string
}

// InstanceRead: the machine's state was read.
type InstanceRead struct {
	At    time.Time
	Node  string
	State InstanceState
	Error string
}

// NodeRead: one node's own view was read.
type NodeRead struct {
	At          time.Time
	Observation Observation
}

// Promoted: the promotion command ended.
type Promoted struct {
	At        time.Time
	Node      string
	CommandID string
	Outcome   Outcome
	Role      Role   // that the command itself read on the node when it was done; "" = none
	Code      string // engine's word, such as "SQL1770N/9"
	Detail    string
	Next      string
}

// RouteMoved: one route was moved, or not.
type RouteMoved struct {
	At    time.Time
	Table string
	OK    bool
	Error string
}

// RouteRead: where the VIP leads in one route table was read.
type RouteRead struct {
	At    time.Time
	Table string
	Owner string // network interface, "" = no such route
	Error string
}

// PathChecked: a TCP connection through one route was tried.
type PathChecked struct {
	At    time.Time
	Table string
	OK    bool
	Error string
}

// Started: a machine or its database was started again.
type Started struct {
	At      time.Time
	Node    string
	Outcome Outcome
	Error   string
}

// Elapsed: a Wait is over.
type Elapsed struct{ At time.Time }

func (Alarmed) isEvent()       {}
func (Asked) isEvent()         {}
func (Retried) isEvent()       {}
func (Cancelled) isEvent()     {}
func (Gathered) isEvent()      {}
func (Sealed) isEvent()        {}
func (Claimed) isEvent()       {}
func (Resumed) isEvent()       {}
func (StopRequested) isEvent() {}
func (InstanceRead) isEvent()  {}
func (NodeRead) isEvent()      {}
func (Promoted) isEvent()      {}
func (RouteMoved) isEvent()    {}
func (RouteRead) isEvent()     {}
func (PathChecked) isEvent()   {}
func (Started) isEvent()       {}
func (Elapsed) isEvent()       {}
