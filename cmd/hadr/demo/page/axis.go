package page

import "math"

// window is the part of time that the picture shows.
type window struct{ from, to float64 }

// Moments much later than the end of the recovery would squeeze it, so they are
// only marked at the edge.
const tooLate = 1.5

// shortest is the least time to show, in seconds.
const shortest = 1

// windowOf shows the whole recovery, with a margin before and after.
func windowOf(p Page) window {
	end := p.Recovery
	for _, s := range spans(p.Phases) {
		end = max(end, s.To)
	}
	limit := math.MaxFloat64
	if end > 0 {
		limit = tooLate * end
	}
	for _, m := range p.Moments {
		if m.After <= limit {
			end = max(end, m.After)
		}
	}
	end = max(end, shortest)
	return window{from: -0.12 * end, to: 1.1 * end}
}

// scale puts times into the plot from left to right.
type scale struct {
	window
	left, right float64
}

// x is the place of a time; times outside the window lie on its edge.
func (s scale) x(t float64) float64 {
	t = min(max(t, s.from), s.to)
	return s.left + (t-s.from)/(s.to-s.from)*(s.right-s.left)
}

// niceSteps are distances between ticks that people count in, within a decade of
// seconds, minutes and hours.
var niceSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18000, 36000}

// ticks returns the times to write at the axis, at least gap px apart. Zero, the
// failure, is one of them.
func (s scale) ticks(gap float64) []float64 {
	step := niceStep(gap / (s.right - s.left) * (s.to - s.from))
	var at []float64
	for i := math.Ceil(s.from / step); i*step <= s.to; i++ {
		at = append(at, i*step+0) // +0 turns -0 into 0
	}
	return at
}

// niceStep returns the smallest sensible step that is not below least.
func niceStep(least float64) float64 {
	last := niceSteps[len(niceSteps)-1]
	if least >= niceSteps[0] && least <= last {
		for _, s := range niceSteps {
			if s >= least {
				return s
			}
		}
	}
	decade := math.Pow(10, math.Floor(math.Log10(least)))
	for _, f := range []float64{1, 2, 5} {
		if f*decade >= least {
			return f * decade
		}
	}
	return 10 * decade
}
