package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Outcome is how a story ended.
type Outcome struct {
	Story    Story
	Ending   Ending
	Why      string // of an ending in which nobody serves
	Changes  uint64 // of the primary
	Timeline []demo.Moment
	Audit    demo.Audit
	// Violations are differences from what must be; none is success.
	Violations []string
	// Met counts by kind how often something met an incident.
	Met map[string]int
	// History is what the authority was asked and what it answered. Check takes
	// it outside of virtual time.
	History []porcupine.Operation
	Calls   []Call
}

// Clients write slowly: what is lost at a wrong promotion are seconds of work.
const (
	clientPause = 700 * time.Millisecond
	stagger     = 333 * time.Millisecond

	// No probe begins when a renewal does: the record would show either's view.
	leaseDuration = 20 * time.Second
	leaseInterval = 4900 * time.Millisecond
)

// player plays one story.
type player struct {
	story    Story
	stage    *demo.Stage
	table    *statetable.Table
	network  *network
	load     *demo.Load
	timeline *demo.Timeline
	began    time.Time
	out      Outcome

	deeds   sync.WaitGroup
	inForce map[int]string // faults by the index of their incident
}

// Play plays a story in a directory of its own. It must be called in a bubble
// of testing/synctest, and leaves no goroutine behind. An error says that the
// story could not be played; what went wrong in it stands in the outcome.
func Play(ctx context.Context, dir string, story Story) (Outcome, error) {
	p := &player{
		story: story, network: newNetwork(story.Seed), timeline: demo.NewTimeline(nil), inForce: map[int]string{},
		out: Outcome{Story: story, Met: map[string]int{}},
	}
	stage, err := demo.NewDisturbedStage(ctx, dir, slog.New(slog.DiscardHandler), p.network, names(story.Seed))
	if err != nil {
		return p.out, fmt.Errorf("building the stage: %w", err)
	}
	defer stage.Close()
	p.stage = stage
	if p.table, err = stage.Declare(ctx); err != nil {
		return p.out, fmt.Errorf("declaring the group: %w", err)
	}
	if err := errors.Join(p.lease(ctx), p.policy(ctx)); err != nil {
		return p.out, fmt.Errorf("declaring the story's group: %w", err)
	}
	p.load = stage.Clients(1, clientPause, stagger)
	writing, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	clients.Go(func() { p.load.Run(writing) })
	err = p.tell(ctx)
	stop()
	clients.Wait()
	if err == nil {
		err = p.audit(ctx)
	}
	p.out.Timeline = p.timeline.Moments()
	p.out.History = p.network.authority.history
	p.out.Calls = p.network.calls
	return p.out, err
}

// lease declares a lease if the story has one. The agents hear of it within a
// minute.
func (p *player) lease(ctx context.Context) error {
	if !p.story.Leased {
		return nil
	}
	p.out.Met["lease"]++
	for _, node := range []string{"a", "b"} {
		probe, err := p.table.ReadProbe(ctx, demo.Group, node)
		if err != nil {
			return err
		}
		probe.LeaseDuration, probe.LeaseInterval, probe.Function = leaseDuration, leaseInterval, demo.TakeoverFunction
		if err := p.table.PutProbe(ctx, probe); err != nil {
			return err
		}
	}
	return nil
}

// names makes identifiers that are the same in every run of a seed.
func names(seed uint64) func(digits int) string {
	random := rand.New(rand.NewPCG(seed, 2))
	return func(digits int) string {
		b := make([]byte, digits)
		for i := range b {
			b[i] = "0123456789abcdef"[random.IntN(16)]
		}
		return string(b)
	}
}

// tell lets the story happen and the group come to rest.
func (p *player) tell(ctx context.Context) error {
	if err := p.warmUp(ctx); err != nil {
		return err
	}
	p.began = p.stage.Clock.Now()
	p.timeline.Begin(p.began)
	telling, stop := context.WithCancel(ctx)
	defer stop()
	for _, c := range cues(p.story) {
		if err := p.until(ctx, c.at); err != nil {
			return err
		}
		if err := c.act(telling, p); err != nil {
			return err
		}
	}
	if err := p.until(ctx, p.story.Length); err != nil {
		return err
	}
	stop() // a deed that still tries
	p.deeds.Wait()
	if err := p.calm(ctx); err != nil {
		return err
	}
	if err := p.rest(ctx); err != nil || !p.story.Restored || p.out.Ending == Restless {
		return err
	}
	return p.restore(ctx)
}

func (p *player) until(ctx context.Context, at time.Duration) error {
	return p.stage.Clock.Sleep(ctx, p.began.Add(at).Sub(p.stage.Clock.Now()))
}

// warmUp waits until both agents measure and the clients write.
func (p *player) warmUp(ctx context.Context) error {
	for range 60 {
		_, errA := p.table.Node(ctx, demo.Group, "a")
		_, errB := p.table.Node(ctx, demo.Group, "b")
		now := p.stage.Clock.Now()
		if errA == nil && errB == nil && p.load.Since(now.Add(-5*time.Second)) > 0 {
			return p.stage.Clock.Sleep(ctx, 30*time.Second) // alarms get their first data
		}
		if err := p.stage.Clock.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
	}
	return errors.New("the agents do not measure, or the clients do not write")
}

func (p *player) note(format string, args ...any) {
	p.timeline.Add(p.stage.Clock.Now(), "story", format, args...)
}

func (p *player) violated(format string, args ...any) {
	p.out.Violations = append(p.out.Violations, fmt.Sprintf(format, args...))
}
