package check

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Learned is a lesson and what the search has found without its rule.
type Learned struct {
	Lesson
	Result Result
}

// Learn searches for the story of every rule, once.
var Learn = sync.OnceValue(func() []Learned {
	lessons := Lessons()
	learned := make([]Learned, len(lessons))
	var wg sync.WaitGroup
	turns := make(chan struct{}, 2)
	for i, l := range lessons {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			learned[i].Lesson = l
			if l.Elsewhere == "" {
				learned[i].Result = l.Without()
			}
		})
	}
	wg.Wait()
	return learned
})

const pageHead = `# Why each rule is there

<!-- Written by make generate: every story was found by the model checker. -->

A takeover that goes wrong loses data. The decision core of hadr therefore keeps
a number of rules, and each one closes a story. Here they are: the rule in a
sentence, and the shortest story that happens without it.

Nobody thought the stories out. A search over the real decision core
(` + "`internal/failover/check`" + `) leaves one rule out, lets people, machines, networks
and functions do what they may do in every order, and stops at the first state
that must never be. With the rule kept, the same search finds nothing. Node a is
the primary at the beginning and node b its standby, unless the story says
otherwise. The peer window of the model lasts 40 seconds.

`

// Page is the documentation of the rules.
func Page(learned []Learned) string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, l := range learned {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", l.Rule, l.Says)
		if l.Elsewhere != "" {
			fmt.Fprintf(&b, "%s The test that fails without it: `%s`.\n\n", l.Elsewhere, l.Test)
			continue
		}
		b.WriteString("Without it")
		if l.Begin != Healthy {
			b.WriteString(", where " + beginnings[l.Begin])
		}
		b.WriteString(":\n\n")
		n := 1
		for _, line := range l.Result.Story {
			fmt.Fprintf(&b, "%d. %s\n", n, line)
			n++
		}
		fmt.Fprintf(&b, "\n**%s**\n\n", l.Result.Found)
		if l.Also != "" {
			b.WriteString(l.Also + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Begin of the setup of a lesson.
var beginnings = [...]string{
	PrimaryLost: "the machine of node a has just lost its power",
	PrimaryCut:  "node a has just lost its way to AWS and to its standby",
	TakenOver:   "node b has taken over and node a is stopped and fenced",
}

// Killed counts the rules whose story was found, and those that were searched.
func Killed(learned []Learned) (killed, searched int, left []failover.Rule) {
	for _, l := range learned {
		if l.Elsewhere != "" {
			continue
		}
		searched++
		if l.Result.Found != "" {
			killed++
			continue
		}
		left = append(left, l.Rule)
	}
	return killed, searched, left
}
