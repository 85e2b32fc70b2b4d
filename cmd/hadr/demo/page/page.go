// Package page writes the story of a takeover as one HTML file: an SVG timeline,
// the figures and a table of all moments. The file needs no network and no
// JavaScript, and the same input gives the same bytes.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"time"
)

// Page is what is shown. Times in it are seconds after the failure; negative
// ones were before it.
type Page struct {
	Title    string
	Note     string    // where the times come from
	Failure  time.Time // zero if nothing failed
	Recovery float64   // first write on the new primary; 0 if there was none
	Lanes    []Lane    // from top to bottom
	Phases   []Phase   // of the recovery, one after the other, from the failure on
	Moments  []Moment  // in any order

	Audit   Audit
	Primary string
	Epoch   uint64
	Owners  []Owner
	Plan    *Plan // nil if no plan was made
	// Deviations are differences from what must be; none is success.
	Deviations []string
}

// ControlLane is the ID of the lane that shows the phases.
const ControlLane = "control"

// Lane is one row of the picture. A lane without a title belongs to the one
// above it.
type Lane struct {
	ID     string // what Moment.Lane refers to
	Title  string
	Note   string
	States []State
}

// State is what a lane was from one moment to another. From may be
// math.Inf(-1) and To math.Inf(1): then it reaches to the edge of the picture.
type State struct {
	From, To float64
	Kind     Kind
	Label    string
	Short    string // shown where Label has no room; may be empty
}

// Kind decides on colour and pattern of a state.
type Kind string

// The kinds of states, in the order in which the legend explains them.
const (
	Serving  Kind = "serving"  // takes and acknowledges writes
	Standby  Kind = "standby"  // replays the log of the primary
	Changing Kind = "changing" // on the way from one role to another
	Silent   Kind = "silent"   // gives no answer, nobody knows
	Stopped  Kind = "stopped"  // confirmed not to run
	Red      Kind = "red"      // an alarm in ALARM
	Blocked  Kind = "blocked"  // a client that cannot commit
)

// Phase is one part of the recovery.
type Phase struct {
	Name    string
	Seconds float64
}

// Moment is something that was seen to happen.
type Moment struct {
	After    float64
	Lane     string // ID of a lane; without such a lane it is only in the table
	Source   string // who saw it, for the table
	Text     string
	Evidence []Evidence
	Next     string // command for the operator; may be empty
}

// Evidence is one signal on which a decision was based.
type Evidence struct{ Signal, Detail string }

// Audit is what became of the commits.
type Audit struct {
	Acknowledged, LastSecond, Lost, Double, Forked int
	Examples                                       []string
}

// Owner is where the VIP leads in a route table.
type Owner struct{ RouteTable, Leads string }

// Plan is what terraform plan said in the end.
type Plan struct {
	Empty    bool
	Text     string
	Warnings []string
}

//go:embed page.gohtml picture.gohtml
var sources embed.FS

var templates = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"seconds": seconds,
	"after":   after,
	"count":   Count,
}).ParseFS(sources, "page.gohtml", "picture.gohtml"))

// Widths of the two pictures in px: the page shows the one that needs no
// shrinking, so that text keeps its size. Paper gets the wide one.
const (
	wide   = 1240
	narrow = 820
)

// Write writes the page.
func Write(w io.Writer, p Page) error {
	p = p.ordered()
	var b bytes.Buffer
	err := templates.Execute(&b, struct {
		Page
		Wide, Narrow picture
		Spans        []span
		Rows         []momentRow
	}{p, draw(p, "wide", wide), draw(p, "narrow", narrow), spans(p.Phases), p.rows()})
	if err != nil {
		return fmt.Errorf("filling in the page: %w", err)
	}
	if _, err := w.Write(bytes.Map(allowed, b.Bytes())); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// allowed replaces what may not stand in XML even when escaped, so that the
// picture can be taken out of the page: https://www.w3.org/TR/xml/#charsets.
func allowed(r rune) rune {
	switch {
	case r == '\t', r == '\n':
		return r
	case r < ' ', r >= 0xD800 && r <= 0xDFFF, r == 0xFFFE, r == 0xFFFF:
		return '\uFFFD'
	}
	return r
}
