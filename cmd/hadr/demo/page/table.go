package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// span is a phase with its place in time.
type span struct {
	Phase
	From, To float64
}

// spans puts the phases one after the other.
func spans(phases []Phase) []span {
	var all []span
	var end float64
	for _, p := range phases {
		p.Seconds = max(0, finite(p.Seconds))
		all = append(all, span{p, end, end + p.Seconds})
		end += p.Seconds
	}
	return all
}

// momentRow is a row of the table.
type momentRow struct {
	Moment
	Number int
	Clock  string // time of day; empty without a failure to count from
}

func (p Page) rows() []momentRow {
	var rows []momentRow
	for i, m := range p.Moments {
		r := momentRow{Moment: m, Number: i + 1}
		if !p.Failure.IsZero() {
			r.Clock = p.Failure.Add(time.Duration(m.After * float64(time.Second))).UTC().Format("15:04:05.000")
		}
		rows = append(rows, r)
	}
	return rows
}

// longest bounds times, so that sums and durations of them stay exact enough to
// draw: a year.
const longest = 366 * 24 * 3600.0

func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -longest), longest)
}

// ordered returns the page with moments and states in the order of time.
func (p Page) ordered() Page {
	p.Recovery = max(0, finite(p.Recovery))
	p.Moments = slices.Clone(p.Moments)
	for i := range p.Moments {
		p.Moments[i].After = finite(p.Moments[i].After)
	}
	slices.SortStableFunc(p.Moments, func(a, b Moment) int { return cmp.Compare(a.After, b.After) })
	p.Lanes = slices.Clone(p.Lanes)
	for i, l := range p.Lanes {
		p.Lanes[i].States = slices.SortedStableFunc(slices.Values(l.States), func(a, b State) int { return cmp.Compare(a.From, b.From) })
	}
	return p
}

// seconds writes a duration with the digits that matter.
func seconds(v float64) string {
	digits := 1
	if math.Abs(v) < 1 && v != 0 {
		digits = 2
	}
	return minus(strconv.FormatFloat(v, 'f', digits, 64)) + " s"
}

// after writes a time before or after the failure.
func after(v float64) string {
	s := minus(strconv.FormatFloat(v, 'f', 1, 64))
	if v > 0 {
		s = "+" + s
	}
	return s + " s"
}

func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// Count writes a number with separators between thousands.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// describe tells the picture in words, for those who do not see it.
func (p Page) describe() string {
	var b strings.Builder
	if p.Recovery > 0 {
		fmt.Fprintf(&b, "From the failure to the first write on the new primary %s passed. ", seconds(p.Recovery))
	}
	for i, s := range spans(p.Phases) {
		sep := ", "
		if i == 0 {
			sep = "Phases: "
		}
		fmt.Fprintf(&b, "%s%s %s", sep, s.Name, seconds(s.Seconds))
		if i == len(p.Phases)-1 {
			b.WriteString(". ")
		}
	}
	for _, l := range p.Lanes {
		for i, s := range l.States {
			if i == 0 {
				fmt.Fprintf(&b, "%s: ", strings.TrimSpace(l.Title+" "+l.Note))
			} else {
				b.WriteString(", then ")
			}
			b.WriteString(s.Label)
			if !math.IsInf(s.From, 0) {
				fmt.Fprintf(&b, " from %s", after(s.From))
			}
			if i == len(l.States)-1 {
				b.WriteString(". ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}
