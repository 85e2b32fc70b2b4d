package detection

import (
	"slices"
	"time"
)

// Set is detectors that together start a takeover.
type Set struct {
	Name      string
	Detectors []Detector
	// Holds says whether the set has noticed, given which of its detectors have.
	// nil means: one is enough.
	Holds func(noticed func(detector int) bool) bool
	// Composites is how many composite alarms a node has for it.
	Composites int
}

// Any returns the set that notices as soon as one of the others does.
func Any(name string, sets ...Set) Set {
	return join(name, sets, func(holds []bool) bool { return slices.Contains(holds, true) })
}

// All returns the set that notices when all of the others have: two signals, for
// example.
func All(name string, sets ...Set) Set {
	return join(name, sets, func(holds []bool) bool { return !slices.Contains(holds, false) })
}

func join(name string, sets []Set, decide func([]bool) bool) Set {
	out := Set{Name: name}
	first := make([]int, len(sets))
	for i, s := range sets {
		first[i] = len(out.Detectors)
		out.Detectors = append(out.Detectors, s.Detectors...)
		out.Composites += s.Composites
	}
	out.Holds = func(noticed func(int) bool) bool {
		holds := make([]bool, len(sets))
		for i, s := range sets {
			holds[i] = s.holds(func(d int) bool { return noticed(first[i] + d) })
		}
		return decide(holds)
	}
	return out
}

func (s Set) holds(noticed func(int) bool) bool {
	if s.Holds != nil {
		return s.Holds(noticed)
	}
	for i := range s.Detectors {
		if noticed(i) {
			return true
		}
	}
	return false
}

// when returns the first time at which the set has noticed, given when each of
// its detectors does. What a detector has noticed it does not forget.
func (s Set) when(times []time.Duration) time.Duration {
	if s.Holds == nil {
		return slices.Min(times)
	}
	first := Never
	for _, at := range times {
		if at < first && s.holds(func(i int) bool { return times[i] <= at }) {
			first = at
		}
	}
	return first
}

// Worst is the longest time from a failure until the set notices, when nothing
// is late or lost; Never if it may not notice at all.
func (s Set) Worst(f Failure) time.Duration {
	if len(s.Detectors) == 0 {
		return Never
	}
	times := make([]time.Duration, len(s.Detectors))
	for i, d := range s.Detectors {
		times[i] = d.Worst(f)
	}
	return s.when(times)
}

// onsets counts how often the set begins to suspect a healthy primary, given
// when each of its detectors does.
func (s Set) onsets(spans [][]span) int {
	var changes []time.Duration
	for _, of := range spans {
		for _, x := range of {
			changes = append(changes, x.from, x.to)
		}
	}
	slices.Sort(changes)
	n, before := 0, false
	for _, at := range slices.Compact(changes) {
		now := s.holds(func(i int) bool {
			return slices.ContainsFunc(spans[i], func(x span) bool { return at >= x.from && at < x.to })
		})
		if now && !before {
			n++
		}
		before = now
	}
	return n
}

// Notes are what a person should know about the set's figures, each once.
func (s Set) Notes() []string {
	var out []string
	for _, d := range s.Detectors {
		for _, n := range d.Notes() {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
