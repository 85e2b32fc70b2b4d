package agent

import (
	"context"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// pulsing is the loop of a group with a lease. At every tick it begins a view
// and a probe where none is under way, and keeps or watches the lease by what
// is known: none of them waits for the database. Nor does the database wait for
// AWS: an agent that can't write goes on to commit, or its standby would hear as
// little of it as of a dead one.
func (a *Agent) pulsing(ctx context.Context) error {
	d := a.declaration()
	ticker := a.Clock.NewTicker(d.probe.LeaseInterval)
	defer ticker.Stop()
	var probe, write, tend single
	defer func() { tend.wait(); a.looking.wait(); probe.wait(); write.wait() }()
	tell := func() { // what is known at this moment, not when the write begins
		o := a.observation(a.health.latency())
		write.start(func() { a.writeChange(ctx, o) })
	}
	for {
		a.beat("pulsing", 3*d.probe.LeaseInterval+2*writeLimit)
		a.looking.start(func() {
			a.look(ctx)
			tell()
			probe.start(func() { a.probe(ctx); tell() })
		})
		tend.start(func() { a.tend(ctx) })
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// single runs one thing at a time.
type single struct {
	mu   sync.Mutex
	done chan struct{} // closed when what runs, or ran last, has ended
}

// start runs f unless something runs, and returns what is closed when that has
// ended.
func (s *single) start(f func()) (done <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		select {
		case <-s.done:
		default:
			return s.done
		}
	}
	ended := make(chan struct{})
	s.done = ended
	go func() {
		defer close(ended)
		f()
	}()
	return ended
}

func (s *single) wait() {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// tend keeps this node's lease, or watches the other one's.
func (a *Agent) tend(ctx context.Context) {
	d := a.declaration()
	switch {
	case d.state.Primary == a.Node:
		a.watching.reset()
		a.keepLease(ctx)
	default:
		a.watch(ctx)
	}
	switch {
	case a.overdue(d.state):
		a.push(ctx, d)
	case d.state.Primary == a.Node || a.suspicion(a.health.observation()) == "":
		a.unneeded("takeover")
	}
}

// slack is what an operation may be late before the agent asks for it again:
// its deadline is on another clock.
const slack = 10 * time.Second

// overdue reports whether a recorded step is late: whoever ran it may be dead
// (R32).
func (a *Agent) overdue(s failover.State) bool {
	op := s.Operation
	return op != nil && op.Blocked == "" && !op.Deadline.IsZero() && a.Clock.Now().After(op.Deadline.Add(slack))
}
