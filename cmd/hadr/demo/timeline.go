package demo

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Moment is something that was seen to happen.
type Moment struct {
	At    time.Time `json:"at"`
	After float64   `json:"seconds_after_failure"`
	Lane  string    `json:"lane"` // "host", "alarm", "control", "route", "client", "story"
	Text  string    `json:"text"`
}

// Timeline prints what happens while it happens.
type Timeline struct {
	out io.Writer

	mu      sync.Mutex
	failure time.Time
	moments []Moment
}

// NewTimeline returns a timeline that prints to out; nil prints nothing.
func NewTimeline(out io.Writer) *Timeline {
	if out == nil {
		out = io.Discard
	}
	return &Timeline{out: out}
}

// Begin sets the moment of the failure, from which everything is counted.
func (t *Timeline) Begin(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = at
}

// Add notes a moment and prints it.
func (t *Timeline) Add(at time.Time, lane, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := Moment{At: at, Lane: lane, Text: fmt.Sprintf(format, args...)}
	if !t.failure.IsZero() {
		m.After = at.Sub(t.failure).Seconds()
	}
	t.moments = append(t.moments, m)
	fmt.Fprintf(t.out, "%+8.1f s  %-8s %s\n", m.After, m.Lane, m.Text)
}

// Moments returns all moments in the order of their times.
func (t *Timeline) Moments() []Moment {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(t.moments), func(a, b Moment) int { return a.At.Compare(b.At) })
}
