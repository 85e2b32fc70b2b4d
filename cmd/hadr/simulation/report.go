package simulation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Check returns everything that is wrong with an outcome. It must be called
// outside of virtual time.
func (o Outcome) Check() []string {
	violations := o.Violations
	if err := linearizable(o.History); err != nil {
		violations = append(violations, err.Error())
	}
	return violations
}

// String tells the story with all that happened, for people.
func (o Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n%s", o.Story.Seed, o.Story)
	b.WriteString("what happened:\n")
	for _, m := range o.Timeline {
		fmt.Fprintf(&b, "%+8.1f s  %-8s %s\n", m.After, m.Lane, m.Text)
	}
	return b.String()
}

// random are identifiers that differ from run to run without meaning anything.
var random = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

const fine = "15:04:05.000000000"

// Digest is what must be the same whenever the same seed is played.
func (o Outcome) Digest() string {
	var b strings.Builder
	calls := slices.Clone(o.Calls)
	slices.SortFunc(calls, func(a, b Call) int { // those of one moment have no order
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Program, b.Program), cmp.Compare(a.What, b.What))
	})
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s %s\n", c.At.Format(fine), c.Program, c.What)
	}
	for _, m := range o.Timeline {
		fmt.Fprintf(&b, "%s %s %s\n", m.At.Format(fine), m.Lane, random.ReplaceAllString(m.Text, "..."))
	}
	fmt.Fprintf(&b, "%s, %d commits, %v\n", o.Ending, o.Audit.Acknowledged, o.Met)
	return b.String()
}
