package simulation

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// choices lets rapid choose, so that it finds the simplest story that goes wrong:
// fewer incidents, shorter ones, and at rounder times.
type choices struct{ t *rapid.T }

func (c choices) IntN(n int) int       { return rapid.IntRange(0, n-1).Draw(c.t, "choice") }
func (c choices) Int64N(n int64) int64 { return rapid.Int64Range(0, n-1).Draw(c.t, "time") }
func (c choices) Uint64() uint64       { return rapid.Uint64().Draw(c.t, "seed of a fault") }

// Float64 is below 1, as that of math/rand.
func (c choices) Float64() float64 {
	return rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(c.t, "chance")
}

// TestAnyStory: whatever rapid tells, the group comes to rest and nothing is
// lost. Play more with -rapid.checks.
func TestAnyStory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := play(t, drawFrom(choices{rt}, rapid.Uint64().Draw(rt, "seed")))
		if len(o.Violations) > 0 {
			rt.Fatalf("- %s\n%s", strings.Join(o.Violations, "\n- "), o)
		}
	})
}
