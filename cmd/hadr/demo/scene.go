package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// scene is a scenario while it is played: the stage with its clients, and the
// levers that a failure or a person may pull.
type scene struct {
	*play
	table    string // name of the state table
	n        int    // which of several plays this is
	result   *Result
	operator *awsrunner.Factory // what the command hadr works with
	killing  *killing           // of a function, nil for none
	patience time.Duration
	want     ending
}

// ending is how the group must be in the end.
type ending struct {
	primary string
	epoch   uint64
	loss    bool // acknowledged commits are lost, as a person accepted
}

// patience is how long a scenario waits for what must happen.
const patience = 15 * time.Minute

func newScene(p *play, o Options, table string, r *Result, n int) *scene {
	return &scene{
		play: p, table: table, n: n, result: r, want: ending{primary: "a", epoch: 1}, patience: patience,
		operator: awsrunner.New(p.stage.Config(Region), table, p.stage.Clock, o.Log),
	}
}

// run plays the scenario on a healthy group and judges it. It reports whether
// the killing that was armed has happened, true if none was.
func (s *scene) run(ctx context.Context, sc Scenario) (reached bool, err error) {
	if err := s.watcher.prime(ctx); err != nil {
		return false, err
	}
	err = sc.play(ctx, s)
	var missed *missedError
	switch {
	case errors.As(err, &missed): // what is then is worth to be seen
		s.result.expect(false, "%s", missed)
	case err != nil:
		return false, err
	}
	if err := s.judge(ctx); err != nil {
		return false, err
	}
	if s.killing == nil {
		return true, nil
	}
	what := s.killing.effect()
	for i, d := range s.result.Deviations {
		s.result.Deviations[i] = fmt.Sprintf("killed after effect %d (%s): %s", s.n, what, d)
	}
	return what != "", nil
}

// fails pulls a lever, from which everything is counted.
func (s *scene) fails(what string, lever func() error) error {
	s.failure = s.stage.Clock.Now()
	s.timeline.Begin(s.failure)
	s.result.LastSecond = s.load.Between(s.failure.Add(-time.Second), s.failure)
	s.timeline.Add(s.failure, "host", "%s", what)
	return lever()
}

// happens pulls a further lever.
func (s *scene) happens(what string, lever func() error) error {
	s.timeline.Add(s.stage.Clock.Now(), "host", "%s", what)
	return lever()
}

// missedError: something did not happen in time.
type missedError struct{ what string }

func (e *missedError) Error() string { return "it did not come to " + e.what }

// until follows the group until something is so.
func (s *scene) until(ctx context.Context, what string, so func(failover.State) bool) error {
	err := s.watcher.follow(ctx, s.patience, what, so)
	if err != nil && ctx.Err() == nil { // its own limit has passed
		return &missedError{what}
	}
	return err
}

// watched lets time pass in which the group is followed.
func (s *scene) watched(ctx context.Context, d time.Duration) error {
	end := s.stage.Clock.Now().Add(d)
	return s.until(ctx, "the end of a pause", func(failover.State) bool { return !s.stage.Clock.Now().Before(end) })
}

// takenOver waits for the end of a takeover by a node that clients then write
// to.
func (s *scene) takenOver(ctx context.Context, node string, epoch uint64) error {
	s.want.primary, s.want.epoch = node, epoch
	return s.until(ctx, "the takeover by node "+node, func(st failover.State) bool {
		return st.Primary == node && st.Operation == nil && st.Epoch >= epoch && s.writes(node)
	})
}

// writes reports whether a node acknowledged a commit within the last seconds.
func (s *scene) writes(node string) bool {
	since := s.stage.Clock.Now().Add(-5 * time.Second)
	return slices.ContainsFunc(s.load.Acks(), func(a Ack) bool { return a.At.After(since) && a.Node == nodeName(node, s.stage) })
}

// blocked waits until the operation is blocked at a step.
func (s *scene) blocked(ctx context.Context, step failover.StepName) error {
	return s.until(ctx, "a block at step "+string(step), func(st failover.State) bool {
		return st.Phase == failover.Blocked && st.Operation != nil && st.Operation.Step == step
	})
}

// told waits for an entry of the history that begins with a text.
func (s *scene) told(ctx context.Context, event, reason string) (failover.Entry, error) {
	var found failover.Entry
	err := s.until(ctx, fmt.Sprintf("an entry %q: %q", event, reason), func(failover.State) bool {
		history, err := s.watcher.history(ctx)
		i := slices.IndexFunc(history, func(e failover.Entry) bool {
			return e.Event == event && strings.HasPrefix(e.Reason, reason) && !e.At.Before(s.failure)
		})
		if err != nil || i < 0 {
			return false
		}
		found = history[i]
		return true
	})
	return found, err
}

// refused waits until a guard has refused a takeover, with a next command.
func (s *scene) refused(ctx context.Context, guard failover.Guard) error {
	e, err := s.told(ctx, "refused", string(guard)+":")
	if err == nil {
		s.result.expect(e.Next != "", "the refusal by %q names no next command", guard)
	}
	return err
}

// commands runs what a person types into hadr.
func (s *scene) commands(ctx context.Context, what string, event func(now time.Time) failover.Event) error {
	now := s.stage.Clock.Now()
	s.timeline.Add(now, "control", "somebody runs: %s", what)
	runner, err := s.operator.Group(ctx, s.group)
	if err != nil {
		return err
	}
	_, err = runner.Run(ctx, s.group, event(now))
	return err
}
