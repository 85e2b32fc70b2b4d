package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// permission is one action of one statement of a role's policy.
type permission struct{ role, sid, action string }

func (p permission) String() string { return fmt.Sprintf("%s %s %s", p.role, p.sid, p.action) }

// probe is a scenario that needs the permissions of one role, as nobody else
// does that role's work.
type probe struct {
	name  string
	play  func(context.Context, *scene) error
	after time.Duration // midnight, when its stage is built
}

var probes = map[string][]probe{
	takeoverFunction: {
		{name: "vanish without watch", play: vanishWithoutWatch},
		{name: "killed after sending the takeover", play: killedWhilePromoting},
		{name: "promotion-denied without watch", play: deniedWithoutWatch},
		{name: "stop-hangs-promoted without watch", play: isolatedWithoutWatch},
	},
	watchFunction: {
		{name: "vanish without alarm actions", play: vanishWithoutActions},
		{name: "killed after sending the takeover", play: watchFindsTheCommand},
		{name: "promotion-denied without alarm actions", play: deniedWithoutActions},
		{name: "stop-hangs-promoted without the takeover function", play: isolatedByWatch},
		{name: "sweep", play: sweep, after: 45 * time.Minute}, // it comes once an hour
	},
	scheduleRole:   {{name: "vanish without alarm actions", play: vanishWithoutActions}},
	landscape.Role: {{name: "vanish", play: vanish}, {name: "hang", play: hang}, {name: "lease-expired", play: leaseExpired}},
}

// TestEveryPermissionIsNeeded takes every single action out of the policies of
// functions, schedule and hosts in turn: some scenario must fail then. What is
// not needed must not be allowed.
func TestEveryPermissionIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a scenario for every permission")
	}
	all := readPermissions(t)
	var mu sync.Mutex
	found := map[permission]string{}
	t.Run("without", func(t *testing.T) {
		for _, p := range append(all, permission{role: takeoverFunction}, permission{role: watchFunction}, permission{role: landscape.Role}) {
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				why := ""
				for _, probe := range probes[p.role] {
					if why = probe.without(t, p); why != "" {
						why = probe.name + ": " + why
						break
					}
				}
				switch {
				case p.action == "" && why != "":
					t.Errorf("with every permission a probe fails, so the probes prove nothing: %s", why)
				case p.action != "" && why == "":
					t.Errorf("nothing fails without %s: it must not be allowed", p)
				}
				mu.Lock()
				defer mu.Unlock()
				found[p] = why
			})
		}
	})
	for _, p := range all {
		t.Logf("%-22s %-13s %-32s %s", p.role, p.sid, p.action, brief(found[p]))
	}
}

// without plays a probe without a permission, and returns what failed.
func (pr probe) without(t *testing.T, p permission) (why string) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := Result{}
		err := pr.playWithout(t.Context(), dir, p, &r)
		switch {
		case err != nil:
			why = err.Error()
		case len(r.Deviations) > 0:
			why = r.Deviations[0]
		}
	})
	return why
}

func (pr probe) playWithout(ctx context.Context, dir string, p permission, r *Result) error {
	o := Options{Clients: 1, Pause: 100 * time.Millisecond, Out: io.Discard, Log: slog.New(slog.DiscardHandler)}
	time.Sleep(pr.after) // in the bubble's time
	s, err := NewVirtualStage(ctx, dir, o.Log)
	if err != nil {
		return err
	}
	defer s.Close()
	s.amend = p.remove
	table, err := s.declareAll(ctx)
	if err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	load, err := o.load(s)
	if err != nil {
		return err
	}
	one := &play{stage: s, load: load, timeline: NewTimeline(o.Out), group: coreGroup}
	one.watcher = newWatcher(s, table, coreGroup, one.timeline, load)
	loadCtx, stop := context.WithCancel(ctx)
	one.stop = stop
	one.wg.Go(func() { load.Run(loadCtx) })
	defer one.end()
	scene := newScene(one, o, coreTable, r, 1)
	scene.patience = 6 * time.Minute // every probe is over by then
	_, err = scene.run(ctx, Scenario{play: pr.play})
	return err
}

// document is a policy as IAM returns it.
type document struct {
	Version   string
	Statement []struct {
		Sid       string
		Effect    string
		Action    []string
		Resource  []string
		Condition map[string]map[string][]string `json:",omitempty"`
	}
}

// remove takes the permission out of a policy.
func (p permission) remove(role, policy string) (string, error) {
	if role != p.role {
		return policy, nil
	}
	var d document
	if err := json.Unmarshal([]byte(policy), &d); err != nil {
		return "", err
	}
	for i, st := range slices.Backward(d.Statement) {
		if st.Sid != p.sid {
			continue
		}
		d.Statement[i].Action = slices.DeleteFunc(st.Action, func(a string) bool { return a == p.action })
		if len(d.Statement[i].Action) > 0 {
			continue
		}
		if d.Statement = slices.Delete(d.Statement, i, i+1); len(d.Statement) == 0 { // IAM wants a statement
			return strings.ReplaceAll(policy, p.action, "none:None"), nil
		}
	}
	text, err := json.Marshal(d)
	return string(text), err
}

// readPermissions lists what the policies of all roles allow.
func readPermissions(t *testing.T) (all []permission) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := NewVirtualStage(t.Context(), dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.amend = func(role, policy string) (string, error) {
			var d document
			err := json.Unmarshal([]byte(policy), &d)
			for _, st := range d.Statement {
				for _, a := range st.Action {
					all = append(all, permission{role, st.Sid, a})
				}
			}
			return policy, err
		}
		if _, err := s.declareAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return all
}

// vanishWithoutWatch leaves the takeover to the takeover function alone.
func vanishWithoutWatch(ctx context.Context, s *scene) error {
	if err := s.stage.switchWatch(ctx, false); err != nil {
		return err
	}
	return vanishSeen(ctx, s, takeoverFunction)
}

// vanishWithoutActions leaves it to the watch function alone.
func vanishWithoutActions(ctx context.Context, s *scene) error {
	if err := s.silenceAlarms(ctx); err != nil {
		return err
	}
	return vanishSeen(ctx, s, watchFunction)
}

// isolatedWithoutWatch leaves a stop that hangs to the takeover function.
func isolatedWithoutWatch(ctx context.Context, s *scene) error {
	if err := s.stage.switchWatch(ctx, false); err != nil {
		return err
	}
	if err := s.cutsOff(ctx); err != nil {
		return err
	}
	if err := s.stage.switchWatch(ctx, true); err != nil {
		return err
	}
	if err := s.happens("the host of node a is stopped at last", func() error { return s.stage.EC2.ReleaseStopping(s.stage.Instance("a")) }); err != nil {
		return err
	}
	return s.takenOver(ctx, "b", 2)
}

// isolatedByWatch leaves a stop that hangs to the watch function: the takeover
// function can't read the record.
func isolatedByWatch(ctx context.Context, s *scene) error {
	role, policy := takeoverFunction, `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"dynamodb:*","Resource":"*"}]}`
	if _, err := iam.NewFromConfig(s.stage.Config(Region)).PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: aws.String("denied"), PolicyDocument: &policy}); err != nil {
		return err
	}
	return stopHangsPromoted(ctx, s)
}

// silenceAlarms keeps the alarms from invoking the takeover function.
func (s *scene) silenceAlarms(ctx context.Context) error {
	_, err := cloudwatch.NewFromConfig(s.stage.Config(Region)).DisableAlarmActions(ctx, &cloudwatch.DisableAlarmActionsInput{AlarmNames: []string{failedAlarm("a"), failedAlarm("b")}})
	return err
}

// vanishSeen expects besides the takeover all that a function leaves behind:
// evidence of every source, no command that waits for a dead host, and a log.
func vanishSeen(ctx context.Context, s *scene, function string) error {
	// Late in a minute that has its samples, so that every source has seen the
	// failure when the first alarm goes off.
	now := s.stage.Clock.Now()
	if err := s.stage.Clock.Sleep(ctx, now.Truncate(time.Minute).Add(time.Minute+45*time.Second).Sub(now)); err != nil {
		return err
	}
	if err := vanish(ctx, s); err != nil {
		return err
	}
	e, err := s.told(ctx, "started", "takeover from a to b")
	if err != nil {
		return err
	}
	for _, signal := range []failover.Signal{failover.SignalAlarm, failover.SignalInstance} {
		s.result.expect(slices.ContainsFunc(e.Evidence, func(v failover.Evidence) bool { return v.Signal == signal }), "the evidence lacks %s", signal)
	}
	commands, err := ssm.NewFromConfig(s.stage.Config(Region)).ListCommands(ctx, &ssm.ListCommandsInput{})
	if err != nil {
		return err
	}
	for _, c := range commands.Commands {
		s.result.expect(c.Status != ssmtypes.CommandStatusPending && c.Status != ssmtypes.CommandStatusInProgress, "command %s of document %s waits for a dead host", *c.CommandId, *c.DocumentName)
	}
	log, err := cloudwatchlogs.NewFromConfig(s.stage.Config(Region)).FilterLogEvents(ctx, &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("/aws/lambda/" + function)})
	if err != nil {
		return err
	}
	s.result.expect(len(log.Events) > 0, "function %s left no log", function)
	return nil
}

// killed kills a function right after it has sent the takeover command, the
// fourth of its commands: the one that goes on must find it.
func killed(ctx context.Context, s *scene, role string) error {
	k := s.stage.killAfter(role, 4)
	k.only = "SendCommand"
	if err := vanish(ctx, s); err != nil {
		return err
	}
	s.result.expect(k.effect() != "", "the function was not killed")
	return s.sentOnce(ctx)
}

// sentOnce expects that the takeover command was sent once.
func (s *scene) sentOnce(ctx context.Context) error {
	commands, err := ssm.NewFromConfig(s.stage.Config(Region)).ListCommands(ctx, &ssm.ListCommandsInput{})
	if err != nil {
		return err
	}
	n := 0
	for _, c := range commands.Commands {
		if strings.HasSuffix(*c.DocumentName, "-takeover") {
			n++
		}
	}
	s.result.expect(n == 1, "the takeover command was sent %d times (R21)", n)
	return nil
}

func killedWhilePromoting(ctx context.Context, s *scene) error {
	if err := s.stage.switchWatch(ctx, false); err != nil {
		return err
	}
	return killed(ctx, s, takeoverFunction)
}

// watchFindsTheCommand: Lambda does not try again, so watch goes on with the
// takeover of the killed function.
func watchFindsTheCommand(ctx context.Context, s *scene) error {
	_, err := lambda.NewFromConfig(s.stage.Config(Region)).PutFunctionEventInvokeConfig(ctx, &lambda.PutFunctionEventInvokeConfigInput{
		FunctionName: aws.String(takeoverFunction), MaximumRetryAttempts: aws.Int32(0),
	})
	if err != nil {
		return err
	}
	return killed(ctx, s, takeoverFunction)
}

func deniedWithoutWatch(ctx context.Context, s *scene) error {
	if err := s.stage.switchWatch(ctx, false); err != nil {
		return err
	}
	return promotionDenied(ctx, s)
}

func deniedWithoutActions(ctx context.Context, s *scene) error {
	if err := s.silenceAlarms(ctx); err != nil {
		return err
	}
	return promotionDenied(ctx, s)
}

// sweep leaves an expired event to the watch function.
func sweep(ctx context.Context, s *scene) error {
	at := s.stage.Clock.Now().Add(-48 * time.Hour)
	table := s.watcher.Table
	if _, err := table.See(ctx, s.stage.coreAlarm("a"), at, "old", at.Add(time.Hour)); err != nil {
		return err
	}
	now := s.stage.Clock.Now()
	if err := s.stage.Clock.Sleep(ctx, now.Truncate(time.Hour).Add(time.Hour+2*time.Minute).Sub(now)); err != nil {
		return err
	}
	again, err := table.See(ctx, s.stage.coreAlarm("a"), at, "new", at.Add(time.Hour))
	if err != nil && !errors.Is(err, control.ErrNotFound) {
		return err
	}
	s.result.expect(again == "new", "an expired event is kept: it is handled by %s", again)
	return nil
}
