package failover

import (
	"fmt"
	"strings"
	"time"
)

// outside reports whether a signal does not rest on CloudWatch. Those that do
// fail together when metrics stop arriving: in every group, in every zone, at
// the same time. However many alarms are red then, one of these is needed about
// each group before it is touched (R8).
func (s Signal) outside() bool {
	switch s {
	case SignalLease, SignalInstance, SignalStandbyView, SignalDatabaseDown, SignalProbe, SignalHuman:
		return true
	}
	return false
}

// supports reports whether a signal is told to people but proves nothing: a
// node that does not answer its status command within seconds may just have a
// slow agent, and a healthy primary must not be shot for that (R8).
func (s Signal) supports() bool { return s == SignalSilent }

// agentAlone reports whether all that speaks against a primary comes through its
// agent, or does not arrive because of it.
func (q question) agentAlone() bool {
	for _, e := range q.evidence {
		if e.Node == q.suspect.Node && !e.Signal.supports() && !e.outdated(q.at) && e.Signal != SignalAlarm && e.Signal != SignalLease {
			return false
		}
	}
	return true
}

// doubt says why signals that are enough in number prove nothing, "" if they do,
// and what to look at first. Alarms and the lease have two causes in common with a
// primary that is well:
//
//   - Its agent died, sends no metrics and renews no lease, while the node itself
//     answers that its database serves (R6). An agent that is alive tells of a
//     hang by its own record.
//   - The way to AWS is slow or cut, for all that the agent sends and for the
//     status command, while its standby goes on receiving log (R8). A hung
//     primary may stay connected and send heartbeats; log comes of its commits,
//     and of one that hardly gets on it comes too seldom.
func (q question) doubt() (why, first string) {
	switch {
	case !q.agentAlone():
		return "", ""
	case q.state.on(R6) && q.suspect.ServesAsPrimary():
		return fmt.Sprintf("alarms and the lease say that node %s failed, and both hang on its agent; the node itself says that its database serves, and nothing else speaks against it", q.suspect.Node),
			fmt.Sprintf("look at hadr-agent on node %s (systemctl status hadr-agent); ", q.suspect.Node)
	case q.receivesLog():
		return fmt.Sprintf("alarms and the lease say that node %s failed, and both hang on its agent and its way to AWS; node %s goes on receiving log of it (seen %s ago), so that its database commits, and nothing else speaks against it",
				q.suspect.Node, q.standby.Node, q.logSeen().Round(time.Second)),
			fmt.Sprintf("look at hadr-agent on node %s (systemctl status hadr-agent), and at its way to AWS (NAT gateway, endpoints of the VPC, security groups); ", q.suspect.Node)
	}
	return "", ""
}

// receivesLog reports whether the standby's agent saw a moment ago that the
// primary goes on sending log.
func (q question) receivesLog() bool {
	o := q.standby
	return o.Answer == Answered && !o.PartnerLost && !o.LogFlows.IsZero() && q.logSeen().Abs() <= logAge
}

// logSeen is how long ago that was. The standby's clock may be wrong, so its
// times are compared with its own.
func (q question) logSeen() time.Duration {
	return q.standby.HostTime.Sub(q.standby.LogFlows) + q.at.Sub(q.standby.ReadAt)
}

// outdated reports whether evidence was read now but is of a time long past: the
// record of an agent that was stopped right after a bad probe says so for ever.
func (e Evidence) outdated(at time.Time) bool {
	return e.Signal == SignalProbe && at.Sub(e.At) > badProbeAge
}

// proven applies the two-signal rule (R8): evidence from outside CloudWatch that
// stands alone, or two signals of which one does not come from CloudWatch.
func proven(evidence []Evidence, suspect string, at time.Time) (ok bool, why string) {
	seen := map[Signal]bool{}
	var names []string
	outside := false
	for _, e := range evidence {
		if e.Node != suspect || e.Signal.supports() || e.outdated(at) || seen[e.Signal] && !e.Conclusive {
			continue
		}
		if e.Conclusive && e.Signal.outside() {
			return true, string(e.Signal) + " (" + e.Detail + ")"
		}
		seen[e.Signal] = true
		names = append(names, string(e.Signal))
		outside = outside || e.Signal.outside()
	}
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return false, "no sign of a failure of node " + suspect + " can be read now"
	case !outside:
		return false, fmt.Sprintf("only CloudWatch (%s) says that node %s failed; a second signal from outside CloudWatch is needed", list, suspect)
	case len(names) < 2:
		return false, fmt.Sprintf("only one signal (%s) says that node %s failed; two are needed", list, suspect)
	}
	return true, list
}
