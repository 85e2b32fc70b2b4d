package detection

import (
	"math/rand/v2"
	"time"
)

// Detector is something that notices a failed primary.
type Detector interface {
	// Name tells detectors of one set apart.
	Name() string
	// Key is equal for detectors that always see the same.
	Key() string
	// Worst is the longest time from a failure until it is seen, when nothing is
	// late or lost; Never if it is not seen at all phases.
	Worst(f Failure) time.Duration
	// Notes are what a person should know about the detector's figures.
	Notes() []string
	// charges are what a pair of nodes pays for it in a month.
	charges(p Prices) []charge

	signals() []*Signal
	// horizon is how long before and after a failure its signals are needed.
	horizon(f Failure) (before, after time.Duration)
	// watcher returns what one goroutine simulates the detector with.
	watcher(r *rand.Rand) watcher
}

// watcher simulates one detector.
type watcher interface {
	// sees returns the time from the failure until it is noticed.
	sees(t *trial) time.Duration
	// suspects returns the times in which a healthy primary is suspected.
	suspects(d *stretch) []span
}

// span is a time [from, to).
type span struct{ from, to time.Duration }
