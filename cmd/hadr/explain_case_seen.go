package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/casefile"
)

// seenGroup is what the record says before the event.
func seenGroup(s failover.State) groupSeen {
	g := groupSeen{
		Name: s.Group, Epoch: s.Epoch, Primary: s.Primary, Phase: string(s.Phase), Policy: string(s.Config.Policy), Fencing: string(s.Config.Fencing),
	}
	if op := s.Operation; op != nil {
		g.Operation = fmt.Sprintf("%s %s from %s to %s, at step %s (began %s, its time ends %s)", op.ID, op.Kind, op.From, op.To, op.Step, casefile.Age(op.StepSince), casefile.Age(op.Deadline))
		if op.Blocked != "" {
			g.Operation += "; blocked: " + op.Blocked
		}
	}
	note := func(format string, args ...any) { g.Notes = append(g.Notes, fmt.Sprintf(format, args...)) }
	if m := s.Maintenance; m.On {
		end := "until it is ended"
		if !m.Until.IsZero() {
			end = "its end is " + casefile.Age(m.Until)
		}
		note("maintenance, %s: %s", end, m.Reason)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Fenced)) {
		state := "not confirmed to be stopped"
		if f := s.Fenced[id]; f.Confirmed {
			state = "read as stopped " + casefile.Age(f.ConfirmedAt)
		}
		note("node %s is fenced since epoch %d, %s", id, s.Fenced[id].Epoch, state)
	}
	if !s.Cooldown.IsZero() {
		note("cool-down, its end is %s", casefile.Age(s.Cooldown))
	}
	if p := s.Pending; p != nil {
		note("takeover %s from node %s in epoch %d waits for approval, its end is %s", p.OperationID, p.From, p.Epoch, casefile.Age(p.Expires))
	}
	return g
}

func seenNode(c casefile.Case, id string) nodeSeen {
	o := c.Nodes[id]
	n := nodeSeen{Node: id, Recorded: "standby", Read: casefile.Age(o.ReadAt), Source: o.Source}
	if id == c.State.Primary {
		n.Recorded = "primary"
	}
	n.Says = slices.DeleteFunc([]string{
		seenMachine(o), seenDatabase(o), seenPartner(o), seenFitness(o), seenProbes(o), seenClock(o), seenTrouble(o),
	}, func(s string) bool { return s == "" })
	return n
}

func seenMachine(o failover.Observation) string {
	s := fmt.Sprintf("machine %s", orUnknown(string(o.Instance)))
	if o.InstanceCheck != "" {
		s += ", status check " + o.InstanceCheck
	}
	return s
}

func seenDatabase(o failover.Observation) string {
	if o.Answer != failover.Answered {
		return strings.TrimSuffix(fmt.Sprintf("its status command: %s, %s", orUnknown(string(o.Answer)), o.AnswerError), ", ")
	}
	s := fmt.Sprintf("role %s, database %s", orUnknown(string(o.Role)), orUnknown(spoken(string(o.Database))))
	if hadr := strings.TrimSpace(o.State + " " + o.PartnerStatus); hadr != "" {
		s += ", " + hadr
	}
	return s
}

func seenPartner(o failover.Observation) string {
	switch {
	case o.WaitsForStandby:
		return "its log waits for its standby"
	case o.PartnerLost && o.PartnerSilence > 0:
		return fmt.Sprintf("it has not heard its partner for %s", o.PartnerSilence)
	case o.PartnerLost:
		return "it does not hear its partner"
	}
	return ""
}

func seenFitness(o failover.Observation) string {
	if o.Role != failover.RoleStandby || o.Answer != failover.Answered {
		return ""
	}
	s := "fit to be promoted"
	if o.Fitness != failover.Fit {
		s = "not fit: " + orUnknown(o.FitnessWhy)
	}
	if !o.PromoteUntil.IsZero() {
		s += fmt.Sprintf("; %s of the window left when it was read", o.PromoteUntil.Sub(o.HostTime))
	}
	if !o.ProvenUntil.IsZero() {
		s += fmt.Sprintf("; it had every commit until %s", casefile.Age(o.ProvenUntil))
	}
	if !o.LogFlows.IsZero() {
		s += fmt.Sprintf("; its agent saw log of its primary come %s", casefile.Age(o.LogFlows))
	}
	return s
}

func seenProbes(o failover.Observation) string {
	var parts []string
	for name, at := range map[string]time.Time{"last committed probe": o.LastGoodProbe, "last bad probe": o.LastBadProbe} {
		if !at.IsZero() {
			parts = append(parts, name+" "+casefile.Age(at))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func seenClock(o failover.Observation) string {
	if o.ClockOffsetAt.IsZero() {
		return "clock never measured"
	}
	return fmt.Sprintf("clock off by %s, measured %s", o.ClockOffset, casefile.Age(o.ClockOffsetAt))
}

func seenTrouble(o failover.Observation) string {
	var parts []string
	for name, what := range map[string]string{"stopped in order": o.StoppedInOrder, "settings differ": o.SettingsDiffer, "agent in trouble": o.Trouble} {
		if what != "" {
			parts = append(parts, name+": "+what)
		}
	}
	if !o.DeadManUntil.IsZero() {
		parts = append(parts, "its dead-man is in force, until "+casefile.Age(o.DeadManUntil))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
