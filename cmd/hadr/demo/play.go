package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// play is one failure on a stage, with clients that write all the time.
type play struct {
	stage    *Stage
	load     *Load
	watcher  *Watcher
	timeline *Timeline
	group    string
	failure  time.Time

	stop context.CancelFunc
	wg   sync.WaitGroup
}

// minRate is how many commits must be acknowledged in the last second before
// the failure, so that a lost one would be seen.
const minRate = 100

// begin lets the clients write.
func (o Options) begin(ctx context.Context, s *Stage, table *statetable.Table, group string) (*play, error) {
	load, err := o.load(s)
	if err != nil {
		return nil, err
	}
	p := &play{stage: s, load: load, timeline: NewTimeline(o.Out), group: group}
	p.watcher = newWatcher(s, table, group, p.timeline, load)
	loadCtx, stop := context.WithCancel(ctx)
	p.stop = stop
	p.wg.Go(func() { load.Run(loadCtx) })
	return p, p.untilBusy(ctx)
}

func (p *play) end() {
	p.stop()
	p.wg.Wait()
}

// untilBusy waits until the clients write through the virtual address.
func (p *play) untilBusy(ctx context.Context) error {
	ctx, cancel := clock.WithTimeout(ctx, p.stage.Clock, 5*time.Minute)
	defer cancel()
	for p.load.Since(p.stage.Clock.Now().Add(-time.Second)) < minRate {
		if err := p.stage.Clock.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("the clients do not write through %s (%d commits so far): %w", VIP, len(p.load.Acks()), err)
		}
	}
	return nil
}

// crash makes the host of the primary vanish: power and network are gone, and
// EC2 still says "running".
func (p *play) crash(ctx context.Context, r *Result) error {
	if err := p.watcher.prime(ctx); err != nil {
		return err
	}
	p.failure = p.stage.Clock.Now()
	if err := p.stage.EC2.Vanish(p.stage.Instance("a")); err != nil {
		return err
	}
	gone := p.stage.Clock.Now()
	p.timeline.Begin(p.failure)
	p.timeline.Add(p.failure, "host", "the host of node a (%s) vanishes", p.stage.Instance("a"))
	r.LastSecond = p.load.Between(p.failure.Add(-time.Second), p.failure)
	r.expect(r.LastSecond >= minRate, "only %d commits were acknowledged in the last second before the failure, %d are needed to see a lost one", r.LastSecond, minRate)
	if took := gone.Sub(p.failure); took > time.Second {
		p.timeline.Add(gone, "host", "its power was off %.1f s later", took.Seconds())
	}
	return nil
}

// untilWritten follows until the operation is over and clients write again.
func (p *play) untilWritten(ctx context.Context) error {
	return p.watcher.follow(ctx, 10*time.Minute, "the end of the takeover", func(s failover.State) bool {
		return s.Primary == "b" && s.Operation == nil && p.watcher.written || s.Phase == failover.Blocked
	})
}

// judge stops the clients and compares what is with what must be.
func (p *play) judge(ctx context.Context, r *Result) error {
	// Some more writes, on the new primary.
	if err := p.stage.Clock.Sleep(ctx, 10*time.Second); err != nil {
		return err
	}
	p.end()
	state, err := p.watcher.look(ctx)
	if err != nil {
		return err
	}
	r.Primary, r.Epoch = state.Primary, state.Epoch
	if r.Owners, err = p.watcher.routes(ctx); err != nil {
		return err
	}
	rows, err := p.stage.Survivors("b")
	if err != nil {
		return err
	}
	acks := p.load.Acks()
	r.Audit = Judge(acks, rows)
	first, written := p.load.First(nodeName("a", p.stage))
	r.expect(written, "no client could write after the failure")
	history, err := p.watcher.history(ctx)
	if err != nil {
		return err
	}
	r.measure(p.failure, history, first)
	r.Timeline = p.timeline.Moments()

	r.expect(r.Audit.Acknowledged > 0, "nothing was acknowledged")
	r.expect(r.Audit.Lost == 0, "%d acknowledged commits are lost", r.Audit.Lost)
	r.expect(r.Audit.Double == 0, "%d commits were acknowledged or stored twice", r.Audit.Double)
	r.expect(r.Audit.Forked == 0, "%d positions of the log have two writers", r.Audit.Forked)
	r.expect(state.Primary == "b" && state.Phase == failover.Steady && state.Operation == nil,
		"the group is %s with primary %s", state.Phase, state.Primary)
	for table, owner := range r.Owners {
		r.expect(owner == "node b", "the VIP in %s leads to %s", table, owner)
	}
	return nil
}
