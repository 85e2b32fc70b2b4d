package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Scenarios in which AWS, or a person, gets in the way of a takeover.

// deny adds a denial to the roles of both functions; the function that it
// returns takes it back.
func (s *scene) deny(ctx context.Context, action, resource string) (allow func() error, err error) {
	roles := iam.NewFromConfig(s.stage.Config(Region))
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":%q,"Resource":%q}]}`, action, resource)
	name := aws.String("denied")
	for _, role := range []string{takeoverFunction, watchFunction} {
		if _, err := roles.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: name, PolicyDocument: &policy}); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, role := range []string{takeoverFunction, watchFunction} {
			if _, err := roles.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: name}); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// oneRouteDenied: the roles may not change one of the two route tables. The
// other one is moved; when the denial is gone, watch completes the takeover.
func oneRouteDenied(ctx context.Context, s *scene) error {
	denied := s.stage.Landscape.RouteTables[0]
	allow, err := s.deny(ctx, "ec2:ReplaceRoute", "arn:aws:ec2:*:*:route-table/"+denied)
	if err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.blocked(ctx, failover.StepVerify); err != nil {
		return err
	}
	state, err := s.watcher.Table.Load(ctx, s.group)
	if err != nil {
		return err
	}
	owners, err := s.watcher.routes(ctx)
	if err != nil {
		return err
	}
	s.result.expect(strings.Contains(state.Operation.Blocked, denied) && strings.Contains(state.Operation.Next, denied), "the block does not name %s: %s; next: %s", denied, state.Operation.Blocked, state.Operation.Next)
	s.result.expect(owners[denied] == "node a" && owners[s.stage.Landscape.RouteTables[1]] == "node b", "the routes lead to %v", owners)
	s.result.expect(s.writes("b"), "nobody writes to node b through the other route table")
	if err := s.happens("the denial is taken back", allow); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

// promotionDenied: the roles may not run the takeover document. The old primary
// is stopped by then and nobody would serve, so it is started again.
func promotionDenied(ctx context.Context, s *scene) error {
	if _, err := s.deny(ctx, "ssm:SendCommand", "arn:aws:ssm:*:*:document/*takeover"); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	e, err := s.told(ctx, "ended", "node a serves again")
	if err != nil {
		return err
	}
	s.result.expect(e.Outcome == "restarted", "the operation ended as %s", e.Outcome)
	return s.takenOver(ctx, "a", 3)
}

// stopRejected: stop protection. Nothing is promoted until a person lifts it
// and says so.
func stopRejected(ctx context.Context, s *scene) error {
	if err := s.happens("somebody switches stop protection of node a on", func() error { return s.protect(ctx, true) }); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.blocked(ctx, failover.StepFence); err != nil {
		return err
	}
	if err := s.watched(ctx, time.Minute); err != nil {
		return err
	}
	s.notPromoted(ctx)
	if err := s.happens("somebody lifts the protection", func() error { return s.protect(ctx, false) }); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr resume orders", func(now time.Time) failover.Event {
		return failover.Retried{At: now, Actor: "dba"}
	}); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

func (s *scene) protect(ctx context.Context, on bool) error {
	id := s.stage.Instance("a")
	_, err := ec2.NewFromConfig(s.stage.Config(Region)).ModifyInstanceAttribute(ctx, &ec2.ModifyInstanceAttributeInput{
		InstanceId: &id, DisableApiStop: &ec2types.AttributeBooleanValue{Value: &on},
	})
	return err
}

// notPromoted expects that node b is a standby still.
func (s *scene) notPromoted(ctx context.Context) {
	for _, node := range s.stage.Writers(ctx) {
		s.result.expect(node != "b", "node b was promoted although node a may still write (R15, R16)")
	}
}

// stopHangs: the stop is accepted and does not end, while the host, whose SQL
// hangs, goes on working.
func stopHangs(ctx context.Context, s *scene) error {
	a := s.stage.Instance("a")
	if err := s.stage.EC2.HoldStopping(a, true); err != nil {
		return err
	}
	if err := s.fails("SQL on node a answers never, and its host will stay at stopping", func() error {
		return s.stage.Hosts.HangSQL(ctx, a, true)
	}); err != nil {
		return err
	}
	if err := s.blocked(ctx, failover.StepFenced); err != nil {
		return err
	}
	if err := s.watched(ctx, time.Minute); err != nil {
		return err
	}
	s.notPromoted(ctx)
	state, err := s.watcher.Table.Load(ctx, s.group)
	if err != nil {
		return err
	}
	s.result.expect(state.Operation != nil && strings.Contains(state.Operation.Blocked, "may still write"), "the block is not loud")
	if err := s.happens("the host of node a is stopped at last", func() error { return s.stage.EC2.ReleaseStopping(a) }); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

// stopHangsPromoted: under peer_window the standby is promoted while the old
// primary's machine stops, which does not end. The old primary is cut off from
// new connections and the group is blocked and loud, until the machine stops.
func stopHangsPromoted(ctx context.Context, s *scene) error {
	if err := s.cutsOff(ctx); err != nil {
		return err
	}
	if err := s.happens("the host of node a is stopped at last", func() error { return s.stage.EC2.ReleaseStopping(s.stage.Instance("a")) }); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr rejoin orders --node a", func(now time.Time) failover.Event {
		return failover.RejoinAsked{At: now, Node: "a", OperationID: "rejoin", Actor: "dba"}
	}); err != nil {
		return err
	}
	_, err := s.told(ctx, "ended", "node a is back as standby")
	return err
}

// cutsOff ends with a promoted standby and an old primary that is cut off from
// new connections, as its stop stays unconfirmed.
func (s *scene) cutsOff(ctx context.Context) error {
	a := s.stage.Instance("a")
	config, err := s.watcher.Table.ReadConfig(ctx, s.group)
	if err != nil {
		return err
	}
	config.Fencing = failover.PeerWindow
	if err := s.watcher.Table.PutConfig(ctx, s.group, config); err != nil {
		return err
	}
	if err := s.leased(ctx, 20*time.Second, 5*time.Second); err != nil {
		return err
	}
	if err := s.until(ctx, "a dead-man in force on node a", func(failover.State) bool {
		o, err := s.watcher.Table.Node(ctx, s.group, "a")
		return err == nil && o.DeadManUntil.After(s.stage.Clock.Now())
	}); err != nil {
		return err
	}
	if err := s.stage.EC2.HoldStopping(a, true); err != nil {
		return err
	}
	if err := s.fails("SQL on node a answers never, and its host will stay at stopping", func() error {
		return s.stage.Hosts.HangSQL(ctx, a, true)
	}); err != nil {
		return err
	}
	if err := s.blocked(ctx, failover.StepVerify); err != nil {
		return err
	}
	state, err := s.watcher.Table.Load(ctx, s.group)
	if err != nil {
		return err
	}
	s.result.expect(strings.HasPrefix(state.Operation.Blocked, "two writers possible") && strings.Contains(state.Operation.Blocked, "it is cut off"), "the block is not loud: %s", state.Operation.Blocked)
	s.result.expect(len(state.Fenced["a"].Groups) > 0, "the security groups of node a are not on the record")
	return nil
}

// operatorTakeover: somebody switches the roles by hand, and hadr follows.
func operatorTakeover(ctx context.Context, s *scene) error {
	if err := s.fails("somebody runs db2 takeover hadr on node b", func() error {
		return s.stage.runCommand(ctx, "b", fmt.Sprintf("runuser -l %s -c 'db2 takeover hadr on db %s'", Owner, Database))
	}); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	e, err := s.told(ctx, "started", "node b is primary already")
	s.result.expect(err != nil || e.Kind == failover.Adopt, "the operation is a %s, not an adoption", e.Kind)
	s.result.expect(s.machineIs(ctx, "a", "running"), "the new standby was stopped")
	return err
}
