package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/takeover"
)

// Options configure a demo.
type Options struct {
	StageOptions
	Source   string        // root of the source tree, for modules and examples
	Provider string        // path of the provider's binary
	Clients  int           // that write through each route table
	Pause    time.Duration // of each client between two commits
	Out      io.Writer
	Log      *slog.Logger
	Verbose  bool // show what terraform prints
}

// clientPatience is how long a client waits for the answer to a commit.
const clientPatience = 10 * time.Second

func (o Options) load(s *Stage) (*Load, error) {
	l := &Load{Paths: s.Landscape.RouteTables, Dial: s.dial, Clients: o.Clients, Pause: o.Pause, Clock: s.Clock, Patience: clientPatience}
	if s.virtual {
		return l, nil
	}
	paths, err := s.Paths() // one TCP address for each route table
	if err != nil {
		return nil, err
	}
	l.Dial = func(ctx context.Context, table string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", paths[table])
	}
	return l, nil
}

// Core shows a takeover without Lambda and Terraform: a hand-made alarm event
// goes to the same handler that the function runs.
func Core(ctx context.Context, o Options) (Result, error) {
	r := Result{Name: "core", Speed: o.Speed}
	s, err := NewStage(ctx, o.StageOptions)
	if err != nil {
		return r, err
	}
	defer s.Close()
	err = o.playCore(ctx, s, &r)
	return r, err
}

func (o Options) playCore(ctx context.Context, s *Stage, r *Result) error {
	table, err := s.declare(ctx)
	if err != nil {
		return fmt.Errorf("declaring the group: %w", err)
	}
	if err := s.configureAgents(ctx, coreTable, coreGroup); err != nil {
		return err
	}
	play, err := o.begin(ctx, s, table, coreGroup)
	if err != nil {
		return err
	}
	defer play.end()
	if err := play.watcher.follow(ctx, 3*time.Minute, "the agents' first records", func(failover.State) bool {
		_, errA := table.Node(ctx, coreGroup, "a")
		_, errB := table.Node(ctx, coreGroup, "b")
		return errA == nil && errB == nil
	}); err != nil {
		return err
	}
	if err := play.crash(ctx, r); err != nil {
		return err
	}
	// As late as the first alarm could be: HADR_TIMEOUT has not passed, so the
	// standby still reads PEER and CONNECTED.
	if err := s.Clock.Sleep(ctx, 100*time.Second); err != nil {
		return err
	}
	runners := awsrunner.New(s.Config(Region), coreTable, s.Clock, o.Log)
	h := &takeover.Handler{Store: runners.Table(), Runner: runners.Group, Clock: s.Clock, Log: o.Log, NewID: awsrunner.OperationID}
	event, err := s.coreEvent()
	if err != nil {
		return err
	}
	play.timeline.Add(s.Clock.Now(), "alarm", "hand-made event of the alarm of node a")
	followed := make(chan error, 1)
	go func() { followed <- play.untilWritten(ctx) }()
	answer, err := h.Handle(ctx, event)
	if err != nil {
		return err
	}
	if answer.Result != "ok" {
		return fmt.Errorf("the takeover ended as %s: %s; next: %s", answer.Result, answer.Reason, answer.Next)
	}
	if err := <-followed; err != nil {
		return err
	}
	return play.judge(ctx, r)
}

// coreEvent is the payload of the Lambda action of a composite alarm.
func (s *Stage) coreEvent() (json.RawMessage, error) {
	at := s.Clock.Now().Format(alarm.TimeFormat)
	state := func(value, reason string) map[string]any {
		return map[string]any{"value": value, "reason": reason, "timestamp": at}
	}
	return json.Marshal(map[string]any{
		"source": "aws.cloudwatch", "alarmArn": s.coreAlarm("a"), "accountId": s.World.Account, "time": at, "region": Region,
		"alarmData": map[string]any{
			"alarmName": failedAlarm("a"), "state": state("ALARM", "made by hand"), "previousState": state("OK", "made by hand"),
			"configuration": map[string]any{"alarmRule": "ALARM(made-by-hand)"},
		},
	})
}
