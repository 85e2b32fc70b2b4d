package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Person is the program of who types commands of hadr, for Death.
const Person = "hadr"

// orders are the commands of a person: what is typed, and what it asks for.
// None of them accepts the loss of commits, so none may lose one.
var orders = map[Deed]struct {
	typed string
	ask   func(at time.Time, id, node string) failover.Event
}{
	AskTakeover: {"takeover --from", func(at time.Time, id, node string) failover.Event {
		return failover.Asked{At: at, Node: node, OperationID: id, Actor: "ann", Reason: "it looks dead"}
	}},
	AskAfterWindow: {"takeover-after-window --from", func(at time.Time, id, node string) failover.Event {
		return failover.Asked{At: at, Node: node, OperationID: id, Actor: "ann", Reason: "it is gone", Force: failover.AfterWindow}
	}},
	AskSwitchover: {"switchover --to", func(at time.Time, id, node string) failover.Event {
		return failover.SwitchAsked{At: at, To: node, OperationID: id, Actor: "ann", Reason: "patches"}
	}},
	AskRejoin: {"rejoin --node", func(at time.Time, id, node string) failover.Event {
		return failover.RejoinAsked{At: at, Node: node, OperationID: id, Actor: "ann"}
	}},
	Resume:      {"resume", func(at time.Time, _, _ string) failover.Event { return failover.Retried{At: at, Actor: "ann"} }},
	Cancel:      {"cancel", func(at time.Time, _, _ string) failover.Event { return failover.Cancelled{At: at, Actor: "ann"} }},
	Acknowledge: {"acknowledge", func(at time.Time, _, _ string) failover.Event { return failover.Acknowledged{At: at, Actor: "ann"} }},
}

// orders are what people do through the product while things fail.
func (d *draw) orders() {
	for range d.IntN(3) {
		i := Incident{At: d.between(0, d.story.Length), Node: pick(d, "a", "a", "b")}
		d.of([]chance{
			{10, func(*draw, string, time.Duration) { i.Deed = AskRejoin }},
			{8, func(*draw, string, time.Duration) { i.Deed = AskSwitchover }},
			{6, func(*draw, string, time.Duration) { i.Deed = AskTakeover }},
			{4, func(*draw, string, time.Duration) { i.Deed = AskAfterWindow }},
			{4, func(*draw, string, time.Duration) { i.Deed = Release }},
			{6, func(*draw, string, time.Duration) { i.Deed, i.Node = Resume, "" }},
			{4, func(*draw, string, time.Duration) { i.Deed, i.Node = Cancel, "" }},
			{3, func(*draw, string, time.Duration) { i.Deed, i.Node = Acknowledge, "" }},
		}, i.Node, i.At)
		d.add(i)
		if d.chance(0.2) {
			d.add(Incident{At: i.At, Deed: Death, Program: Person, Effect: 1 + d.IntN(8)})
		}
	}
	if d.story.Policy == failover.Approval && d.chance(0.8) {
		d.add(Incident{At: d.between(0, d.late()), Deed: Approve})
	}
}

// order types a command. What it is answered is not judged here: a refusal is
// an answer, and the record is audited in the end.
func (p *player) order(ctx context.Context, i Incident) {
	o, ok := orders[i.Deed]
	if !ok {
		return
	}
	now := p.stage.Clock.Now()
	p.answered(ctx, i, p.stage.Operate(ctx, Person, o.ask(now, awsrunner.OperationID(now), i.Node)))
}

func (p *player) answered(ctx context.Context, i Incident, err error) {
	if err != nil && ctx.Err() == nil {
		p.note("%s did not work: %v", i, err)
	}
}

// approve agrees to the takeover that waits, as soon as one does.
func (p *player) approve(ctx context.Context, i Incident) {
	for ctx.Err() == nil {
		s, err := p.table.Load(ctx, demo.Group)
		if err == nil && s.Pending != nil {
			now := p.stage.Clock.Now()
			p.answered(ctx, i, p.stage.Operate(ctx, Person, failover.Approved{At: now, OperationID: s.Pending.OperationID, Actor: "ann"}))
			return
		}
		if p.stage.Clock.Sleep(ctx, look) != nil {
			return
		}
	}
}

// restore is what a person does in the end: resume what is blocked, and bring a
// fenced node back. Neither may make anything worse, and the group must come to
// rest again.
func (p *player) restore(ctx context.Context) error {
	s, err := p.table.Load(ctx, demo.Group)
	if err != nil {
		return err
	}
	i := Incident{Deed: Resume}
	if s.Phase == failover.Steady {
		i = Incident{Deed: AskRejoin}
		for node := range s.Fenced {
			i.Node = node
		}
		if i.Node == "" {
			return nil
		}
	}
	p.note("%s", i)
	p.out.Met["restored by "+i.Kind()]++
	p.order(ctx, i)
	return p.rest(ctx)
}

// policy declares what the story has of it.
func (p *player) policy(ctx context.Context) error {
	c, err := p.table.ReadConfig(ctx, demo.Group)
	if err != nil {
		return err
	}
	c.Policy, c.Fencing = p.story.Policy, p.story.Fencing
	p.out.Met["policy "+string(c.Policy)]++
	p.out.Met["fencing "+string(c.Fencing)]++
	if err := p.table.PutConfig(ctx, demo.Group, c); err != nil {
		return errors.Join(fmt.Errorf("policy %s, fencing %s", c.Policy, c.Fencing), err)
	}
	return nil
}
