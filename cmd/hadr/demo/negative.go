package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// NegativeControl does what hadr never does: it cuts the link between the
// nodes, waits until the peer window is over, forces the standby to take over
// and leads the clients there. Acknowledged commits must be lost, and the audit
// must see it: otherwise its "0 lost" would mean nothing.
func NegativeControl(ctx context.Context, o Options) (Result, error) {
	r := Result{Name: "negative-control", Speed: o.Speed}
	s, err := NewStage(ctx, o.StageOptions)
	if err != nil {
		return r, err
	}
	defer s.Close()
	table, err := s.declare(ctx)
	if err != nil {
		return r, fmt.Errorf("declaring the group: %w", err)
	}
	if err := s.configureAgents(ctx, coreTable, coreGroup); err != nil {
		return r, err
	}
	p, err := o.begin(ctx, s, table, coreGroup)
	if err != nil {
		return r, err
	}
	defer p.end()
	p.failure = s.Clock.Now()
	p.timeline.Begin(p.failure)
	p.timeline.Add(p.failure, "host", "the link between the nodes is cut; commits on node a wait for its standby")
	s.Hosts.Fabric().CutBoth(s.Instance("a"), s.Instance("b"))
	if err := s.Clock.Sleep(ctx, Timeout+PeerWindow+time.Minute); err != nil {
		return r, err
	}
	alone := p.load.Since(s.Clock.Now().Add(-10 * time.Second))
	p.timeline.Add(s.Clock.Now(), "client", "the window is over and node a commits alone: %d commits in the last 10 s", alone)
	r.expect(alone > 0, "node a does not go on alone after its window, so this control controls nothing")

	p.timeline.Add(s.Clock.Now(), "control", "somebody runs TAKEOVER ... BY FORCE on node b by hand and moves the routes")
	force := fmt.Sprintf("runuser -l %s -c 'db2 takeover hadr on db %s by force'; ip addr add %s/32 dev lo", Owner, Database, VIP)
	if err := s.runCommand(ctx, "b", force); err != nil {
		return r, err
	}
	client := ec2.NewFromConfig(s.Config(Region))
	for _, routes := range s.Landscape.RouteTables {
		if _, err := client.ReplaceRoute(ctx, &ec2.ReplaceRouteInput{
			RouteTableId: &routes, DestinationCidrBlock: aws.String(VIP + "/32"), NetworkInterfaceId: aws.String(s.Landscape.Databases["b"].NetworkInterfaceID),
		}); err != nil {
			return r, err
		}
	}
	if err := s.Clock.Sleep(ctx, 30*time.Second); err != nil {
		return r, err
	}
	p.end()
	rows, err := s.Survivors("b")
	if err != nil {
		return r, err
	}
	r.Primary = "b, by force and outside the window"
	r.Closing = "The audit sees the commits that plain BY FORCE lost, as it must: so its 0 elsewhere means 0."
	if r.Owners, err = p.watcher.routes(ctx); err != nil {
		return r, err
	}
	r.Audit = Judge(p.load.Acks(), rows)
	r.Timeline = p.timeline.Moments()
	r.expect(r.Audit.Lost > 0, "the audit sees no lost commit after a takeover outside the window: it is blind")
	return r, nil
}
