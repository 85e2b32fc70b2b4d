package casefile

import (
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Happened says the event as a person would.
func (c Case) Happened() string {
	for _, say := range []func(failover.Event) string{saidByPeople, saidByTime, saidByAWS, saidByNodes} {
		if s := say(c.Event); s != "" {
			return s
		}
	}
	return c.EventName()
}

func saidByPeople(e failover.Event) string {
	switch e := e.(type) {
	case failover.Asked:
		how := map[failover.Force]string{failover.AfterWindow: " after the window", failover.DataLoss: " by force, with loss"}[e.Force]
		return fmt.Sprintf("%s asks for a takeover from node %s%s: %s", e.Actor, e.Node, how, e.Reason)
	case failover.SwitchAsked:
		return fmt.Sprintf("%s asks for node %s as primary: %s", e.Actor, e.To, e.Reason)
	case failover.RejoinAsked:
		return fmt.Sprintf("%s asks for node %s back as standby", e.Actor, e.Node)
	case failover.Approved:
		return fmt.Sprintf("%s approves operation %s", e.Actor, e.OperationID)
	case failover.Acknowledged:
		return e.Actor + " has seen the last takeover"
	case failover.Retried:
		return e.Actor + " lets the operation go on"
	case failover.Cancelled:
		return e.Actor + " gives the operation up"
	case failover.ReleaseAsked:
		return fmt.Sprintf("%s asks for the end of the fence of node %s: %s", e.Actor, e.Node, e.Reason)
	}
	return ""
}

func saidByTime(e failover.Event) string {
	switch e := e.(type) {
	case failover.Alarmed:
		return fmt.Sprintf("an alarm of node %s went into ALARM %s: %s", e.Node, Age(e.Changed), e.Reason)
	case failover.Reported:
		return fmt.Sprintf("node %s is suspected: %s", e.Node, e.Reason)
	case failover.Watched:
		s := "the minutely look"
		for _, a := range e.Alarms {
			s += fmt.Sprintf("; an alarm of node %s is red since %s: %s", a.Node, Age(a.Since), a.Reason)
		}
		if e.Lease.Sealed {
			s += fmt.Sprintf("; operation %s sealed the lease of epoch %d %s", e.Lease.SealedBy, e.Lease.Epoch, Age(e.Lease.SealedAt))
		}
		return s
	case failover.Gathered:
		return "both nodes were read"
	case failover.Resumed:
		return "a runner finds the operation on the record"
	case failover.Elapsed:
		return "a wait is over"
	case failover.Sealed:
		return "the lease " + was(e.OK, "sealed", e.Why)
	case failover.Claimed:
		return "the group " + was(e.OK, "claimed", e.Why)
	}
	return ""
}

func saidByAWS(e failover.Event) string {
	switch e := e.(type) {
	case failover.StopRequested:
		return fmt.Sprintf("the request to stop node %s ended: %s", e.Node, ended(e.Outcome, e.Error))
	case failover.InstanceRead:
		return fmt.Sprintf("the machine of node %s reads %q %s", e.Node, e.State, e.Error)
	case failover.RouteMoved:
		return "the route in " + e.Table + " " + was(e.OK, "moved", e.Error)
	case failover.RouteRead:
		return fmt.Sprintf("the route in %s leads to %q %s", e.Table, e.Owner, e.Error)
	case failover.PathChecked:
		return "the way through " + e.Table + " " + was(e.OK, "found open", e.Error)
	case failover.Repaired:
		return "the route in " + e.Table + " " + was(e.OK, "led back to node "+e.Node, e.Error)
	case failover.GroupsRead:
		return fmt.Sprintf("the security groups of node %s read %v %s", e.Node, e.Groups, e.Error)
	case failover.GroupsSet:
		return "the security groups of node " + e.Node + " " + was(e.OK, "set", e.Error)
	}
	return ""
}

func saidByNodes(e failover.Event) string {
	switch e := e.(type) {
	case failover.NodeRead:
		return "node " + e.Observation.Node + " was read"
	case failover.Promoted:
		return fmt.Sprintf("the promotion of node %s ended: %s", e.Node, ended(e.Outcome, e.Code+" "+e.Detail))
	case failover.Started:
		return fmt.Sprintf("the start of node %s ended: %s", e.Node, ended(e.Outcome, e.Error))
	case failover.Reintegrated:
		return fmt.Sprintf("the start of node %s as standby ended: %s", e.Node, ended(e.Outcome, e.Code+" "+e.Detail))
	}
	return ""
}

func was(ok bool, what, why string) string {
	if ok {
		return "was " + what
	}
	return "was not " + what + ": " + why
}

func ended(o failover.Outcome, why string) string {
	if why == "" {
		return string(o)
	}
	return fmt.Sprintf("%s (%s)", o, why)
}
