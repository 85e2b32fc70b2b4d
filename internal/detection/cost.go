package detection

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Prices in US dollars of us-east-1. They are for comparing designs, not for a
// bill: free tiers and volume discounts are left out.
//
//   - https://aws.amazon.com/cloudwatch/pricing/ (alarm metrics, composite alarms,
//     custom metrics, PutMetricData)
//   - https://aws.amazon.com/dynamodb/pricing/on-demand/
const (
	priceAlarmMetric    = 0.10  // per metric of a standard-resolution alarm and month
	priceHighResolution = 0.30  // per metric of an alarm with a period below a minute and month
	priceComposite      = 0.50  // per composite alarm and month
	priceCustomMetric   = 0.30  // per metric and month
	priceThousandPuts   = 0.01  // per 1,000 calls of PutMetricData
	priceMillionWrites  = 0.625 // per million write units; one renewal is one
	priceMillionReads   = 0.125 // per million read units; one consistent read of a small item is one
)

// nodes of a pair: both are watched, as each may be primary.
const nodes = 2

// charge is one line of a month's bill. Charges of equal Key are paid once.
type charge struct {
	Key  string
	Item string
	USD  float64
}

// Charge is one line of a month's bill for a pair of nodes, in US dollars.
type Charge struct {
	Item string  `json:"item"`
	USD  float64 `json:"usd"`
}

func (a *Alarm) charges() []charge {
	price, kind := priceAlarmMetric, "alarm"
	if a.Definition.Period() < time.Minute {
		price, kind = priceHighResolution, "high-resolution alarm"
	}
	n := float64(len(a.Definition.Metrics()))
	out := []charge{{"alarm " + a.Key(), fmt.Sprintf("%s %s on each node", kind, a.Name()), nodes * n * price}}
	for _, s := range a.reads {
		if s.Calls == 0 {
			continue
		}
		out = append(out,
			charge{"metric " + s.Name, "custom metric " + s.Name + " of each node", nodes * priceCustomMetric},
			charge{"puts " + s.Name, "PutMetricData for " + s.Name, nodes * perMonth(s.Calls) / 1e3 * priceThousandPuts},
		)
	}
	return out
}

func (l Lease) charges() []charge {
	reads := perMonth(l.Poll) * float64(max(1, l.Watchers))
	return []charge{
		{"renewals " + l.Key(), "renewals of the " + l.Name(), perMonth(l.Heartbeat) / 1e6 * priceMillionWrites},
		{"reads " + l.Key(), "consistent reads of the " + l.Name(), reads / 1e6 * priceMillionReads},
	}
}

// perMonth is how often something happens that happens every d.
func perMonth(d time.Duration) float64 { return float64(Month) / float64(d) }

// Cost is what a pair of nodes pays for the set in a month.
func (s Set) Cost() []Charge {
	paid := map[string]bool{}
	var out []Charge
	for _, d := range s.Detectors {
		for _, c := range d.charges() {
			if !paid[c.Key] {
				paid[c.Key] = true
				out = append(out, Charge{c.Item, c.USD})
			}
		}
	}
	if s.Composites > 0 {
		out = append(out, Charge{fmt.Sprintf("%d composite alarm(s) on each node", s.Composites), nodes * float64(s.Composites) * priceComposite})
	}
	slices.SortStableFunc(out, func(a, b Charge) int { return strings.Compare(a.Item, b.Item) })
	return out
}

// Monthly is the sum of a bill.
func Monthly(bill []Charge) float64 {
	sum := 0.0
	for _, c := range bill {
		sum += c.USD
	}
	return sum
}
