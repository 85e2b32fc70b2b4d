// Package control runs effects: it loads a group's record, steps the core,
// saves, executes and feeds the results back. The same runner works in Lambda,
// in the command line tool, in the sandbox and in tests.
package control

import (
	"context"
	"errors"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Errors of a Store.
var (
	// ErrConflict: the record is not what the caller last read (R11).
	ErrConflict = errors.New("the record was changed by somebody else")
	// ErrMaintenance: a claim met maintenance.
	ErrMaintenance = errors.New("the group is in maintenance")
	// ErrNotFound: no such group or binding.
	ErrNotFound = errors.New("not found")
)

// Store is the authority and its history. Reads are strongly consistent.
type Store interface {
	// Load returns STATE and CONFIG of a group, or ErrNotFound.
	Load(ctx context.Context, group string) (failover.State, error)
	// Claim saves next over prev with the conditions of a claim (R11), and
	// returns ErrConflict or ErrMaintenance. A conflict with a state that
	// carries next's operation id is a won claim (R2).
	Claim(ctx context.Context, prev, next failover.State) error
	// Save saves next over prev, or returns ErrConflict. It never touches the
	// maintenance attributes, which people own. A lost response is answered by
	// reading back.
	Save(ctx context.Context, prev, next failover.State) error
	// Seal makes the lease of the group unrenewable (R10): by compare-and-swap
	// on counter and epoch, by creating it sealed where there is none.
	// It reports false if the lease was renewed meanwhile. A lease that is sealed
	// already is sealed anew: the earlier seal may be taken off (Leases.Unseal).
	Seal(ctx context.Context, group, node string, epoch uint64, operationID string) (sealed bool, why string, err error)
	// Append adds to the history. An entry that repeats the newest one of its
	// operation is there already: whoever wrote it died before the next step.
	Append(ctx context.Context, group string, e failover.Entry) error
	// Node returns the newest record of a node's agent, or ErrNotFound.
	Node(ctx context.Context, group, node string) (failover.Observation, error)
	// PutNode records what was read on a node; a newer record stays.
	PutNode(ctx context.Context, group string, o failover.Observation) error
	// ReadAlarms returns the ARNs of the alarms of each node.
	ReadAlarms(ctx context.Context, group string) (map[string][]string, error)
	// EndMaintenance clears maintenance that has expired, unless it was changed
	// since.
	EndMaintenance(ctx context.Context, group string, expired failover.Maintenance) error
	// Binding returns group and node of an alarm, or ErrNotFound (R1).
	Binding(ctx context.Context, alarmARN string) (group, node string, err error)
	// See remembers that operationID handles an alarm's change of state, and
	// returns the operation that does: the first one that asked (R2).
	See(ctx context.Context, alarmARN string, changed time.Time, operationID string, expires time.Time) (string, error)
	// Unknown records an event of nobody.
	Unknown(ctx context.Context, e failover.Entry, payload []byte) error
}

// Instances are the nodes' machines.
type Instances interface {
	// State reads a machine and its status check ("ok", "impaired", "").
	State(ctx context.Context, n failover.NodeConfig) (failover.InstanceState, string, error)
	// Stop stops it without its operating system's shutdown. The outcome is
	// Failed only if AWS rejected the call, Unknown if no answer came.
	Stop(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error)
	// Start starts it.
	Start(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error)
	// Groups reads the security groups of its network interface.
	Groups(ctx context.Context, n failover.NodeConfig) ([]string, error)
	// SetGroups replaces them.
	SetGroups(ctx context.Context, n failover.NodeConfig, groups []string) error
}

// Promotion is what an engine is asked to do on a node.
type Promotion struct {
	Group       string
	Node        failover.NodeConfig
	Other       failover.NodeConfig // the group's other node
	Epoch       uint64
	OperationID string
	Attempt     int
	CommandID   string
	First       bool // nobody can have sent it before
	VIP         string
	Deadline    time.Time
	Settings    map[string]string
	Force       bool // promote although the standby may lack commits: a person's word (R19)
	InOrder     bool // change roles with the primary's help
	Alone       bool // start the primary without its standby (R29)
}

// PromotionResult is what came of it.
type PromotionResult struct {
	CommandID string
	Outcome   failover.Outcome
	Role      failover.Role // that the command read on the node when it was done; "" = none
	Code      string
	Detail    string
	Next      string // for people
}

// Engine is one kind of database.
type Engine interface {
	// Observe reads a node's own view. It returns an observation in every case:
	// no answer is one, too.
	Observe(ctx context.Context, group string, n failover.NodeConfig, settings map[string]string) failover.Observation
	// Promote runs or resumes a promotion (R21). The runner is told the command
	// id as soon as it is known.
	Promote(ctx context.Context, p Promotion, started func(commandID string)) PromotionResult
	// StartDatabase starts the database of a node in the role that it has on
	// disk. What came of it is read afterwards.
	StartDatabase(ctx context.Context, p Promotion) (failover.Outcome, error)
	// Rejoin makes the database of a node the standby of the other one. What
	// came of it is read afterwards.
	Rejoin(ctx context.Context, p Promotion) PromotionResult
	// Manual says what a person does by hand on a node of this engine.
	Manual() failover.Manual
}

// Routes are the routes that lead to the endpoint.
type Routes interface {
	// Owner returns the network interface that the route of vip leads to in a
	// table, "" if there is no such route.
	Owner(ctx context.Context, table, vip string) (eni string, err error)
	// Move leads vip to eni in a table and reads that it is so.
	Move(ctx context.Context, table, vip, eni string) error
	// Check opens a TCP connection to vip:port from an instance whose subnet
	// uses the table.
	Check(ctx context.Context, instance, vip string, port int) error
}

// Alarms reads the present state of the alarms of a node, as evidence.
type Alarms interface {
	Evidence(ctx context.Context, alarmARNs []string) ([]failover.Evidence, error)
}

// Leases are the liveness of primaries.
type Leases interface {
	// ReadLease returns the lease of a group, or ErrNotFound.
	ReadLease(ctx context.Context, group string) (failover.Lease, error)
	// SealSeen seals a lease where it was seen to stand still, or says why not
	// (R10).
	SealSeen(ctx context.Context, group string, seen failover.Lease, operationID string) (sealed bool, why string, err error)
	// Unseal takes a seal off again, if it is still the one on the lease. It is
	// no error if it is not.
	Unseal(ctx context.Context, group, sealID string) error
}

// Notifier tells people.
type Notifier interface {
	Notify(ctx context.Context, group string, e failover.Entry) error
}
