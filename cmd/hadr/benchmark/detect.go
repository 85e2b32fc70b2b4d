package benchmark

import (
	"context"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/detection"
)

// failed is what befell the primary of a model, if anything did.
type failed struct {
	kind   detection.Failure
	at     time.Time
	vanish context.CancelFunc // of the host of node a
	seen   time.Time
	told   chan struct{}
}

// failure returns what befell the primary, "" for nothing.
func (q *calm) failure() detection.Failure {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed.kind
}

// noticed notes the first word to the takeover function after a failure.
func (q *calm) noticed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if f := &q.failed; f.kind != "" && f.seen.IsZero() {
		f.seen = time.Now()
		close(f.told)
	}
}

// Notice lets the primary of a day without other trouble fail at a random phase,
// and returns how long it takes until an agent or an alarm has told the takeover
// function; detection.Never if nobody has within half an hour. What is real and
// what is modelled is said at Quiet. It must be called in a bubble of
// testing/synctest.
func Notice(ctx context.Context, c Case, f detection.Failure, seed uint64, p Profile) (took time.Duration, err error) {
	d := newDice(seed, p)
	q, err := newCalm(c, Weather{}, day, d)
	if err != nil {
		return 0, err
	}
	took = detection.Never
	err = q.play(ctx, func(ctx context.Context) error {
		before := 2 * time.Minute
		if c.Lease == 0 {
			before = morning + 2*time.Minute // alarms have seen whole minutes
		}
		if err := q.clock.Sleep(ctx, before+d.between(0, time.Minute, "failure")); err != nil {
			return err
		}
		q.fail(f)
		late := time.NewTimer(30 * time.Minute)
		defer late.Stop()
		select {
		case <-q.failed.told:
			took = q.failed.seen.Sub(q.failed.at)
		case <-late.C:
		}
		return nil
	})
	return took, err
}

func (q *calm) fail(kind detection.Failure) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed.kind, q.failed.at, q.failed.told = kind, time.Now(), make(chan struct{})
	if kind == detection.Host {
		q.failed.vanish()
	}
}
