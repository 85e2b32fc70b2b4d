package demo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Scenarios that only a person can end, or that once needed one.

// windowMissed: the old primary is stopped within the window, but the takeover
// command can't be sent until the window is over, and the old primary is gone
// for good by then. A person takes over with the record's proof.
func windowMissed(ctx context.Context, s *scene) error {
	if err := s.lostBothWays(ctx); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr takeover-after-window orders --from a", askedBy(failover.AfterWindow)); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 4); err != nil {
		return err
	}
	_, err := s.told(ctx, "started", "takeover from a to b, fencing strict, after the window")
	return err
}

// lostBothWays ends with a terminated primary, a standby whose window is over
// and a group that is steady and serves nobody.
func (s *scene) lostBothWays(ctx context.Context) error {
	if _, err := s.deny(ctx, "ssm:SendCommand", "arn:aws:ssm:*:*:document/*-takeover"); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.until(ctx, "a stopped host of node a", func(failover.State) bool { return s.machineIs(ctx, "a", "stopped") }); err != nil {
		return err
	}
	if err := s.terminates(ctx, "a"); err != nil {
		return err
	}
	if err := s.blocked(ctx, failover.StepRestart); err != nil {
		return err
	}
	state, err := s.watcher.Table.Load(ctx, s.group)
	if err != nil {
		return err
	}
	s.result.expect(strings.Contains(state.Operation.Next, "hadr takeover-after-window orders --from a"), "the block does not name the way out: %s", state.Operation.Next)
	if err := s.watched(ctx, PeerWindow+time.Minute); err != nil {
		return err
	}
	return s.commands(ctx, "hadr cancel orders", func(now time.Time) failover.Event { return failover.Cancelled{At: now, Actor: "dba"} })
}

func (s *scene) terminates(ctx context.Context, node string) error {
	return s.happens("somebody terminates the host of node "+node, func() error {
		_, err := ec2.NewFromConfig(s.stage.Config(Region)).TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{s.stage.Instance(node)}})
		return err
	})
}

func askedBy(force failover.Force) func(time.Time) failover.Event {
	return func(now time.Time) failover.Event {
		return failover.Asked{At: now, Node: "a", OperationID: "forced", Actor: "dba", Reason: "node a is gone for good", Force: force}
	}
}

// dataLoss: the standby lacks commits when the primary is gone for good. The
// proof is refused; a person accepts the loss, and the audit sees it.
func dataLoss(ctx context.Context, s *scene) error {
	if err := s.leaveStandbyBehind(ctx); err != nil {
		return err
	}
	if err := s.terminates(ctx, "a"); err != nil {
		return err
	}
	if err := s.until(ctx, "a terminated host of node a", func(failover.State) bool { return s.machineIs(ctx, "a", "terminated") }); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr takeover-after-window orders --from a", askedBy(failover.AfterWindow)); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardStopped); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr takeover orders --from a --allow-data-loss", askedBy(failover.DataLoss)); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	s.want.loss = true
	_, err := s.told(ctx, "started", "takeover from a to b, fencing strict, BY FORCE: a person accepts that commits may be lost")
	return err
}

// newPrimaryAlone: the new primary reboots while its old partner is fenced and
// stopped. Db2 refuses to start a primary without its standby; it is started
// alone, because the other node can't serve.
func newPrimaryAlone(ctx context.Context, s *scene) error {
	if err := vanish(ctx, s); err != nil {
		return err
	}
	if err := s.happens("node b reboots", func() error {
		_, err := ec2.NewFromConfig(s.stage.Config(Region)).RebootInstances(ctx, &ec2.RebootInstancesInput{InstanceIds: []string{s.stage.Instance("b")}})
		return err
	}); err != nil {
		return err
	}
	if _, err := s.told(ctx, "ended", "node b serves again"); err != nil {
		return err
	}
	s.result.expect(s.machineIs(ctx, "a", "stopped"), "the fenced host of node a was started")
	return s.takenOver(ctx, "b", 3)
}

// switchedOver: the roles change in order, and back.
func switchedOver(ctx context.Context, s *scene) error {
	for epoch, to := range []string{"b", "a"} {
		s.failure = s.stage.Clock.Now()
		s.timeline.Begin(s.failure)
		if err := s.commands(ctx, "hadr switchover orders --to "+to, func(now time.Time) failover.Event {
			return failover.SwitchAsked{At: now, To: to, OperationID: "switch-" + to, Actor: "dba", Reason: "patches"}
		}); err != nil {
			return err
		}
		if err := s.takenOver(ctx, to, uint64(epoch+2)); err != nil {
			return err
		}
		if err := s.watched(ctx, 2*time.Minute); err != nil {
			return err
		}
	}
	s.result.expect(s.machineIs(ctx, "a", "running") && s.machineIs(ctx, "b", "running"), "a machine was stopped")
	return s.stage.untilAlarmsOK(ctx)
}

// approved: the policy lets a person decide.
func approved(ctx context.Context, s *scene) error {
	config, err := s.watcher.Table.ReadConfig(ctx, s.group)
	if err != nil {
		return err
	}
	config.Policy = failover.Approval
	if err := s.happens("the policy is approval", func() error { return s.watcher.Table.PutConfig(ctx, s.group, config) }); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	e, err := s.told(ctx, "approval_wanted", "node a failed")
	if err != nil {
		return err
	}
	if err := s.watched(ctx, time.Minute); err != nil {
		return err
	}
	s.notPromoted(ctx)
	s.result.expect(strings.Contains(e.Next, "hadr approve orders --operation "+e.OperationID), "the next command is %q", e.Next)
	if err := s.commands(ctx, "hadr approve orders", func(now time.Time) failover.Event {
		return failover.Approved{At: now, OperationID: e.OperationID, Actor: "dba"}
	}); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}
