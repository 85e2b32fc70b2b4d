package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Scenarios in which the primary fails and is taken over, whatever else
// happens meanwhile.

func vanish(ctx context.Context, s *scene) error {
	if err := s.vanishes("a"); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

// vanishes makes the host of a node disappear: EC2 still says running.
func (s *scene) vanishes(node string) error {
	return s.fails("the host of node "+node+" vanishes", func() error { return s.stage.EC2.Vanish(s.stage.Instance(node)) })
}

func db2Killed(ctx context.Context, s *scene) error {
	err := s.fails("db2sysc on node a is killed; its host goes on", func() error {
		if s.stage.Hosts.KillProcess(s.stage.Instance("a"), "db2sysc") == 0 {
			return fmt.Errorf("no process db2sysc runs on node a")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

func hang(ctx context.Context, s *scene) error {
	if err := s.fails("SQL on node a answers never; HADR stays connected", func() error {
		return s.stage.Hosts.HangSQL(ctx, s.stage.Instance("a"), true)
	}); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

func slow(ctx context.Context, s *scene) error {
	const delay = 25 * time.Second
	if err := s.fails("SQL on node a takes 25 s", func() error {
		return s.stage.Hosts.SlowSQL(ctx, s.stage.Instance("a"), delay)
	}); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

// duplicateEvent delivers the alarm's event three times, once long after.
func duplicateEvent(ctx context.Context, s *scene) error {
	client := lambda.NewFromConfig(s.stage.Config(Region))
	function := takeoverFunction
	again := func() error {
		_, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, InvocationType: lambdatypes.InvocationTypeEvent, Payload: s.stage.inbox.first()})
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.until(ctx, "the alarm's event", func(failover.State) bool { return s.stage.inbox.first() != nil }); err != nil {
		return err
	}
	if err := s.happens("the alarm's event is delivered a second time", again); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	if err := s.happens("the alarm's event is delivered a third time", again); err != nil {
		return err
	}
	if err := s.watched(ctx, 2*time.Minute); err != nil {
		return err
	}
	return s.once(ctx)
}

// once expects that one operation was started and no more.
func (s *scene) once(ctx context.Context) error {
	history, err := s.watcher.history(ctx)
	if err != nil {
		return err
	}
	var started []string
	for _, e := range history {
		if e.Event == "started" {
			started = append(started, fmt.Sprintf("%s %s: %s", e.At.Format(time.TimeOnly), e.OperationID, e.Reason))
		}
	}
	s.result.expect(len(started) == 1, "%d operations were started: %s", len(started), strings.Join(started, "; "))
	return nil
}

// functionCrash kills the takeover function after its n-th effect. Lambda's
// retry or watch goes on. Until then watch is switched off, so that it does not
// do the work first.
func functionCrash(ctx context.Context, s *scene) error {
	s.killing = s.stage.killAfter(takeoverFunction, s.n)
	if err := s.stage.switchWatch(ctx, false); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.until(ctx, "a killed function or the end of its work", func(st failover.State) bool {
		return s.killing.effect() != "" || st.Primary == "b" && st.Operation == nil
	}); err != nil {
		return err
	}
	if err := s.happens("the takeover function was killed after "+s.killing.effect(), func() error { return s.stage.switchWatch(ctx, true) }); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	return s.once(ctx)
}

// oldPrimaryReturns: EC2 starts the fenced host again, as automatic recovery
// or somebody who does not know may do.
func oldPrimaryReturns(ctx context.Context, s *scene) error {
	if err := vanish(ctx, s); err != nil {
		return err
	}
	client := ec2.NewFromConfig(s.stage.Config(Region))
	if err := s.happens("EC2 starts the host of node a again", func() error {
		_, err := client.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{s.stage.Instance("a")}})
		return err
	}); err != nil {
		return err
	}
	if _, err := s.told(ctx, "fenced_again", "node a"); err != nil {
		return err
	}
	if err := s.until(ctx, "a stopped host of node a", func(failover.State) bool { return s.machineIs(ctx, "a", "stopped") }); err != nil {
		return err
	}
	return s.watched(ctx, 2*time.Minute)
}

func (s *scene) machineIs(ctx context.Context, node, state string) bool {
	out, err := ec2.NewFromConfig(s.stage.Config(Region)).DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{s.stage.Instance(node)}})
	return err == nil && len(out.Reservations) == 1 && string(out.Reservations[0].Instances[0].State.Name) == state
}

// secondFailure: after the old primary is back as standby, the new one fails.
func secondFailure(ctx context.Context, s *scene) error {
	if err := vanish(ctx, s); err != nil {
		return err
	}
	if err := s.commands(ctx, "hadr rejoin orders --node a", func(now time.Time) failover.Event {
		return failover.RejoinAsked{At: now, Node: "a", OperationID: "rejoin", Actor: "dba"}
	}); err != nil {
		return err
	}
	if _, err := s.told(ctx, "ended", "node a is back as standby"); err != nil {
		return err
	}
	if err := s.stage.settle(ctx); err != nil {
		return err
	}
	if err := s.happens("the host of node b vanishes", func() error { return s.stage.EC2.Vanish(s.stage.Instance("b")) }); err != nil {
		return err
	}
	return s.takenOver(ctx, "a", 3)
}
