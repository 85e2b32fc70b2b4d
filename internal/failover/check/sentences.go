package check

import (
	"fmt"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// sentence tells one step in plain words.
func (c *cores) sentence(s step) string {
	a, n := s.action, names[s.action.node]
	switch a.verb {
	case breaks:
		return fmt.Sprintf(faultTexts[a.fault], n)
	case passes:
		return [...]string{"Ten seconds pass.", "Two minutes pass.", "Forty minutes pass."}[a.span]
	case stops:
		return "The machine of node " + n + " has stopped."
	case connects:
		return "The standby connects again and catches up."
	case catchesUp:
		return "The standby is in peer state again."
	case reddens:
		return "The alarm of node " + n + " fires."
	case greens:
		return "The alarm of node " + n + " is over."
	case heals:
		return "The link between the nodes works again."
	case reaches:
		return "Node " + n + " reaches AWS again."
	case revives:
		return "The agent of node " + n + " is started again."
	case renews:
		return "The agent takes a new lease."
	case acts:
		return fmt.Sprintf(deedTexts[a.deed], n) + c.outcome(s)
	case arrives:
		return c.arrival(s)
	}
	return c.runnerSentence(s)
}

func (c *cores) runnerSentence(s step) string {
	a, n := s.action, names[s.action.node]
	who := "The " + c.actor(s)
	switch a.verb {
	case delivers:
		t := "The event of the alarm of node " + n + " starts a function"
		if a.fault == EventRepeated {
			t += ", and will be delivered again"
		}
		return t + "." + c.outcome(s)
	case intrudes:
		return "Another stack, whose table is a restored one, looks: its record says node a is primary. It " + c.doing(s)
	case misleads:
		return "An event of another group's alarm names node " + n + " in its text, and starts a function." + c.outcome(s)
	case looks:
		return "The minutely look begins." + c.outcome(s)
	case dies:
		if a.fault == NoFault {
			return who + " sees maintenance and ends."
		}
		return who + " dies."
	case wakes:
		return who + " goes on with what it finds on the record." + c.outcome(s)
	case conflicts:
		return who + " finds that somebody else has written to the record, and steps back."
	case saves:
		return who + " " + c.recording(s)
	case claims:
		return who + " " + c.claiming(s) + c.outcome(s)
	}
	return who + " " + c.doing(s) + c.outcome(s)
}

// actor names the runner of a step.
func (c *cores) actor(s step) string {
	switch r := s.before.runners[s.action.runner]; r.source {
	case look:
		return "look"
	case human:
		return "command"
	}
	return "function"
}

var faultTexts = [faultCount]string{
	LinkBreaks:     "The link between the nodes breaks.%.0s",
	LinkSilent:     "The link between the nodes goes silent.%.0s",
	LinkDeaf:       "The link between the nodes goes silent, and the standby has not noticed yet.%.0s",
	NodeCut:        "Node %s loses its way to AWS's services.",
	AgentDies:      "The agent of node %s dies.",
	PowerLost:      "The machine of node %s loses its power.",
	HostFrozen:     "The host of node %s freezes.",
	DatabaseDies:   "The database server of node %s dies.",
	DatabaseHangs:  "The database of node %s hangs: it commits nothing and stays connected.",
	AlarmLies:      "The alarm of node %s fires for no reason.",
	CheckLies:      "The status check of node %s's machine fails for no reason.",
	EventLost:      "The event of the alarm of node %s is lost.",
	MachineStarted: "Automatic recovery starts the machine of node %s.",
	ClockWrong:     "The clock of the standby falls 20 seconds behind.%.0s",
	PathBlocked:    "A security group blocks the way to node %s.",
}

var deedTexts = [deedCount]string{
	Asks:         "A person asks for a takeover from node %s.",
	AsksLate:     "A person asks for a takeover from node %s after the window.",
	AcceptsLoss:  "A person asks for a takeover from node %s and accepts that commits may be lost.",
	Switches:     "A person asks for node %s as primary.",
	Approves:     "A person approves the takeover that waits.%.0s",
	Acknowledges: "A person acknowledges the last takeover.%.0s",
	Releases:     "A person asks for the end of the fence of node %s.",
	Seizes:       "An operator takes over by hand on node %s, by force within its window.",
	PausesFor:    "A person sets maintenance for twenty seconds.%.0s",
	Applies:      "A person runs terraform apply, for which node a is the preferred primary.%.0s",
	Resumes:      "A person resumes the blocked operation.%.0s",
	Cancels:      "A person cancels the blocked operation.%.0s",
	Pauses:       "A person sets maintenance.%.0s",
	Unpauses:     "A person ends maintenance.%.0s",
	Swaps:        "An operator switches the roles by hand.%.0s",
	Rejoins:      "A person asks for node %s back as standby.",
	TurnsOn:      "A person starts the machine of node %s.",
}

// outcome is what people are told by a step.
func (c *cores) outcome(s step) string {
	switch {
	case s.action.said&saidBlocked != 0:
		return " The operation is blocked, and people are told."
	case s.action.said&saidRefused != 0:
		return " It refuses, and people are told why."
	case s.action.said&saidOnly != 0 && c.about(s.after.record).pending == "" && c.about(s.after.runners[s.action.runner].core).pending == "":
		return " It only says what it would have done."
	case s.action.said&saidOnly != 0:
		return " It wants the approval of a person."
	case s.action.said&saidEnded != 0:
		return " The operation ends."
	}
	return ""
}

func (c *cores) arrival(s step) string {
	n := names[s.action.task.node()]
	switch s.action.task.what() {
	case doStop:
		return "A stop that was sent before arrives: the machine of node " + n + " begins to stop."
	case doStart:
		return "A start that was sent before arrives: the machine of node " + n + " starts."
	case doMove:
		return "A move of the route that was sent before arrives: the endpoint leads to node " + n + "."
	}
	if s.after.nodes[s.action.task.node()].role == primary && s.before.nodes[s.action.task.node()].role != primary {
		return "The takeover command that was sent before runs now: node " + n + " becomes primary."
	}
	return "The takeover command that was sent before runs now on node " + n + ", and changes nothing."
}

var stepTexts = map[failover.StepName]string{
	failover.StepRecheck:     "that it reads the standby once more",
	failover.StepFence:       "that it stops node %s",
	failover.StepFenced:      "that it waits for the stop of node %s",
	failover.StepPromote:     "that it promotes node %[2]s",
	failover.StepConfirm:     "that it reads the role of node %[2]s",
	failover.StepRedirect:    "that node %[2]s is primary, and that it leads the endpoint there",
	failover.StepVerify:      "that it checks the way to node %[2]s and the fence",
	failover.StepWithdraw:    "that it stops node %[2]s, whose role is not known",
	failover.StepRestart:     "that it starts node %s again",
	failover.StepBoot:        "that it starts the machine of node %s",
	failover.StepReintegrate: "that it makes node %s a standby",
	failover.StepPeer:        "that it waits until node %s is in peer state",
}

// recording tells what a runner writes to the record.
func (c *cores) recording(s step) string {
	was, is := c.about(s.before.record), c.about(c.recordedPart(s.before.runners[s.action.runner].core))
	var text string
	switch {
	case is.id == "" && was.id != "":
		text = "records that the operation has ended"
	case is.blocked && !was.blocked:
		text = "records that the operation is blocked"
	case is.step != was.step && is.step != "":
		t := stepTexts[is.step]
		if !strings.Contains(t, "%") {
			t += "%.0s%.0[2]s"
		} else if strings.Contains(t, "[2]") {
			t = "%.0[1]s" + t
		} else {
			t += "%.0[2]s"
		}
		text = "records " + fmt.Sprintf(t, names[is.from], names[is.to])
	default:
		text = "notes what it knows on the record"
	}
	switch s.action.fault {
	case RecordDown:
		return "wants to note it on the record (" + strings.TrimPrefix(text, "records ") + "), but the record gives no answer."
	case AnswerLost:
		return text + ", gets no answer, and ends."
	}
	return text + "."
}

// recordedPart is the recorded part of a state, without a mind's memory.
func (c *cores) recordedPart(core coreID) coreID { return c.intern(changed(c.state(core), recorded)) }

func (c *cores) claiming(s step) string {
	f := c.about(s.before.runners[s.action.runner].core)
	switch {
	case s.action.answer != good:
		return "claims the group in vain."
	case s.action.fault == RecordDown:
		return "wants to claim the group, but the record gives no answer, and it ends."
	case s.action.fault == AnswerLost:
		return "claims the group, and the answer is lost."
	}
	switch f.kind {
	case failover.Takeover:
		return fmt.Sprintf("claims the group for a takeover from node %s to node %s, and marks node %s as fenced.", names[f.from], names[f.to], names[f.from])
	case failover.Adopt:
		return fmt.Sprintf("claims the group to follow node %s, which is primary already.", names[f.to])
	case failover.Switchover:
		return fmt.Sprintf("claims the group for a switchover from node %s to node %s.", names[f.from], names[f.to])
	case failover.Restart:
		return fmt.Sprintf("claims the group to start node %s again.", names[f.from])
	}
	return fmt.Sprintf("claims the group to bring node %s back as standby.", names[f.from])
}
