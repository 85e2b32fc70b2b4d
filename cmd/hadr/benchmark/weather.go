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

// Rough is what the benchmark plays: three cuts, twelve spikes and some hundred
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
	// apart is what lies at least between a cut and another trouble: two at once
	// are two signals, on which the standby may well take over (R8).
	apart = 4 * time.Minute
)

// draw makes the spells of a day, in order.
func (w Weather) draw(d *dice, length time.Duration) (all []spell) {
	for _, kind := range []struct {
		what  trouble
		times int
	}{{primaryCut, w.Cuts}, {standbyCut, w.Cuts}, {linkCut, w.Cuts}, {isolated, w.Isolated}} {
		for range kind.times {
			all = append(all, w.spell(d, kind.what, cutLength, length, all))
		}
	}
	for range w.Spikes {
		for _, what := range []trouble{slowAWS, slowSQL} {
			all = append(all, w.spell(d, what, d.between(30*time.Second, 3*time.Minute, "length of "+string(what)), length, all))
		}
	}
	slices.SortFunc(all, func(a, b spell) int { return cmp.Compare(a.from, b.from) })
	return all
}

// spell draws one that meets no other, if there is room.
func (w Weather) spell(d *dice, what trouble, lasts, length time.Duration, others []spell) (s spell) {
	for range 1000 {
		at := d.between(morning, length-lasts, string(what))
		s = spell{what, at, at + lasts}
		if !slices.ContainsFunc(others, func(o spell) bool { return s.from < o.to+apart && o.from < s.to+apart }) {
			break
		}
	}
	return s
}
