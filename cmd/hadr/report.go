package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// printHistory writes entries, oldest first, for somebody who was just woken up.
func printHistory(w io.Writer, entries []failover.Entry) {
	if len(entries) == 0 {
		fmt.Fprintln(w, "Nothing has happened to this group yet.")
		return
	}
	for _, e := range entries {
		printEntry(w, e)
	}
}

func printEntry(w io.Writer, e failover.Entry) {
	fmt.Fprintf(w, "%s  %s", e.At.UTC().Format("2006-01-02 15:04:05Z"), e.Headline())
	if e.Step != "" {
		fmt.Fprintf(w, "  step %s", e.Step)
	}
	if e.OperationID != "" {
		fmt.Fprintf(w, "  operation %s", e.OperationID)
	}
	fmt.Fprintf(w, "  epoch %d\n", e.Epoch)
	printField(w, "why", e.Reason)
	printField(w, "set off by", e.Actor)
	for _, ev := range e.Evidence {
		printField(w, "evidence", fmt.Sprintf("%s: %s (%s)", ev.Signal, ev.Detail, ev.Source))
	}
	if len(e.Phases) > 0 && e.Event == "ended" {
		printField(w, "took", durations(e.Phases))
	}
	printField(w, "next", e.Next)
}

func printField(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "    %-11s %s\n", name+":", value)
	}
}

// durations sums the time of every step, in their order.
func durations(phases []failover.PhaseTime) string {
	var order []failover.StepName
	sum := map[failover.StepName]time.Duration{}
	for _, p := range phases {
		if !slices.Contains(order, p.Step) {
			order = append(order, p.Step)
		}
		sum[p.Step] += p.End.Sub(p.Start)
	}
	var parts []string
	for _, s := range order {
		parts = append(parts, fmt.Sprintf("%s %s", s, seconds(sum[s])))
	}
	return strings.Join(parts, ", ")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// status is what `hadr status` knows of a group.
type status struct {
	state  failover.State
	nodes  map[string]failover.Observation
	owners map[string]string // route table -> interface, or the error
	now    time.Time
}

func printStatus(w io.Writer, s status) {
	st := s.state
	fmt.Fprintf(w, "Group %s: %s, epoch %d, node %s is primary", st.Group, strings.ReplaceAll(string(st.Phase), "_", " "), st.Epoch, st.Primary)
	if !st.Changed.IsZero() {
		fmt.Fprintf(w, " since %s", st.Changed.UTC().Format(time.RFC3339))
	}
	fmt.Fprintln(w)
	if st.Config.Preferred != "" && st.Config.Preferred != st.Primary {
		printField(w, "failed over", fmt.Sprintf("the preferred primary is node %s", st.Config.Preferred))
	}
	if m := st.Maintenance; m.Active(s.now) {
		printField(w, "maintenance", strings.TrimSpace("on, nothing is done automatically: "+m.Reason))
	}
	if s.now.Before(st.Cooldown) {
		printField(w, "cool-down", fmt.Sprintf("until %s; end it with: hadr acknowledge %s", st.Cooldown.UTC().Format(time.RFC3339), st.Group))
	}
	if p := st.Pending; p != nil && p.Epoch == st.Epoch && s.now.Before(p.Expires) {
		printField(w, "waits", fmt.Sprintf("a takeover from node %s waits for approval until %s", p.From, p.Expires.UTC().Format(time.RFC3339)))
		printField(w, "next", fmt.Sprintf("hadr approve %s --operation %s", st.Group, p.OperationID))
	}
	if op := st.Operation; op != nil {
		printField(w, "operation", fmt.Sprintf("%s %s from %s to %s, step %s since %s", op.ID, op.Kind, op.From, op.To, op.Step, op.StepSince.UTC().Format("15:04:05Z")))
		printField(w, "blocked", op.Blocked)
		printField(w, "next", op.Next)
	}
	for _, n := range st.Config.Nodes {
		printNode(w, s, n)
	}
	for _, table := range slices.Sorted(slices.Values(st.Config.Routes)) {
		printField(w, "route", fmt.Sprintf("%s/32 in %s leads to %s", st.Config.VIP, table, s.owner(table)))
	}
}

func (s status) owner(table string) string {
	owner := s.owners[table]
	for _, n := range s.state.Config.Nodes {
		if n.ENI == owner && owner != "" {
			return fmt.Sprintf("node %s (%s)", n.ID, owner)
		}
	}
	if owner == "" {
		return "nowhere"
	}
	return owner
}

func printNode(w io.Writer, s status, n failover.NodeConfig) {
	role := "standby"
	if n.ID == s.state.Primary {
		role = "primary"
	}
	line := fmt.Sprintf("%s (%s, recorded %s)", n.ID, n.Instance, role)
	if f, ok := s.state.Fenced[n.ID]; ok {
		line += fmt.Sprintf(", fenced by %s in epoch %d", f.Method, f.Epoch)
		if !f.Confirmed {
			line += ", not confirmed"
		}
	}
	o, ok := s.nodes[n.ID]
	switch {
	case !ok:
		line += ": no record of its agent"
	case s.now.Sub(o.ReadAt) > time.Minute:
		line += fmt.Sprintf(": last heard of %s ago as %s %s", s.now.Sub(o.ReadAt).Round(time.Second), o.Role, o.State)
	case o.Latency == 0: // read when the group was created; its agent has said nothing yet
		line += fmt.Sprintf(": %s, SQL not measured yet", view(o))
	default:
		line += fmt.Sprintf(": %s, SQL %s", view(o), o.Latency.Round(time.Millisecond))
	}
	switch {
	case o.FitnessWhy != "" && o.Role != failover.RolePrimary:
		line += "; not fit: " + o.FitnessWhy
	case o.Trouble != "":
		line += "; its agent: " + o.Trouble
	}
	printField(w, "node", line)
}

// view is how a node sees its pair; HADR says nothing while its database is
// down.
func view(o failover.Observation) string {
	v := string(o.Role)
	if hadr := strings.TrimSpace(fmt.Sprintf("%s %s", o.State, o.PartnerStatus)); hadr != "" {
		v += ", " + hadr
	}
	return v
}
