package casefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Mutant is a wrong core: one that leaves a safety rule out, that does not look
// at one line of a case, or that takes its value for another one. The latter two
// decide as the right one does where that line does not stand, or says the other
// value.
type Mutant struct {
	Rule         failover.Rule // 0 = none
	Section, Key string        // "" = none
	Value        string        // "" = blind

	line int
}

func (m Mutant) String() string {
	if m.Rule != 0 {
		return m.Rule.String()
	}
	if m.Value != "" {
		return fmt.Sprintf("taking %s: %s for %s", m.Section, m.Key, m.Value)
	}
	return fmt.Sprintf("blind to %s: %s", m.Section, m.Key)
}

// mutant reads "R8", "blind to node b: fitness", or "taking node b: window for
// 24s".
func (c *Case) mutant(l line) (Mutant, error) {
	m := Mutant{line: l.number}
	what, blind := strings.CutPrefix(l.text, "blind to ")
	if !blind {
		var taking bool
		if what, taking = strings.CutPrefix(l.text, "taking "); !taking {
			return c.rule(l)
		}
		if what, m.Value, taking = strings.Cut(what, " for "); !taking || m.Value == "" {
			return Mutant{}, c.document.wrong(l.number, "%q; want such as: taking node b: window for 24s", l.text)
		}
	}
	m.Section, m.Key, _ = strings.Cut(what, ": ")
	if _, n := c.document.with(m); n == 0 {
		return Mutant{}, c.document.wrong(l.number, "section %q has no line %q that a core could misread", m.Section, m.Key)
	}
	return m, nil
}

func (c *Case) rule(l line) (Mutant, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(l.text, "R"))
	if err != nil || n < int(failover.R1) || n > int(failover.R33) || failover.Rule(n).String() != l.text {
		return Mutant{}, c.document.wrong(l.number, "%q; want a rule such as R8, or such as: blind to node b: fitness", l.text)
	}
	return Mutant{Rule: failover.Rule(n), line: l.number}, nil
}

// AskMutant asks a wrong core.
func (c Case) AskMutant(m Mutant) (Answer, error) {
	if m.Rule != 0 {
		return c.ask(failover.Of(m.Rule)), nil
	}
	d, _ := c.document.with(m)
	other, err := parse(d)
	if err != nil {
		return Answer{}, fmt.Errorf("%s:%d: a core that is %s: %w", c.File, m.line, m, err)
	}
	return other.Ask(), nil
}

// with returns the document as such a core sees it, and how many lines differ.
func (d document) with(m Mutant) (document, int) {
	d.sections = slices.Clone(d.sections)
	changed := 0
	for i, s := range d.sections {
		// What a case expects is nothing that a core looks at.
		if s.name != m.Section && s.name != "kills" {
			continue
		}
		var lines []line
		for _, l := range s.lines {
			e, ok := entryOf(l)
			switch {
			case s.name == "kills":
				continue
			case !ok || e.key != m.Key:
				lines = append(lines, l)
				continue
			case m.Value != "":
				lines = append(lines, line{number: l.number, text: m.Key + ": " + m.Value})
			}
			changed++
		}
		d.sections[i].lines = lines
	}
	return d, changed
}
