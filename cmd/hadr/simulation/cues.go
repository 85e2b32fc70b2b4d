package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// cue is a moment at which an incident begins or ends.
type cue struct {
	at  time.Duration
	act func(ctx context.Context, p *player) error
}

func cues(s Story) (all []cue) {
	for n, i := range s.Incidents {
		all = append(all, cue{i.At, func(ctx context.Context, p *player) error { return p.begin(ctx, n, i) }})
		if i.For > 0 && i.At+i.For < s.Length {
			all = append(all, cue{i.At + i.For, func(ctx context.Context, p *player) error { return p.end(ctx, n, i) }})
		}
	}
	slices.SortStableFunc(all, func(a, b cue) int { return cmp.Compare(a.at, b.at) })
	return all
}

func (p *player) begin(ctx context.Context, n int, i Incident) error {
	p.note("%s", i)
	if i.Fault != nil {
		return p.inject(ctx, n, *i.Fault)
	}
	p.out.Met[i.Kind()]++
	switch i.Deed {
	case Takeover:
		p.deeds.Go(func() { p.takeOverByHand(ctx, i.Node, "") })
	case Force:
		p.deeds.Go(func() { p.takeOverByHand(ctx, i.Node, " by force") })
	case Reboot:
		ignore(p.ec2().RebootInstances(ctx, &ec2.RebootInstancesInput{InstanceIds: []string{p.stage.Instance(i.Node)}}))
	case Start:
		ignore(p.ec2().StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{p.stage.Instance(i.Node)}}))
	case Maintenance:
		ignore(nil, p.maintain(ctx, true))
	case WatchOff:
		ignore(nil, p.stage.SwitchWatch(ctx, false))
	case Death:
		p.network.condemn(i.Program, i.Effect)
	case Approve:
		p.deeds.Go(func() { p.approve(ctx, i) })
	case Release:
		p.deeds.Go(func() { p.answered(ctx, i, p.stage.Release(ctx, Person, i.Node)) })
	default:
		p.deeds.Go(func() { p.order(ctx, i) })
	}
	return nil
}

func (p *player) end(ctx context.Context, n int, i Incident) error {
	p.note("over: %s", i)
	switch {
	case i.Fault != nil:
		return p.remove(n)
	case i.Deed == Maintenance:
		ignore(nil, p.maintain(ctx, false))
	case i.Deed == WatchOff:
		ignore(nil, p.stage.SwitchWatch(ctx, true))
	}
	return nil
}

// inject puts a fault of the sandbox into force. One that meets nothing now,
// such as the death of a process that does not run, is left out.
func (p *player) inject(ctx context.Context, n int, f fault.Fault) error {
	kind := Incident{Fault: &f}.Kind()
	for _, node := range []*string{&f.Instance, &f.Place, &f.Peer} {
		if *node == "a" || *node == "b" {
			*node = p.stage.Instance(*node)
		}
	}
	active, err := p.stage.Faults.Inject(ctx, f)
	var invalid *fault.Invalid
	switch {
	case errors.As(err, &invalid) && invalid.Field != "kind":
		p.note("it is left out: %v", err)
		return nil
	case err != nil && slices.Contains([]fault.Kind{fault.HangSQL, fault.SlowSQL, fault.FullLogDevice}, f.Kind): // the database is not there
		p.note("it is left out: %v", err)
		return nil
	case err != nil:
		return err
	}
	p.out.Met[kind]++
	if active.ID != "" {
		p.inForce[n] = active.ID
	}
	return nil
}

// remove ends a fault and counts how often it was met.
func (p *player) remove(n int) error {
	id, ok := p.inForce[n]
	if !ok {
		return nil
	}
	delete(p.inForce, n)
	p.count(id)
	if err := p.stage.Faults.Remove(id); err != nil && !errors.Is(err, fault.ErrUnknown) {
		return err
	}
	return nil
}

func (p *player) count(id string) {
	for _, a := range p.stage.Faults.List() {
		if a.ID == id && a.Hits > 0 {
			p.out.Met["met "+Incident{Fault: &a.Fault}.Kind()] += a.Hits
		}
	}
}

// calm ends everything that has not ended.
func (p *player) calm(ctx context.Context) error {
	p.note("all faults end")
	for n := range p.story.Incidents {
		if err := p.remove(n); err != nil {
			return err
		}
	}
	p.stage.Faults.Clear()
	for _, node := range []string{"a", "b"} { // one that was frozen when its trouble should have ended
		_ = p.stage.Hosts.HangSQL(ctx, p.stage.Instance(node), false)
		_ = p.stage.Hosts.FillLogDevice(ctx, p.stage.Instance(node), false)
	}
	p.out.Met["died"] += p.network.pardon()
	if err := p.maintain(ctx, false); err != nil {
		return err
	}
	return p.stage.SwitchWatch(ctx, true)
}

func (p *player) ec2() *ec2.Client { return ec2.NewFromConfig(p.stage.Config(demo.Region)) }

// ignore: what somebody tries need not be possible, and meets faults as well.
// calm does it again.
func ignore(any, error) {}

// takeOverByHand is what an operator does who knows nothing of the product.
func (p *player) takeOverByHand(ctx context.Context, node, how string) {
	script := fmt.Sprintf("runuser -l %s -c 'db2 takeover hadr on db %s%s'", demo.Owner, demo.Database, how)
	if err := p.stage.RunCommand(ctx, node, script); err != nil && ctx.Err() == nil {
		p.note("the takeover by hand did not work: %v", err)
	}
}

// maintain sets the switch in the record, as somebody does in the console.
func (p *player) maintain(ctx context.Context, on bool) error {
	_, err := dynamodb.NewFromConfig(p.stage.Config(demo.Region)).UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(demo.TableName),
		Key:                       map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: "GROUP#" + demo.Group}, "sk": &ddb.AttributeValueMemberS{Value: "STATE"}},
		UpdateExpression:          aws.String("SET maintenance = :on"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":on": &ddb.AttributeValueMemberBOOL{Value: on}},
	})
	return err
}
