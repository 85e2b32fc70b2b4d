// Package throttle refuses calls that come too often, as AWS documents it, by
// token buckets per account and Region.
package throttle

import (
	"math"
	"time"
)

// bucket is a token bucket that is refilled once a second.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html#throttling-how
type bucket struct {
	tokens float64
	filled time.Time
}

// fill adds the tokens of the seconds that have passed.
func (b *bucket) fill(l limit, now time.Time) {
	if b.filled.IsZero() {
		b.tokens, b.filled = l.size, now
	}
	if seconds := math.Floor(now.Sub(b.filled).Seconds()); seconds > 0 {
		b.tokens = min(l.size, b.tokens+seconds*l.refill)
		b.filled = b.filled.Add(time.Duration(seconds) * time.Second)
	}
}
