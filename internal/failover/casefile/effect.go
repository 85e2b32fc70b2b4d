package casefile

import (
	"fmt"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// describe says what is to be done, in its order. An entry that goes to the
// history and to people is said once.
func describe(effects []failover.Effect) []string {
	var done []string
	for i, e := range effects {
		switch e := e.(type) {
		case failover.Record:
			how := "record"
			if i+1 < len(effects) {
				if _, told := effects[i+1].(failover.Notify); told {
					how = "tell"
				}
			}
			done = append(done, how+" "+e.Entry.Event)
		case failover.Notify:
		default:
			done = append(done, action(e))
		}
	}
	return done
}

// action says what one effect does.
func action(e failover.Effect) string {
	switch e := e.(type) {
	case failover.Gather:
		return "look at both nodes"
	case failover.Seal:
		return fmt.Sprintf("seal the lease of %s of epoch %d", e.Node, e.Epoch)
	case failover.Unseal:
		return fmt.Sprintf("take seal %s off the lease of %s", e.SealID, e.Node)
	case failover.Claim:
		return "claim"
	case failover.ReadInstance:
		return "read the machine of " + e.Node
	case failover.ReadGroups:
		return "read the security groups of " + e.Node
	case failover.ReadNode:
		return "read node " + e.Node
	case failover.ReadRoute:
		return "read the route in " + e.Table
	case failover.CheckPath:
		return fmt.Sprintf("try the way to %s through %s", e.Node, e.Table)
	case failover.Wait:
		return "wait " + short(e.For)
	case failover.EndMaintenance:
		return "end maintenance"
	}
	return change(e)
}

// change says what an effect changes in the world.
func change(e failover.Effect) string {
	switch e := e.(type) {
	case failover.Stop:
		return fmt.Sprintf("stop %s in epoch %d", e.Node, e.Epoch)
	case failover.Start:
		return fmt.Sprintf("start %s in epoch %d", e.Node, e.Epoch)
	case failover.SetGroups:
		return fmt.Sprintf("set the security groups of %s to %s in epoch %d", e.Node, strings.Join(e.Groups, ", "), e.Epoch)
	case failover.StartDatabase:
		how := ""
		if e.Alone {
			how = " without its standby"
		}
		return fmt.Sprintf("start the database of %s%s in epoch %d, start %d", e.Node, how, e.Epoch, e.Attempt)
	case failover.Promote:
		how := ""
		if e.Force {
			how = " by force"
		}
		if e.InOrder {
			how = " in order"
		}
		return fmt.Sprintf("promote %s%s in epoch %d, attempt %d, not after %s", e.Node, how, e.Epoch, e.Attempt, relative(e.Deadline))
	case failover.MoveRoute:
		return fmt.Sprintf("lead %s to %s in epoch %d", e.Table, e.Node, e.Epoch)
	case failover.Repair:
		return fmt.Sprintf("lead %s back to %s in epoch %d", e.Table, e.Node, e.Epoch)
	case failover.Reintegrate:
		return fmt.Sprintf("make %s standby in epoch %d, attempt %d", e.Node, e.Epoch, e.Attempt)
	}
	return fmt.Sprintf("%T", e)
}
