package check

import (
	"slices"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// task is an effect in one byte: what, and on which node and route table.
type task uint8

const (
	nothing task = iota << 2
	doGather
	doSeal
	doClaim
	doStop
	doReadInstance
	doReadNode
	doPromote
	doMove
	doReadRoute
	doCheckPath
	doStart
	doActivate
	doActivateAlone
	doReintegrate
	doWait
	doRepair
	doEndMaintenance
	doReadGroups
	doCut
	doReconnect
	doUnseal
	doUnsealOld // a seal that is not on the lease any more
	doUnknown
)

func (t task) what() task   { return t &^ 3 }
func (t task) node() uint8  { return uint8(t & 1) }
func (t task) table() uint8 { return uint8(t >> 1 & 1) }

// mutates reports whether a task changes something outside the record.
func (t task) mutates() bool {
	switch t.what() {
	case doStop, doStart, doActivate, doActivateAlone, doReintegrate, doPromote, doMove, doRepair, doCut, doReconnect:
		return true
	}
	return false
}

// commands reports whether a task is a command on a node. It takes some seconds,
// longer than a look at the record stays good (R22).
func (t task) commands() bool {
	switch t.what() {
	case doActivate, doActivateAlone, doReintegrate, doPromote:
		return true
	}
	return false
}

// taskOf returns the task of an effect, or what it tells people. Deadlines are
// those of the operation's step.
func taskOf(e failover.Effect) (task, said) {
	on := func(t task, node string) task { return t | task(number(node)) }
	at := func(t task, table string) task {
		if table == tables[1] {
			t |= 2
		}
		return t
	}
	switch e := e.(type) {
	case failover.Record:
		return nothing, 0
	case failover.Notify:
		return nothing, saidBy(e.Entry)
	case failover.Gather:
		return doGather, 0
	case failover.Seal:
		return doSeal, 0
	case failover.Claim:
		return doClaim, 0
	case failover.Stop:
		return on(doStop, e.Node), 0
	case failover.ReadInstance:
		return on(doReadInstance, e.Node), 0
	case failover.ReadNode:
		return on(doReadNode, e.Node), 0
	case failover.Promote:
		return on(doPromote, e.Node), 0
	case failover.MoveRoute:
		return at(on(doMove, e.Node), e.Table), 0
	case failover.ReadRoute:
		return at(doReadRoute, e.Table), 0
	case failover.CheckPath:
		return at(on(doCheckPath, e.Node), e.Table), 0
	case failover.Start:
		return on(doStart, e.Node), 0
	case failover.StartDatabase:
		if e.Alone {
			return on(doActivateAlone, e.Node), 0
		}
		return on(doActivate, e.Node), 0
	case failover.Reintegrate:
		return on(doReintegrate, e.Node), 0
	case failover.Wait:
		return doWait, 0
	case failover.Repair:
		return at(on(doRepair, e.Node), e.Table), 0
	case failover.EndMaintenance:
		return doEndMaintenance, 0
	case failover.Unseal:
		return doUnseal, 0
	case failover.ReadGroups:
		return on(doReadGroups, e.Node), 0
	case failover.SetGroups:
		if slices.Equal(e.Groups, []string{cutGroup}) {
			return on(doCut, e.Node), 0
		}
		return on(doReconnect, e.Node), 0
	}
	return doUnknown, 0
}

func saidBy(e failover.Entry) said {
	switch e.Event {
	case "started":
		return saidStarted
	case "refused":
		return saidRefused
	case "blocked":
		return saidBlocked
	case "ended":
		return saidEnded
	case "would_have_acted", "approval_wanted":
		return saidOnly
	}
	return saidOther
}
