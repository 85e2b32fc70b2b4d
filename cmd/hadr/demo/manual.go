package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
)

// NewManualStage builds a stage whose clock reads now and then stands still
// until it is moved by hand. Hosts and agents are goroutines of this process,
// so that a step can tell when all has happened; functions are processes, which
// ask the sandbox for the time.
func NewManualStage(ctx context.Context, o StageOptions, now time.Time) (*Stage, error) {
	s := &Stage{Dir: o.Dir}
	sb, err := sandbox.Start(ctx, sandbox.Options{
		Manual: now, Dir: filepath.Join(o.Dir, "hosts"), Listen: o.Listen, FunctionProcesses: true, Throttled: o.Throttled, Log: o.Log,
		Commands: map[string]hosts.CommandFunc{"hadr-agent": s.agent},
	})
	if err != nil {
		return nil, err
	}
	s.Sandbox, s.Clock = sb, sb.World.Clock
	if err := s.buildByHand(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settleAfter is how much later the clock stands when the landscape is built, so
// that this does not depend on how fast the machine was.
const settleAfter = 2 * time.Minute

// buildByHand builds the landscape while the clock moves as far as that needs,
// and then to a fixed time.
func (s *Stage) buildByHand(ctx context.Context) error {
	m, ok := s.Clock.(*clock.Manual)
	if !ok {
		return fmt.Errorf("the stage's clock is no manual one, but a %T", s.Clock)
	}
	ready := m.Now().Add(settleAfter)
	built := make(chan error, 1)
	go func() { built <- s.build(ctx) }()
	for {
		if err := m.Advance(ctx, time.Second); err != nil {
			return err
		}
		select {
		case err := <-built:
			if err != nil {
				return err
			}
			return m.Advance(ctx, max(0, ready.Sub(m.Now())))
		default:
		}
	}
}
