package detection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Month is how long a month is for rates and prices: 730 hours, as AWS bills.
const Month = 730 * time.Hour

// Latency is a lognormal distribution, given by two of its quantiles. The zero
// value is no latency at all.
type Latency struct {
	P50 time.Duration
	P99 time.Duration
}

// z99 is the 99 % quantile of the standard normal distribution.
const z99 = 2.3263478740408408

func (l Latency) draw(r *rand.Rand) time.Duration {
	switch {
	case l.P50 <= 0:
		return 0
	case l.P99 <= l.P50:
		return l.P50
	}
	sigma := math.Log(float64(l.P99)/float64(l.P50)) / z99
	return time.Duration(float64(l.P50) * math.Exp(sigma*r.NormFloat64()))
}

// Conditions are what the network and AWS do while nothing fails. AWS publishes
// none of these figures: they are assumptions.
type Conditions struct {
	Ingestion Latency       // from PutMetricData until evaluations see the value
	Call      Latency       // of a call to DynamoDB
	Loss      float64       // share of published values, renewals and reads that are lost
	Cuts      float64       // how often the primary is cut off from AWS
	CutLength time.Duration // and for how long
}

// Ideal are conditions in which nothing is late or lost.
var Ideal = Conditions{}

// Assumed are the conditions that the project assumes in its benchmarks, with
// losses and cuts on the pessimistic side.
var Assumed = Conditions{
	Ingestion: Latency{2 * time.Second, 12 * time.Second},
	Call:      Latency{5 * time.Millisecond, 30 * time.Millisecond},
	Loss:      0.001,
	Cuts:      1,
	CutLength: 15 * time.Second,
}

// Check refuses what is no condition.
func (c Conditions) Check() error {
	for name, l := range map[string]Latency{"ingestion": c.Ingestion, "call": c.Call} {
		if l.P50 < 0 || l.P99 < 0 || l.P99 > 0 && l.P99 < l.P50 {
			return fmt.Errorf("%s latency: p50 %s and p99 %s: want 0 <= p50 <= p99", name, l.P50, l.P99)
		}
		if l.P99 > time.Hour {
			return fmt.Errorf("%s latency: p99 %s is more than an hour", name, l.P99)
		}
	}
	switch {
	case math.IsNaN(c.Loss) || c.Loss < 0 || c.Loss > 0.5:
		return fmt.Errorf("loss %g: want a share between 0 and 0.5", c.Loss)
	case math.IsNaN(c.Cuts) || c.Cuts < 0 || c.Cuts > 100_000:
		return fmt.Errorf("%g cuts per month: want 0 to 100,000", c.Cuts)
	case c.CutLength < 0 || c.CutLength > time.Hour:
		return fmt.Errorf("cuts of %s: want 0 to 1 h", c.CutLength)
	}
	return nil
}

// lost reports whether something sent once does not arrive.
func (c *Conditions) lost(r *rand.Rand) bool { return c.Loss > 0 && r.Float64() < c.Loss }

// uniform draws from [0, d).
func uniform(r *rand.Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(r.Int64N(int64(d)))
}
