package detection

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Prices are in US dollars of us-east-1, for comparing designs and not for a
// bill: free tiers and volume discounts are left out.
//
//   - https://aws.amazon.com/cloudwatch/pricing/
//   - https://aws.amazon.com/dynamodb/pricing/on-demand/
type Prices struct {
	AlarmMetric    float64 // per metric of a standard-resolution alarm and month
	HighResolution float64 // per metric of an alarm with a period below a minute and month
	Composite      float64 // per composite alarm and month
	CustomMetric   float64 // per metric and month
	ThousandPuts   float64 // per 1,000 calls of PutMetricData
	MillionWrites  float64 // per million write units of DynamoDB; one renewal is one
	MillionReads   float64 // per million read units; one consistent read of a small item is one
}

// AssumedPrices are the prices unless others are given. Those of composite
// alarms, custom metrics and PutMetricData are taken from secondary sources.
var AssumedPrices = Prices{
	AlarmMetric: 0.10, HighResolution: 0.30, Composite: 0.50, CustomMetric: 0.30, ThousandPuts: 0.01, MillionWrites: 0.625, MillionReads: 0.125,
}

// Set changes one price, by its name.
func (p *Prices) Set(name string, usd float64) error {
	prices := map[string]*float64{
		"alarm": &p.AlarmMetric, "high-resolution-alarm": &p.HighResolution, "composite-alarm": &p.Composite, "custom-metric": &p.CustomMetric,
		"thousand-puts": &p.ThousandPuts, "million-writes": &p.MillionWrites, "million-reads": &p.MillionReads,
	}
	to, ok := prices[name]
	if !ok {
		return fmt.Errorf("price %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(prices)), ", "))
	}
	if math.IsNaN(usd) || usd < 0 || usd > 1e6 {
		return fmt.Errorf("price %s: %g is no price in US dollars", name, usd)
	}
	*to = usd
	return nil
}

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

func (a *Alarm) charges(p Prices) []charge {
	price, kind := p.AlarmMetric, "alarm"
	if a.Definition.Period() < time.Minute {
		price, kind = p.HighResolution, "high-resolution alarm"
	}
	n := float64(len(a.Definition.Metrics()))
	out := []charge{{"alarm " + a.Key(), fmt.Sprintf("%s %s on each node", kind, a.Name()), nodes * n * price}}
	for _, s := range a.reads {
		if s.Calls == 0 {
			continue
		}
		out = append(out,
			charge{"metric " + s.Name, "custom metric " + s.Name + " of each node", nodes * p.CustomMetric},
			charge{"puts " + s.Name, "PutMetricData for " + s.Name, nodes * perMonth(s.Calls) / 1e3 * p.ThousandPuts},
		)
	}
	return out
}

func (l Lease) charges(p Prices) []charge {
	reads := perMonth(l.Poll) * float64(max(1, l.Watchers))
	return []charge{
		{"renewals " + l.Key(), "renewals of the " + l.Name(), perMonth(l.Heartbeat) / 1e6 * p.MillionWrites},
		{"reads " + l.Key(), "consistent reads of the " + l.Name(), reads / 1e6 * p.MillionReads},
	}
}

// perMonth is how often something happens that happens every d.
func perMonth(d time.Duration) float64 { return float64(Month) / float64(d) }

// Cost is what a pair of nodes pays for the set in a month.
func (s Set) Cost(p Prices) []Charge {
	paid := map[string]bool{}
	var out []Charge
	for _, d := range s.Detectors {
		for _, c := range d.charges(p) {
			if !paid[c.Key] {
				paid[c.Key] = true
				out = append(out, Charge{c.Item, c.USD})
			}
		}
	}
	if s.Composites > 0 {
		out = append(out, Charge{fmt.Sprintf("%d composite alarm(s) on each node", s.Composites), nodes * float64(s.Composites) * p.Composite})
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
