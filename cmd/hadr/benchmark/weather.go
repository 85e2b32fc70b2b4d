package benchmark

import (
	"cmp"
	"slices"
	"time"
)

// What goes wrong on a day on which nothing fails.
type trouble string

const (
	primaryCut trouble = "primary cut off from AWS"
	standbyCut trouble = "standby cut off from AWS"
	linkCut    trouble = "link between the nodes cut"
	isolated   trouble = "primary cut off from everybody"
	slowAWS    trouble = "slow AWS"
	slowSQL    trouble = "slow SQL"
)

// cutLength is how long a network is cut.
const cutLength = 15 * time.Second

// Weather is how much goes wrong on a day without a failure.
type Weather struct {
	Cuts     int     // of each kind, for 15 s
	Isolated int     // how often the primary is cut off from everybody, for 15 s
	Spikes   int     // of AWS, and as many of SQL
	Loss     float64 // share of samples, renewals and reads that are lost
}

// Rough is what the benchmark plays: three cuts, twelve spikes and some fifty
// lost calls a day.
var Rough = Weather{Cuts: 1, Spikes: 6, Loss: 0.001}

// spell is a time in which something goes wrong: [from, to) after the day began.
type spell struct {
	what     trouble
	from, to time.Duration
}

const (
	day = 24 * time.Hour
	// morning is without trouble: alarms and lease get to know a primary that is
	// well.
	morning = 5 * time.Minute
	// apart is what lies between two cuts at least, as two at once would be
	// another one.
	apart = 2 * time.Minute
)

// draw makes the spells of a day, in order.
func (w Weather) draw(d *dice, length time.Duration) (all []spell) {
	for _, kind := range []struct {
		what  trouble
		times int
	}{{primaryCut, w.Cuts}, {standbyCut, w.Cuts}, {linkCut, w.Cuts}, {isolated, w.Isolated}} {
		for range kind.times {
			all = append(all, w.cut(d, kind.what, length, all))
		}
	}
	for range w.Spikes {
		for _, what := range []trouble{slowAWS, slowSQL} {
			at := d.between(morning, length, string(what))
			all = append(all, spell{what, at, at + d.between(30*time.Second, 3*time.Minute, "length of "+string(what))})
		}
	}
	slices.SortFunc(all, func(a, b spell) int { return cmp.Compare(a.from, b.from) })
	return all
}

// cut draws one that meets no other.
func (w Weather) cut(d *dice, what trouble, length time.Duration, others []spell) spell {
	for {
		at := d.between(morning, length-cutLength, string(what))
		s := spell{what, at, at + cutLength}
		if !slices.ContainsFunc(others, func(o spell) bool { return s.from < o.to+apart && o.from < s.to+apart }) {
			return s
		}
	}
}
