package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Answer is what the core makes of a case.
type Answer struct {
	// Decision are lines "key: value": verdict, guard, phase, what changes and
	// what is done.
	Decision []string
	// Reasons and Next are what people are told, a line for each entry of the
	// history. Where nothing is told yet, it is what the guard says.
	Reasons []string
	Next    []string

	Done    []string // what is done, in words
	Verdict string
	Guard   failover.Guard // that spoke; "" where no decision was asked for
	State   failover.State
	Effects []failover.Effect // without the look itself
}

// Ask asks the core. A look at the group that it wants is given to it.
func (c Case) Ask() Answer { return c.ask(0) }

func (c Case) ask(off failover.Rules) Answer {
	s := c.State
	s.Off = off
	next, effects := failover.Step(s, c.Event)
	a := Answer{State: next}
	var decided *failover.Decision
	if g, ok := c.Event.(failover.Gathered); ok && s.Attempt != nil {
		decided = decide(s, g)
	}
	for _, e := range effects {
		if _, look := e.(failover.Gather); !look || next.Attempt == nil {
			a.Effects = append(a.Effects, e)
			continue
		}
		decided = decide(next, c.gathered())
		var more []failover.Effect
		a.State, more = failover.Step(next, c.gathered())
		a.Effects = append(a.Effects, more...)
	}
	a.tell(decided)
	a.describe(c.State)
	return a
}

func decide(s failover.State, g failover.Gathered) *failover.Decision {
	d := failover.Decide(s, g)
	return &d
}

// entries are what the history is told.
func (a *Answer) entries() []failover.Entry {
	var told []failover.Entry
	for _, e := range a.Effects {
		if r, ok := e.(failover.Record); ok {
			told = append(told, r.Entry)
		}
	}
	return told
}

func (a *Answer) tell(d *failover.Decision) {
	told := a.entries()
	for _, e := range told {
		a.Reasons = append(a.Reasons, e.Reason)
		if e.Next != "" {
			a.Next = append(a.Next, e.Next)
		}
	}
	if d != nil {
		a.Guard = d.Guard
		if len(told) == 0 {
			a.Reasons = []string{d.Reason}
			if d.Next != "" {
				a.Next = []string{d.Next}
			}
		}
	}
	a.Verdict = a.verdict(d, told)
}

// verdict is one word for what was decided.
func (a *Answer) verdict(d *failover.Decision, told []failover.Entry) string {
	if len(told) > 0 {
		switch last := told[len(told)-1]; last.Event {
		case "would_have_acted":
			return "observe"
		case "refused":
			return string(failover.Refuse)
		case "blocked":
			return "block"
		case "ended":
			return "end, " + last.Outcome
		case "step", "started":
			return "go on"
		default:
			if d == nil || last.Event == "ignored" {
				return last.Event
			}
		}
	}
	switch {
	case d != nil:
		return string(d.Verdict)
	case len(a.Effects) == 0:
		return "nothing"
	case slices.ContainsFunc(a.Effects, func(e failover.Effect) bool { _, waits := e.(failover.Wait); return !waits }):
		return "go on"
	}
	return string(failover.Hold)
}

// describe writes the decision down.
func (a *Answer) describe(before failover.State) {
	add := func(key, value string) {
		if value != "" {
			a.Decision = append(a.Decision, key+": "+value)
		}
	}
	after := a.State
	add("verdict", a.Verdict)
	add("guard", string(a.Guard))
	if a.Verdict == string(failover.Act) || a.Verdict == string(failover.Follow) {
		add("fencing", fencing(after.Attempt))
	}
	add("phase", string(after.Phase))
	add("operation", operation(after))
	change := func(key string, of func(failover.State) string) {
		if now := of(after); now != of(before) {
			add(key, now)
		}
	}
	change("fencing", follows)
	change("epoch", func(s failover.State) string { return fmt.Sprint(s.Epoch) })
	change("primary", func(s failover.State) string { return s.Primary })
	change("fenced", fencedNodes)
	change("cooldown", func(s failover.State) string { return relative(s.Cooldown) })
	change("pending", waiting)
	change("promoting", promoting)
	change("claims_wait", func(s failover.State) string { return relative(s.ClaimsWait) })
	change("void_seal", func(s failover.State) string { return s.VoidSeal })
	a.Done = describe(a.Effects)
	for _, done := range a.Done {
		add("do", done)
	}
}

// fencing is how the old primary will be kept from writing.
func fencing(a *failover.Attempt) string {
	switch {
	case a == nil, a.Kind == failover.Switchover, a.Kind == failover.Adopt && !a.FenceOld:
		return "none"
	}
	return string(a.Fencing)
}

// follows is how the running operation keeps the old primary from writing.
func follows(s failover.State) string {
	if s.Operation == nil || s.Operation.Kind == failover.Switchover {
		return ""
	}
	return string(s.Operation.Fencing)
}

// promoting is until when a promotion may still take effect.
func promoting(s failover.State) string {
	if s.Operation == nil {
		return "never"
	}
	return relative(s.Operation.Promoting)
}

func operation(s failover.State) string {
	op := s.Operation
	if op == nil {
		return ""
	}
	return fmt.Sprintf("%s %s", op.Kind, op.Step)
}

func fencedNodes(s failover.State) string {
	var nodes []string
	for _, id := range slices.Sorted(maps.Keys(s.Fenced)) {
		if s.Fenced[id].Confirmed {
			id += " (stopped)"
		}
		nodes = append(nodes, id)
	}
	if nodes == nil {
		return "none"
	}
	return strings.Join(nodes, ", ")
}

func waiting(s failover.State) string {
	if s.Pending == nil {
		return "none"
	}
	return fmt.Sprintf("%s until %s", s.Pending.OperationID, relative(s.Pending.Expires))
}

// Expected reports whether the core answers as the file says, and whether the
// file says anything.
func (c Case) Expected(a Answer) (asExpected, says bool) {
	says = len(c.Want.Decision)+len(c.Want.Reasons)+len(c.Want.Next) > 0
	return slices.Equal(c.Want.Decision, a.Decision) && slices.Equal(c.Want.Reasons, a.Reasons) && slices.Equal(c.Want.Next, a.Next), says
}
