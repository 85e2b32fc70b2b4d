package agent

import (
	"context"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

const (
	// inheritedPause lies between two tries to read the declaration at start while
	// a vow runs out, and inheritedLimit bounds each.
	inheritedPause = 250 * time.Millisecond
	inheritedLimit = 2 * time.Second
	// inheritedLeast is what an agent has at least to read the declaration: an agent
	// that was away for longer than the lease, as during an update of its package,
	// ends no database whose record it can read.
	inheritedLeast = time.Second
)

// start reads the declaration, however long that takes, and reports whether it
// was read before ctx ended. Meanwhile the vow of an agent before this one holds:
// it says when the lease of that one ends, and until then nothing is lost by
// waiting. Once the record can be read, that tells who may write.
func (a *Agent) start(ctx context.Context) (ok bool) {
	defer a.done("start")
	promise := a.inherit()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	unread, read := context.WithCancel(ctx)
	defer read()
	if promise != nil {
		waiting.Go(func() { a.fulfil(unread, *promise) })
	}
	for {
		a.beat("start", startPause+2*writeLimit)
		limit, pause := a.startPace()
		bounded, cancel := clock.WithTimeout(ctx, a.Clock, limit)
		err := a.refresh(bounded)
		cancel()
		if err == nil {
			return true
		}
		a.raise("declaration", err)
		if a.Clock.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// startPace is how long a try to read the declaration may take, and the pause
// after it.
func (a *Agent) startPace() (limit, pause time.Duration) {
	a.selfFence.mu.Lock()
	defer a.selfFence.mu.Unlock()
	if a.selfFence.inherited {
		return inheritedLimit, inheritedPause
	}
	return writeLimit, startPause
}
