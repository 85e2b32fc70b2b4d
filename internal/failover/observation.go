package failover

import "time"

// InstanceState is the state of a node's machine.
type InstanceState string

// Instance states, as EC2 names them; InstanceUnknown if they can't be read.
const (
	InstanceUnknown      InstanceState = ""
	InstancePending      InstanceState = "pending"
	InstanceRunning      InstanceState = "running"
	InstanceStopping     InstanceState = "stopping"
	InstanceStopped      InstanceState = "stopped"
	InstanceShuttingDown InstanceState = "shutting-down"
	InstanceTerminated   InstanceState = "terminated"
)

// Down reports whether the machine certainly runs nothing (R17).
func (s InstanceState) Down() bool {
	return s == InstanceStopped || s == InstanceTerminated
}

// runs reports whether the machine runs, or is about to.
func (s InstanceState) runs() bool { return s == InstanceRunning || s == InstancePending }

// Leaving reports whether a stop has been accepted (R15).
func (s InstanceState) Leaving() bool {
	return s.Down() || s == InstanceStopping || s == InstanceShuttingDown
}

// Role is the database's own idea of its role.
type Role string

// Roles of a database.
const (
	RoleUnknown    Role = ""
	RolePrimary    Role = "primary"
	RoleStandby    Role = "standby"
	RoleStandalone Role = "standalone" // takes part in no replication
)

// DatabaseState is whether the database serves.
type DatabaseState string

// Database states.
const (
	DatabaseUnknown  DatabaseState = ""
	DatabaseActive   DatabaseState = "active"
	DatabaseInactive DatabaseState = "inactive"  // the instance runs, the database does not
	DatabaseDown     DatabaseState = "no_server" // the database server does not run
)

// Answer is how a node's status command ended.
type Answer string

// Answers of a status command.
const (
	AnswerNone    Answer = ""         // not asked
	Answered      Answer = "answered" // its output was understood
	Silent        Answer = "silent"   // no answer in time
	Undeliverable Answer = "undeliverable"
	Unreadable    Answer = "unreadable" // output that is not understood: unknown, never good
)

// Fitness is whether a node may be promoted without losing a commit.
type Fitness string

// Fitness of a standby.
const (
	FitnessUnknown Fitness = ""
	Fit            Fitness = "fit"
	Unfit          Fitness = "unfit"
)

// Observation is what was read on a node: through a status command or from a
// fresh record of its agent. Engines put their knowledge into these neutral
// fields, so that the core has no branch for an engine.
type Observation struct {
	Node   string
	Source string    // "command" or "agent"
	ReadAt time.Time // when the observer read it
	// ViewedAt is when the view of the database began that an agent's record
	// holds, on the node's clock: a record may be newer than what it tells.
	ViewedAt time.Time

	Instance       InstanceState
	InstanceCheck  string // "ok", "impaired" or "" = unknown
	Answer         Answer
	AnswerError    string
	HostTime       time.Time // the node's own clock when it was read
	Database       DatabaseState
	Role           Role
	State          string // engine's word, such as "PEER"
	SyncMode       string
	PartnerStatus  string        // engine's word, such as "CONNECTED"
	PartnerSilence time.Duration // since the last message of the partner
	PartnerLost    bool          // the engine itself counts its partner as gone or silent too long
	SettingsDiffer string        // declared settings that differ from what the database reports

	Fitness      Fitness
	FitnessWhy   string    // for people: why not fit
	FitnessNext  string    // next command for people
	PromoteUntil time.Time // on the node's clock: a promotion that starts later is refused; zero = no window
	// ProvenUntil: as standby without its primary, it has every commit that the
	// primary acknowledged before then, on the node's clock; zero = unknown. It
	// stays when the window is over, until the primary is connected again.
	ProvenUntil time.Time
	// WaitsForStandby: as primary, its log waits for the standby, so that slow
	// SQL is the standby's fault (R4).
	WaitsForStandby bool
	Position        uint64    // highest log position that it has
	ConnectedSince  time.Time // as standby: since when it is connected; zero = unknown
	HeardLast       time.Time // as standby: when its primary was heard last, on the node's clock; zero = unknown

	// LogFlows is when its agent last looked, on the node's clock, if it saw then
	// that its primary goes on sending it log as often as the primary's agent
	// commits; zero if not, or unknown. Only a standby says so.
	LogFlows time.Time

	LastGoodProbe time.Time // committed below the threshold
	LastBadProbe  time.Time // failed, timed out or above the threshold
	Latency       time.Duration
	ClockOffset   time.Duration
	ClockOffsetAt time.Time
	DeadManUntil  time.Time // dead-man of R16 seen in force until then
	// BlockedUntil: as primary, it acknowledges nothing without its standby
	// before then, on the node's clock; zero = it never waits for one.
	BlockedUntil time.Time
	// LeaseStill is the other node's lease, as this node's agent saw it stand
	// still; zero while it is renewed.
	LeaseStill LeaseSight
	// StoppedInOrder says who stopped this node's database on purpose, and why
	// (R6); "" if nobody did.
	StoppedInOrder string
	// Trouble is what keeps the node's agent from its work, with the way out;
	// "" if nothing does. A node in trouble is unfit, whatever its database says.
	Trouble string
}

// crashed reports whether the node itself says that its database does not run.
func (o Observation) crashed() bool {
	return o.Answer == Answered && (o.Database == DatabaseDown || o.Database == DatabaseInactive)
}

// ServesAsPrimary reports whether the node itself says that its database is
// active as primary. A role that only its configuration names does not count.
func (o Observation) ServesAsPrimary() bool {
	return o.Answer == Answered && o.Role == RolePrimary && o.Database == DatabaseActive
}

// Signal is a class of evidence that a primary has failed.
type Signal string

// Signals. Those of CloudWatch share one source and count once.
const (
	SignalAlarm        Signal = "alarm"          // CloudWatch
	SignalLease        Signal = "lease_expired"  // the agent's lease
	SignalInstance     Signal = "instance_state" // EC2
	SignalStandbyView  Signal = "standby_view"   // the standby does not hear its primary
	SignalSilent       Signal = "node_silent"    // the status command gets no answer
	SignalDatabaseDown Signal = "database_down"  // the node itself says that its database does not run
	SignalProbe        Signal = "probe_failing"  // the agent's own record of its probe
	SignalHuman        Signal = "human"
)

// Evidence is one dated observation about a node, with its source.
type Evidence struct {
	Node   string
	Signal Signal
	Detail string // for people
	At     time.Time
	Source string // such as an alarm's ARN or "ec2:DescribeInstances"
	// Conclusive evidence needs no second signal.
	Conclusive bool
}
