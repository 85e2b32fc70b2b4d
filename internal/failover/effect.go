package failover

import (
	"strings"
	"time"
)

// Effect is something to do. It is data until control runs it.
type Effect interface{ isEffect() }

// Gather reads both nodes and the other evidence, each within Timeout (R4).
type Gather struct {
	Nodes   []string
	Suspect string
	Alarm   string // ARN to read again, "" = none
	Timeout time.Duration
}

// Seal seals the lease of the suspect for an operation (R10).
type Seal struct {
	Node        string
	Epoch       uint64
	OperationID string
}

// Claim saves the state with the conditions of a claim: maintenance is off and
// nothing changed since it was loaded (R11).
type Claim struct{}

// Stop stops a machine without its operating system's shutdown (R15).
type Stop struct {
	Node  string
	Epoch uint64
}

// ReadInstance reads the state of a node's machine.
type ReadInstance struct{ Node string }

// ReadNode reads one node's own view.
type ReadNode struct {
	Node    string
	Timeout time.Duration
}

// Promote runs the engine's promotion on a node, at most once per operation,
// step and attempt, and not after Deadline (R21).
type Promote struct {
	Node        string
	Epoch       uint64
	OperationID string
	Attempt     int
	CommandID   string // of an earlier run of this attempt, if known
	Deadline    time.Time
	Force       bool // outside of the window, at a person's word (R19)
	InOrder     bool // with the primary's help: a switchover
}

// MoveRoute leads the VIP to a node in one route table.
type MoveRoute struct {
	Table    string
	Node     string
	Epoch    uint64
	Deadline time.Time // may be finished until then without the record (R27)
}

// ReadRoute reads where the VIP leads in one route table.
type ReadRoute struct{ Table string }

// CheckPath opens a TCP connection to the endpoint through one route table.
type CheckPath struct {
	Table string
	Node  string
}

// Start starts a node's machine again, whose database starts with it.
type Start struct {
	Node  string
	Epoch uint64
}

// StartDatabase starts the database server and the database of a node, in the
// role that it has on disk. Alone starts a primary without its standby (R29).
type StartDatabase struct {
	Node        string
	Epoch       uint64
	OperationID string
	Attempt     int
	Deadline    time.Time
	Alone       bool
}

// Wait lets time pass.
type Wait struct{ For time.Duration }

// Record appends to the history.
type Record struct{ Entry Entry }

// Notify tells people.
type Notify struct{ Entry Entry }

// Entry is one line of history.
type Entry struct {
	At          time.Time
	OperationID string
	Event       string // "started", "ended", "refused", "ignored", "step", "blocked", "would_have_acted"
	Kind        Kind
	Epoch       uint64
	From, To    string
	Step        StepName
	Reason      string // for people
	Next        string // next command for people, "" if none
	Evidence    []Evidence
	Phases      []PhaseTime
	Outcome     string
	Actor       string
}

// Headline is what happened in a few words, such as "BLOCKED" or "ENDED (rejoined)".
func (e Entry) Headline() string {
	head := strings.ToUpper(strings.ReplaceAll(e.Event, "_", " "))
	if e.Outcome != "" && e.Outcome != e.Event {
		head += " (" + e.Outcome + ")"
	}
	return head
}

func (Gather) isEffect()        {}
func (Seal) isEffect()          {}
func (Claim) isEffect()         {}
func (Stop) isEffect()          {}
func (ReadInstance) isEffect()  {}
func (ReadNode) isEffect()      {}
func (Promote) isEffect()       {}
func (MoveRoute) isEffect()     {}
func (ReadRoute) isEffect()     {}
func (CheckPath) isEffect()     {}
func (Start) isEffect()         {}
func (StartDatabase) isEffect() {}
func (Wait) isEffect()          {}
func (Record) isEffect()        {}
func (Notify) isEffect()        {}
