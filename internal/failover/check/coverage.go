package check

import (
	"fmt"
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Cell is a place where a fault happened: the phase of the group, the step of
// its operation ("" = none, or blocked), and the fault.
type Cell struct {
	Phase failover.Phase
	Step  failover.StepName
	Fault Fault
}

func (c Cell) String() string { return fmt.Sprintf("%s %s %s", c.Phase, c.Step, faultNames[c.Fault]) }

// Coverage counts how often each cell was met.
type Coverage struct{ Cells map[Cell]int64 }

// NewCoverage returns one in which nothing was met.
func NewCoverage() *Coverage { return &Coverage{map[Cell]int64{}} }

func (c *Coverage) note(f *facts, fault Fault) {
	cell := Cell{f.phase, f.step, fault}
	if f.blocked {
		cell.Step = ""
	}
	c.Cells[cell]++
}

// Merge adds up what was met.
func (c *Coverage) Merge(o *Coverage) {
	for k, n := range o.Cells {
		c.Cells[k] += n
	}
}

// Complete counts the cells that were met, and tells those that are impossible,
// with the reason, and those that are missing: nothing says why they were not
// met.
func (c *Coverage) Complete() (met int, impossible, missing []string) {
	for _, cell := range Cells() {
		switch why := cell.Impossible(); {
		case c.Cells[cell] > 0:
			met++
		case why != "":
			impossible = append(impossible, fmt.Sprintf("%s: %s", cell, why))
		default:
			missing = append(missing, fmt.Sprintf("%s was not met: it can't happen, or the bound is too small", cell))
		}
	}
	return met, impossible, missing
}

// steps are what an operation does in each of its steps, by the faults of it.
var steps = map[failover.Phase]map[failover.StepName][]Fault{
	failover.Steady: {"": {NodeSilent, StopRejected, StopUnknown, StopLost, StopLate}},
	failover.TakingOver: {
		failover.StepRecheck:  {NodeSilent},
		failover.StepFence:    {InstanceUnread, StopRejected, StopUnknown, StopLost, StopLate},
		failover.StepFenced:   {InstanceUnread},
		failover.StepPromote:  {PromoteUnknown, PromoteLost, PromoteLate, CommandFailed},
		failover.StepConfirm:  {NodeSilent},
		failover.StepRedirect: {MoveFailed, MoveDenied, MoveLate},
		failover.StepVerify:   {GroupsUnread, GroupsFailed, GroupsLost},
		failover.StepWithdraw: {InstanceUnread, MoveFailed, StopRejected, StopUnknown, StopLost, StopLate},
		failover.StepRestart:  {InstanceUnread, NodeSilent, StartUnknown, StartLate, CommandFailed, StopRejected, StopUnknown, StopLost, StopLate},
	},
	failover.SwitchingOver: {
		failover.StepRecheck:  {NodeSilent},
		failover.StepPromote:  {PromoteUnknown, PromoteLost, PromoteLate, CommandFailed},
		failover.StepConfirm:  {NodeSilent},
		failover.StepRedirect: {MoveFailed, MoveDenied, MoveLate},
		failover.StepVerify:   {NodeSilent},
	},
	failover.Rejoining: {
		failover.StepBoot:        {InstanceUnread, NodeSilent, StartUnknown, StartLate, GroupsFailed, GroupsLost},
		failover.StepReintegrate: {CommandFailed},
		failover.StepPeer:        {NodeSilent},
	},
	failover.Blocked: {"": {}},
}

// anywhere are the faults of the world, of the record and of runners.
var anywhere = []Fault{
	RunnerDies, RecordDown, AnswerLost, LinkBreaks, LinkSilent, LinkDeaf, NodeCut, AgentDies, PowerLost, HostFrozen, DatabaseDies, DatabaseHangs,
	AlarmLies, CheckLies, EventLost, EventRepeated, MachineStarted, ClockWrong, PathBlocked,
}

// Cells are all cells that there may be.
func Cells() []Cell {
	var cells []Cell
	for phase, of := range steps {
		for step, faults := range of {
			for _, f := range slices.Concat(faults, anywhere) {
				cells = append(cells, Cell{phase, step, f})
			}
		}
	}
	slices.SortFunc(cells, func(a, b Cell) int { return compare(a.String(), b.String()) })
	return cells
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Impossible says why a cell can't be met within one fault, "" if it can.
func (c Cell) Impossible() string {
	switch c.Fault {
	case LinkSilent, LinkDeaf, ClockWrong:
		if c.Phase == failover.TakingOver && (c.Step == failover.StepPromote || c.Step == failover.StepWithdraw) {
			return "the nodes are not in peer state at this step: the old primary is stopped, and it takes another fault to start it"
		}
	case PathBlocked:
		if c.Step == failover.StepVerify {
			return "every route has moved: the way is blocked before, or not at all"
		}
	case MachineStarted:
		if c.Step == failover.StepReintegrate || c.Step == failover.StepPeer {
			return "both machines run"
		}
	}
	return ""
}

var faultNames = [...]string{
	"nothing", "runner dies", "record gives no answer", "answer of the record is lost", "stop is rejected", "stop is lost", "answer to the stop is lost",
	"stop is late", "promotion is lost", "result of the promotion is lost", "promotion is late", "node is silent", "machine can't be read",
	"move fails", "move is denied", "move is late", "start is lost", "start is late",
	"security groups can't be read", "security groups can't be set", "answer of the security groups is lost",
	"command fails", "link breaks", "link goes silent", "link goes silent towards the standby", "node is cut off", "agent dies",
	"power is lost", "host freezes", "database dies", "database hangs", "alarm lies", "status check lies", "event is lost", "event comes again",
	"machine is started", "clock is wrong", "path is blocked",
}
