package check

import (
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// doing tells what a runner does.
func (c *cores) doing(s step) string {
	t, n := s.action.task, names[s.action.task.node()]
	table := tables[t.table()]
	switch t.what() {
	case doWait:
		return "looks again."
	case doGather:
		return c.gathering(s)
	case doSeal:
		if s.action.answer != good {
			return "can't seal the lease."
		}
		return "seals the lease of the primary."
	case doReadInstance:
		if s.action.fault == InstanceUnread {
			return "can't read the machine of node " + n + "."
		}
		return fmt.Sprintf("reads that the machine of node %s is %s.", n, instances[s.before.nodes[t.node()].machine])
	case doReadNode:
		return "reads node " + n + ": " + seen(s.before.view(&Setup{}, int(t.node()), s.action.fault == NodeSilent)) + "."
	case doReadRoute:
		return "reads where the route in " + table + " leads."
	case doCheckPath:
		return "tries a connection through " + table + ": " + [...]string{good: "it works", failed: "it does not work"}[s.action.answer] + "."
	case doEndMaintenance:
		return "clears the expired maintenance."
	case doUnseal, doUnsealOld:
		return "takes the seal off the lease."
	case doReadGroups:
		return "reads the security groups of node " + n + c.fate(s) + "."
	}
	text := map[task]string{
		doCut: "cuts node " + n + " off from new connections", doReconnect: "gives node " + n + " its security groups back",
		doStop: "stops node " + n, doStart: "starts the machine of node " + n,
		doPromote:  "sends the takeover command to node " + n,
		doActivate: "starts the database of node " + n, doActivateAlone: "starts the database of node " + n + " without its standby",
		doReintegrate: "makes node " + n + " a standby",
		doMove:        "leads the route in " + table + " to node " + n, doRepair: "leads the route in " + table + " back to node " + n,
	}[t.what()]
	return text + c.fate(s) + "."
}

// fate is how a task on AWS or on a node ended.
func (c *cores) fate(s step) string {
	switch s.action.fault {
	case StopRejected:
		return ", and AWS rejects it"
	case StopUnknown, PromoteUnknown, StartUnknown:
		return ", but the request is lost on its way"
	case StopLost, PromoteLost, AnswerLost, GroupsLost:
		return "; it is done, but the answer is lost"
	case StopLate, PromoteLate, MoveLate, StartLate:
		return ", and gets no answer: the request is still on its way"
	case MoveFailed, GroupsFailed, GroupsUnread:
		return ", and the request fails"
	case MoveDenied:
		return ", and has no permission to"
	case CommandFailed:
		return ", and the command fails"
	case RecordDown:
		return ", but the record gives no answer before that, and it ends"
	}
	n := s.action.task.node()
	switch {
	case s.action.answer == unknown:
		return ", and gets no answer"
	case s.action.answer == failed:
		return ", which fails"
	case s.action.task.what() == doStop && s.after.nodes[n].machine == stopping:
		return ": AWS accepts it, and the machine runs on for now"
	case s.action.task.what() == doPromote:
		return ", which becomes primary"
	}
	return ""
}

func (c *cores) gathering(s step) string {
	text := "reads both nodes: "
	for i := range s.before.nodes {
		v := s.before.view(&Setup{}, i, false)
		if s.action.fault == NodeSilent && int(s.action.node) == i {
			v = s.before.view(&Setup{}, i, true)
		}
		if i > 0 {
			text += ", "
		}
		text += "node " + names[i] + " " + seen(v)
	}
	r := s.after.runners[s.action.runner]
	switch f := c.about(r.core); {
	case s.action.said != 0 || r.mode == idle:
	case r.work[0].what() == doWait:
		text += "; it waits for more evidence"
	case f.decided == failover.Switchover:
		text += "; it decides to switch over"
	case f.decided == failover.Takeover:
		text += "; it decides to take over"
	case f.decided == failover.Adopt:
		text += "; it decides to follow node " + names[1-f.suspect]
	case f.decided == failover.Restart:
		text += "; it decides to start node " + names[f.suspect] + " again"
	}
	return text + "."
}

// seen puts a view into words.
func seen(v view) string {
	switch {
	case !v.answers:
		return "gives no answer"
	case v.database == down:
		return "has no database server"
	case v.database == inactive && v.role == primary:
		return "is an inactive primary"
	case v.database == inactive:
		return "is inactive"
	case v.role == primary && v.waits:
		return "is primary and waits for its standby"
	case v.role == primary && v.lost:
		return "is primary without a standby"
	case v.role == primary:
		return "is primary"
	case v.fit && v.lost:
		return "is a fit standby without its primary"
	case v.fit:
		return "is a fit standby"
	}
	return "is a standby that is not fit"
}
