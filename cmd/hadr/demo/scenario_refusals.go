package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// Scenarios in which nothing may be taken over, at least for a while.

// standbyDied: commits of the healthy primary wait for its dead standby until
// the peer window is over, and its alarm goes off.
func standbyDied(ctx context.Context, s *scene) error {
	if err := s.vanishes("b"); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardWaits); err != nil {
		return err
	}
	if _, err := s.told(ctx, "ignored", "standby unhealthy"); err != nil {
		return err
	}
	return s.until(ctx, "commits of node a alone", func(failover.State) bool { return s.writes("a") })
}

// azCut: both nodes live, and the network between them does not.
func azCut(ctx context.Context, s *scene) error {
	a, b := s.stage.Instance("a"), s.stage.Instance("b")
	if err := s.fails("the network between the nodes is cut", func() error { s.stage.Hosts.Fabric().CutBoth(a, b); return nil }); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardWaits); err != nil {
		return err
	}
	if err := s.until(ctx, "commits of node a alone", func(failover.State) bool { return s.writes("a") }); err != nil {
		return err
	}
	if err := s.happens("the network is whole again", func() error { s.stage.Hosts.Fabric().Heal(a, b); return nil }); err != nil {
		return err
	}
	return s.stage.waitForPeer(ctx)
}

// awsCut: the primary's way to AWS fails. Its metrics are missing, its lease
// stands still, its status command gets no answer, and it commits all the time.
func awsCut(ctx context.Context, s *scene) error {
	if err := s.leased(ctx, 6*time.Second, 2*time.Second); err != nil {
		return err
	}
	var cut fault.Active
	if err := s.fails("node a is cut off from the endpoints of AWS", func() (err error) {
		cut, err = s.stage.Sandbox.Faults.Inject(ctx, fault.Fault{Kind: fault.Cut, Effect: fault.Effect{Place: s.stage.Instance("a"), Peer: fault.Endpoints}})
		return err
	}); err != nil {
		return err
	}
	e, err := s.told(ctx, "refused", string(failover.GuardEvidence)+": alarms and the lease say")
	if err != nil {
		return err
	}
	s.result.expect(strings.Contains(e.Reason, "node b goes on receiving log of it") && e.Next != "", "the refusal does not say what speaks for node a, and a next command: %s; next: %s", e.Reason, e.Next)
	if err := s.watched(ctx, 5*time.Minute); err != nil {
		return err
	}
	s.result.expect(s.writes("a"), "node a does not commit any more")
	if err := s.happens("node a reaches AWS again", func() error { return s.stage.Sandbox.Faults.Remove(cut.ID) }); err != nil {
		return err
	}
	if err := s.renews(ctx, "a"); err != nil {
		return err
	}
	return s.watched(ctx, 3*time.Minute)
}

// agentStopped: with the agent of the primary all ends that is heard of a
// database that nobody uses: its metrics, its lease, and the commits that its
// standby receives. The primary itself answers.
func agentStopped(ctx context.Context, s *scene) error {
	if err := s.leased(ctx, 6*time.Second, 2*time.Second); err != nil {
		return err
	}
	if err := s.happens("clients go home", func() error { s.load.Rest(true); return nil }); err != nil {
		return err
	}
	if err := s.watched(ctx, time.Minute); err != nil {
		return err
	}
	if err := s.fails("somebody stops hadr-agent on node a", func() error { return s.shell(ctx, "a", "systemctl stop hadr-agent") }); err != nil {
		return err
	}
	if _, err := s.told(ctx, "refused", string(failover.GuardEvidence)+": only CloudWatch"); err != nil {
		return err
	}
	l, err := s.lease(ctx)
	s.result.expect(err == nil && strings.Contains(l.Suspended, "was stopped"), "the lease is not suspended: %+v, %v", l, err)
	if err := s.watched(ctx, 5*time.Minute); err != nil {
		return err
	}
	if err := s.happens("the agent is started again, and clients come back", func() error {
		s.load.Rest(false)
		return s.shell(ctx, "a", "systemctl start hadr-agent")
	}); err != nil {
		return err
	}
	if err := s.renews(ctx, "a"); err != nil {
		return err
	}
	return s.watched(ctx, 3*time.Minute)
}

// renews waits until the lease of a node is renewed again, and clients write to it.
func (s *scene) renews(ctx context.Context, node string) error {
	return s.until(ctx, "a lease of node "+node+" that is renewed again", func(failover.State) bool {
		before, err := s.lease(ctx)
		if err != nil || s.stage.Clock.Sleep(ctx, 5*time.Second) != nil {
			return false
		}
		after, err := s.lease(ctx)
		return err == nil && after.Counter > before.Counter && s.writes(node)
	})
}

// shell runs a script on a node.
func (s *scene) shell(ctx context.Context, node, script string) error {
	r, err := s.stage.Shell(ctx, node, script)
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("%s: code %d: %s%s", script, r.Code, r.Stdout, r.Stderr)
	}
	return err
}

// maintained: the toggle in the table is set by hand, and later taken back while
// the alarm is still red and tells nobody.
func maintained(ctx context.Context, s *scene) error {
	if err := s.happens("somebody sets maintenance = true in the table", func() error { return s.toggle(ctx, true) }); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardMaintenance); err != nil {
		return err
	}
	if err := s.watched(ctx, 90*time.Second); err != nil {
		return err
	}
	state, err := s.watcher.Table.Load(ctx, s.group)
	if err != nil {
		return err
	}
	s.result.expect(state.Primary == "a" && state.Operation == nil && state.Epoch == 1, "something was done during maintenance: primary %s, epoch %d", state.Primary, state.Epoch)
	if err := s.happens("somebody sets maintenance = false", func() error { return s.toggle(ctx, false) }); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	e, err := s.told(ctx, "started", "")
	// No alarm tells of it any more: watch does, or the standby's agent where the
	// group has a lease (R32).
	again := strings.HasPrefix(e.Actor, "watch") || strings.HasPrefix(e.Actor, "hadr.agent")
	s.result.expect(err != nil || again, "%q started the takeover, not watch or an agent", e.Actor)
	return err
}

// toggle is: aws dynamodb update-item --key ... --update-expression "SET maintenance = :on".
func (s *scene) toggle(ctx context.Context, on bool) error {
	_, err := dynamodb.NewFromConfig(s.stage.Config(Region)).UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: "GROUP#" + s.group}, "sk": &ddb.AttributeValueMemberS{Value: "STATE"}},
		UpdateExpression:          aws.String("SET maintenance = :on"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":on": &ddb.AttributeValueMemberBOOL{Value: on}},
	})
	return err
}

// leaveStandbyBehind ends with a primary whose host has vanished, and a standby
// that lacks commits and was refused.
func (s *scene) leaveStandbyBehind(ctx context.Context) error {
	a, b := s.stage.Instance("a"), s.stage.Instance("b")
	if err := s.fails("the network between the nodes is cut", func() error { s.stage.Hosts.Fabric().CutBoth(a, b); return nil }); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardWaits); err != nil {
		return err
	}
	if err := s.until(ctx, "commits of node a alone", func(failover.State) bool { return s.writes("a") }); err != nil {
		return err
	}
	if err := s.stage.untilAlarmsOK(ctx); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	e, err := s.told(ctx, "refused", string(failover.GuardFitness)+":")
	if err != nil {
		return err
	}
	s.result.expect(strings.Contains(e.Reason, "REMOTE_CATCHUP_PENDING") && e.Next != "", "the refusal does not name the state and a next command: %s; next: %s", e.Reason, e.Next)
	return nil
}

// standbyBehind: the standby lacks commits when the primary dies. It may not
// take over; once the host is stopped for certain, it is started in place.
func standbyBehind(ctx context.Context, s *scene) error {
	if err := s.leaveStandbyBehind(ctx); err != nil {
		return err
	}
	a, b := s.stage.Instance("a"), s.stage.Instance("b")
	s.stage.Hosts.Fabric().Heal(a, b)
	if err := s.happens("somebody stops the dead host of node a", func() error {
		_, err := ec2.NewFromConfig(s.stage.Config(Region)).StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{a}, Force: aws.Bool(true)})
		return err
	}); err != nil {
		return err
	}
	return s.takenOver(ctx, "a", 2)
}

// applyInTheMiddle: terraform apply changes the declaration while a takeover
// works on a snapshot of it.
func applyInTheMiddle(ctx context.Context, s *scene) error {
	a := s.stage.Instance("a")
	if err := s.stage.EC2.HoldStopping(a, false); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.until(ctx, "the step fenced", func(st failover.State) bool { return st.Operation != nil && st.Operation.Step == failover.StepFenced }); err != nil {
		return err
	}
	config, err := s.watcher.Table.ReadConfig(ctx, s.group)
	if err != nil {
		return err
	}
	config.Policy = failover.Observe
	apply := func() error { return s.watcher.Table.PutConfig(ctx, s.group, config) }
	err = s.happens("terraform apply changes the policy", apply)
	s.result.expect(err != nil && strings.Contains(err.Error(), "wait for its end"), "the change was not refused: %v", err)
	if err := s.stage.EC2.ReleaseStopping(a); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	if err := apply(); err != nil {
		return fmt.Errorf("after the takeover the change is refused, too: %w", err)
	}
	return nil
}
