package throttle

import (
	"sync"
	"sync/atomic"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Throttle counts calls while it is switched on. It is safe for concurrent use.
type Throttle struct {
	clock clock.Clock
	on    atomic.Bool

	mu      sync.Mutex
	buckets map[key]*bucket
	refused int
}

// key names a bucket. Those of Route 53 and IAM belong to no Region.
type key struct{ account, region, service, bucket string }

// New returns a Throttle that is switched off.
func New(c clock.Clock) *Throttle { return &Throttle{clock: c, buckets: map[key]*bucket{}} }

// Switch switches throttling on, with full buckets, or off.
func (t *Throttle) Switch(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on.Swap(on) != on {
		t.buckets, t.refused = map[key]*bucket{}, 0
	}
}

// State returns whether calls are counted, and how many were refused since that
// was switched on.
func (t *Throttle) State() (on bool, refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.on.Load(), t.refused
}

// Intercept is a wire.Interceptor.
func (t *Throttle) Intercept(r *wire.Request, next func() (any, error)) (any, error) {
	if t.on.Load() && !t.admit(r) {
		return nil, wire.Throttled(r.Service, r.Operation)
	}
	return next()
}

// admit takes the tokens that a call costs, of all its buckets or of none.
func (t *Throttle) admit(r *wire.Request) bool {
	limits := limitsOf(r)
	now := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range limits {
		b := t.bucket(r, l)
		b.fill(l, now)
		if b.tokens < l.cost {
			t.refused++
			return false
		}
	}
	for _, l := range limits {
		t.bucket(r, l).tokens -= l.cost
	}
	return true
}

func (t *Throttle) bucket(r *wire.Request, l limit) *bucket {
	k := key{r.Account, r.Region, r.Service, l.bucket}
	if l.global {
		k.region = ""
	}
	b := t.buckets[k]
	if b == nil {
		b = &bucket{}
		t.buckets[k] = b
	}
	return b
}
