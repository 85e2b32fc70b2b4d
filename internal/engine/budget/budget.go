// Package budget compares the time that something needs with the time that it
// has, at plan time. Each engine adds up its own.
package budget

import (
	"fmt"
	"strings"
	"time"
)

// Term is one part of a budget.
type Term struct {
	Name string
	For  time.Duration
}

// Budget compares the time that something needs with the time that it has.
type Budget struct {
	Terms     []Term
	Required  time.Duration
	Available time.Duration
	Strict    bool // the time has to be less, and not only no more
}

// New adds up the terms.
func New(available time.Duration, terms ...Term) Budget {
	b := Budget{Terms: terms, Available: available}
	for _, t := range terms {
		b.Required += t.For
	}
	return b
}

// Fits reports whether the time is enough.
func (b Budget) Fits() bool {
	return b.Required < b.Available || !b.Strict && b.Required == b.Available
}

// String lists the terms and both sums in seconds.
func (b Budget) String() string {
	parts := make([]string, len(b.Terms))
	for i, t := range b.Terms {
		parts[i] = fmt.Sprintf("%s %g", t.Name, t.For.Seconds())
	}
	sign := map[[2]bool]string{{true, false}: "<=", {true, true}: "<", {false, false}: ">", {false, true}: ">="}[[2]bool{b.Fits(), b.Strict}]
	return fmt.Sprintf("%s = %g s %s %g s", strings.Join(parts, " + "), b.Required.Seconds(), sign, b.Available.Seconds())
}

// Or is d, or the fallback where d is not given.
func Or(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// Finding is something about the declared settings that a plan tells.
type Finding struct {
	Error   bool   // otherwise a warning
	Setting string // such as "peer_window_seconds"
	Summary string
	Detail  string // cause with numbers, and the fix
}
