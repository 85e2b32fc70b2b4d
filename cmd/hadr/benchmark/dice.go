package benchmark

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
)

// dice draw latencies from a seed. What is drawn for something depends on what
// it is, and how often it was there before, not on what happens beside it. Two
// runs of a seed may differ by some hundred milliseconds all the same, where
// the scheduler decides which of two calls of the same moment is the first.
type dice struct {
	seed    uint64
	profile Profile

	mu   sync.Mutex
	seen map[uint64]uint64
}

func newDice(seed uint64, p Profile) *dice {
	return &dice{seed: calls.Mix(seed), profile: p, seen: map[uint64]uint64{}}
}

func (d *dice) draw(row Row, about uint64) time.Duration {
	return d.profile[row].Quantile(d.unit(calls.Digest(string(row)) ^ about))
}

// between draws from [from, to).
func (d *dice) between(from, to time.Duration, about string) time.Duration {
	return from + time.Duration(d.unit(calls.Digest(about))*float64(to-from))
}

// unit draws from (0, 1).
func (d *dice) unit(about uint64) float64 {
	key := d.seed ^ about
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[key]++
	return (float64(calls.Mix(key+d.seen[key])>>12) + 0.5) / (1 << 52)
}

// names makes identifiers that are the same in every run of a seed.
func (d *dice) names() func(digits int) string {
	random := rand.New(rand.NewPCG(d.seed, 2))
	return func(digits int) string {
		b := make([]byte, digits)
		for i := range b {
			b[i] = "0123456789abcdef"[random.IntN(16)]
		}
		return string(b)
	}
}
