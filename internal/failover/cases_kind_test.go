package failover_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/casefile"
)

// spoke is the guard that spoke or, within an operation, what came of it.
func spoke(c casefile.Case) string {
	a := c.Ask()
	if a.Guard != "" {
		return fmt.Sprintf("%s by %s", a.Verdict, a.Guard)
	}
	return a.Verdict
}

// phase is where the group is.
func phase(c casefile.Case) string {
	s := c.State
	config := s.Config
	parts := []string{string(s.Phase), string(config.Policy), string(config.Fencing), fmt.Sprint(config.HostApplications, config.Isolation != "", config.VIP != "")}
	if op := s.Operation; op != nil {
		parts = append(parts, string(op.Kind), string(op.Step), string(op.Fencing), string(op.Force))
		if op.Promotions >= 3 {
			parts = append(parts, "third try")
		}
		if op.Deadline.Before(casefile.Now) {
			parts = append(parts, "overdue")
		}
	}
	if s.Attempt != nil {
		parts = append(parts, "considering "+string(s.Attempt.Kind), fmt.Sprint(s.Attempt.FenceOld), span(s.Attempt.Since))
	}
	if s.Maintenance.On {
		parts = append(parts, "maintenance "+span(s.Maintenance.Until))
	}
	if !s.Cooldown.IsZero() {
		parts = append(parts, "cool-down "+span(s.Cooldown))
	}
	if !s.ClaimsWait.IsZero() {
		parts = append(parts, "claims wait "+span(s.ClaimsWait))
	}
	if s.Pending != nil {
		parts = append(parts, "approval "+span(s.Pending.Expires), fmt.Sprint(s.Pending.Epoch == s.Epoch))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Fenced)) {
		parts = append(parts, fmt.Sprintf("%s fenced %v %v", id, s.Fenced[id].Confirmed, len(s.Fenced[id].Groups) > 0))
	}
	return strings.Join(parts, ",")
}

func span(t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case t.After(casefile.Now):
		return "to come"
	case casefile.Now.Sub(t) < 30*time.Second:
		return "just now"
	}
	return "past"
}

// kind is the kind of evidence: the event, the signals and how the views of the
// nodes differ from those of a group that is well.
func kind(c casefile.Case) string {
	parts := []string{event(c)}
	var signals []string
	for _, e := range c.Evidence {
		s := fmt.Sprintf("%s of %s", e.Signal, e.Node)
		if e.Conclusive {
			s += ", conclusive"
		}
		signals = append(signals, s)
	}
	slices.Sort(signals)
	parts = append(parts, slices.Compact(signals)...)
	for _, id := range []string{"a", "b"} {
		parts = append(parts, id+":"+view(c.Nodes[id]))
	}
	return strings.Join(parts, ";")
}

var notAKind = regexp.MustCompile(`At:[^ ]*|OperationID:\S*|Actor:\S*|[0-9]+`)

// event is an event without its times, numbers and wordings.
func event(c casefile.Case) string {
	switch e := c.Event.(type) {
	case failover.Alarmed:
		return fmt.Sprint("alarm of ", e.Node == c.State.Primary, e.Changed.Before(c.State.Changed), known(c, e.OperationID))
	case failover.Reported:
		return fmt.Sprint("report of ", e.Node == c.State.Primary)
	case failover.Asked:
		return fmt.Sprint("asked about ", e.Node == c.State.Primary, e.Force, known(c, e.OperationID))
	case failover.SwitchAsked:
		return fmt.Sprint("switchover to ", e.To, known(c, e.OperationID))
	case failover.RejoinAsked:
		return fmt.Sprint("rejoin of ", e.Node, known(c, e.OperationID))
	case failover.Approved:
		return fmt.Sprint("approved ", known(c, e.OperationID))
	case failover.Watched:
		var red []string
		for _, a := range e.Alarms {
			red = append(red, a.Node)
		}
		settled := casefile.Now.Sub(c.State.Changed) >= 2*time.Minute
		return fmt.Sprint("watch ", red, settled, e.Owners, len(c.State.Config.Routes), c.State.Refused.Guard, seal(c.State, e.Lease))
	case failover.Sealed:
		return fmt.Sprint("sealed ", e.OK)
	case failover.Claimed:
		s := fmt.Sprint("claimed ", e.OK)
		if e.State != nil {
			s += fmt.Sprint(e.State.Maintenance.On, e.State.Operation != nil, c.State.Attempt.Claims)
		}
		return s
	case failover.NodeRead:
		return "read node " + e.Observation.Node
	case failover.InstanceRead:
		return fmt.Sprint("read machine ", e.Node, inOperation(c))
	}
	return notAKind.ReplaceAllString(fmt.Sprintf("%T%+v", c.Event, c.Event), "") + inOperation(c)
}

// inOperation is what the operation remembers that decides.
func inOperation(c casefile.Case) string {
	op := c.State.Operation
	if op == nil {
		return ""
	}
	return fmt.Sprint(span(op.Promoting), span(op.Fence.Sent), op.Pending > 1, op.WindowEnd.Sub(casefile.Now) > 10*time.Second)
}

// known says what the record knows about an operation's id.
func known(c casefile.Case, id string) string {
	switch {
	case c.State.Operation != nil && c.State.Operation.ID == id:
		return "running"
	case slices.Contains(c.State.Ended, id):
		return "ended"
	case c.State.Pending != nil && c.State.Pending.OperationID == id:
		return "pending"
	}
	return ""
}

// view is what a node says of itself, in classes.
func view(o failover.Observation) string {
	left := o.PromoteUntil.Sub(o.HostTime) - casefile.Now.Sub(o.ReadAt)
	measured := !o.ClockOffsetAt.IsZero() && casefile.Now.Sub(o.ClockOffsetAt) <= 10*time.Minute
	probed := casefile.Now.Sub(o.LastGoodProbe) <= 45*time.Second
	return fmt.Sprint(o.Instance, o.Answer, o.Database, o.Role, o.State, o.PartnerStatus, o.PartnerLost, o.SettingsDiffer != "", o.Fitness,
		o.PromoteUntil.IsZero(), left >= 25*time.Second, o.WaitsForStandby, probed, o.LastGoodProbe.After(o.LastBadProbe), measured,
		o.ClockOffset.Abs() > 2*time.Second, o.DeadManUntil.After(casefile.Now), o.StoppedInOrder != "", span(o.ProvenUntil), span(o.HeardLast), o.ConnectedSince.IsZero(),
		o.LogFlows.IsZero() || casefile.Now.Sub(o.LogFlows) > time.Minute)
}

// seal is what became of a seal on the lease.
func seal(s failover.State, l failover.Lease) string {
	if !l.Sealed {
		return ""
	}
	return fmt.Sprint("sealed ", span(l.SealedAt), l.Epoch == s.Epoch, l.SealID == s.VoidSeal)
}
