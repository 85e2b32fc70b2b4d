package simulation

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// audit compares what is with what must be: one writer, nothing lost, an
// endpoint that leads to the recorded primary, no operation that is stuck, and a
// history that tells all of it.
func (p *player) audit(ctx context.Context) error {
	state, err := p.table.Load(ctx, demo.Group)
	if err != nil {
		return err
	}
	p.out.Changes = state.Epoch - 1
	rows, err := p.stage.Survivors(state.Primary)
	if err != nil {
		return err
	}
	p.out.Audit = demo.Judge(slices.DeleteFunc(p.load.Acks(), p.unprotected), rows)
	switch a := p.out.Audit; {
	case a.Acknowledged == 0:
		p.violated("nothing was acknowledged, so nothing was tested")
	case !a.Clean():
		p.violated("%d acknowledged commits are lost, %d stand twice, %d positions have two writers: %s", a.Lost, a.Double, a.Forked, strings.Join(a.Examples, "; "))
	}
	if writers := p.stage.Writers(ctx); len(writers) > 1 {
		p.violated("two nodes read PRIMARY")
	}
	if err := p.auditEndpoint(ctx, state); err != nil {
		return err
	}
	return p.auditHistory(ctx, state)
}

// unmeasured is how long a clock may be off before its node's agent has told so:
// it does every 20 s.
const unmeasured = 25 * time.Second

// unprotected reports whether a commit was acknowledged by a node whose clock had
// just jumped. Such a primary may take its window for over, and nobody can know of
// it yet: that breaks the assumption A2, which docs/guides/guarantees.md names. A
// clock that is off for longer is measured, unless nothing comes of its node, and
// must have been minded.
func (p *player) unprotected(a demo.Ack) bool {
	return slices.ContainsFunc([]string{"a", "b"}, func(node string) bool {
		return p.stage.NodeName(node) == a.Node && p.story.justJumped(node, a.At.Sub(p.began))
	})
}

// justJumped reports whether a node's clock has jumped beyond the bound of A2, and
// nobody can have measured it yet.
func (s Story) justJumped(node string, at time.Duration) bool {
	return slices.ContainsFunc(s.Incidents, func(i Incident) bool {
		return i.Fault != nil && i.Fault.Kind == fault.ClockOffset && i.Fault.Selector.Instance == node &&
			time.Duration(i.Fault.Effect.Delay).Abs() > failover.DefaultMaxClockOffset && at >= i.At && at < s.measured(node, i.At)
	})
}

// measured is when others know at the latest that a node's clock has jumped: a node
// that is cut off or stands still tells nothing.
func (s Story) measured(node string, jump time.Duration) time.Duration {
	known := jump + unmeasured
	for _, i := range s.Incidents { // in the order of their times
		end := s.Length
		if i.For > 0 {
			end = min(end, i.At+i.For)
		}
		if i.mutes(node) && i.At < known {
			known = max(known, end+unmeasured)
		}
	}
	return known
}

// mutes reports whether an incident keeps a node's agent from telling anything.
func (i Incident) mutes(node string) bool {
	if i.Fault == nil {
		return false
	}
	switch e := i.Fault.Effect; i.Fault.Kind {
	case fault.Cut:
		return e.Peer == "" && (e.Place == node || e.Place == demo.Region+node)
	case fault.Freeze:
		return e.Process == "" && i.Fault.Selector.Instance == node
	}
	return false
}

func (p *player) auditEndpoint(ctx context.Context, state failover.State) error {
	owners, err := p.stage.Owners(ctx)
	if err != nil {
		return err
	}
	for table, owner := range owners {
		if owner != "node "+state.Primary && state.Operation == nil {
			p.violated("the VIP in %s leads to %s, but node %s is the recorded primary of a group that is %s", table, owner, state.Primary, state.Phase)
		}
	}
	return nil
}

func (p *player) auditHistory(ctx context.Context, state failover.State) error {
	history, err := p.table.History(ctx, demo.Group, 0)
	if err != nil {
		return err
	}
	slices.SortStableFunc(history, func(a, b failover.Entry) int { return a.At.Compare(b.At) })
	for _, e := range history {
		p.timeline.Add(e.At, "control", "%s: %s", e.Event, e.Reason)
		if e.Next != "" {
			p.timeline.Add(e.At, "control", "  next: %s", e.Next)
		}
	}
	for _, gap := range demo.Incomplete(history, state.Operation) {
		p.violated("history: %s", gap)
	}
	return nil
}
