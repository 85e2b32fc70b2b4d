package detection

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// trial is one failure at a random time, and what was published around it.
type trial struct {
	failure    Failure
	at         time.Duration
	conditions *Conditions
	published  map[*Signal]*publisher
}

// publisher draws what a signal publishes. It has a source of randomness of its
// own, so that the figures of a set do not depend on the sets beside it.
type publisher struct {
	r             *rand.Rand
	signal        *Signal
	before, after time.Duration
	data          []alarm.Datum
	drawn         bool
}

// newRand is the source of randomness of one actor in one part of a simulation.
func newRand(seed uint64, actor string, part uint64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(actor)) // never fails: https://pkg.go.dev/hash#Hash
	return rand.New(rand.NewPCG(seed^h.Sum64(), part))
}

// failureSpread is the time over which failures are spread: as long as the
// longest usual period, so that they come at every phase.
const failureSpread = time.Hour

// next draws another failure.
func (t *trial) next(r *rand.Rand, earliest time.Duration) {
	t.at = earliest + uniform(r, failureSpread)
	for _, p := range t.published {
		p.drawn = false
	}
}

// data returns what the signal published around the failure.
func (t *trial) data(s *Signal) []alarm.Datum {
	p := t.published[s]
	if !p.drawn {
		p.drawn = true
		p.data = s.Stream.Publish(p.data[:0], alarm.Publication{
			From: t.at - p.before, Until: t.at + p.after, Offset: uniform(p.r, s.Stream.Interval),
			Failure: t.at, Effect: s.Effects[t.failure], Ingest: p.ingest(t.conditions),
		})
	}
	return p.data
}

// ingest draws what happens to a value on its way, or is nil where nothing does.
func (p *publisher) ingest(c *Conditions) func() (time.Duration, bool) {
	if c.Ingestion == (Latency{}) && c.Loss == 0 && p.signal.Hold == 0 {
		return nil
	}
	return func() (time.Duration, bool) {
		if c.lost(p.r) {
			return 0, false
		}
		return uniform(p.r, p.signal.Hold) + c.Ingestion.draw(p.r), true
	}
}
