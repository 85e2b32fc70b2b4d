package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover/casefile"
)

// caseFlag lets a command explain what would be decided in a situation.
func caseFlag(cmd *cobra.Command) {
	var file string
	cmd.Flags().StringVar(&file, "case", "", "file with a situation, - for standard input")
	asJSON := jsonFlag(cmd)
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if file == "" {
			return cmd.Help()
		}
		text, err := readOutput(cmd.InOrStdin(), file)
		if err != nil {
			return err
		}
		if file == "-" {
			file = "standard input"
		}
		c, err := casefile.Parse(file, text)
		if err != nil {
			return err
		}
		x := explainCase(c)
		if err := explain(cmd.OutOrStdout(), x, *asJSON); err != nil {
			return err
		}
		if x.AsExpected != nil && !*x.AsExpected {
			return errors.New("the file expects another decision, reason or next command")
		}
		return nil
	}
}

// caseExplained is a situation, and what is decided in it. Ages are told as
// they were at the event.
type caseExplained struct {
	File     string          `json:"file"`
	Title    string          `json:"title"`
	Answers  []string        `json:"answers,omitempty"`
	Group    groupSeen       `json:"group"`
	Seen     []nodeSeen      `json:"seen,omitempty"`
	Evidence []evidenceSeen  `json:"evidence,omitempty"`
	Event    string          `json:"event"`
	Decision decisionReached `json:"decision"`
	// AsExpected is missing where the file expects nothing.
	AsExpected *bool    `json:"as_expected,omitempty"`
	Expected   []string `json:"expected,omitempty"` // where it is not so
}

type groupSeen struct {
	Name      string   `json:"name"`
	Epoch     uint64   `json:"epoch"`
	Primary   string   `json:"primary"`
	Phase     string   `json:"phase"`
	Policy    string   `json:"policy"`
	Fencing   string   `json:"fencing"`
	Operation string   `json:"operation,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

type nodeSeen struct {
	Node     string   `json:"node"`
	Recorded string   `json:"recorded_role"`
	Read     string   `json:"read"`
	Source   string   `json:"source"`
	Says     []string `json:"says"`
}

type evidenceSeen struct {
	Signal     string `json:"signal"`
	Node       string `json:"node"`
	Seen       string `json:"seen"`
	Detail     string `json:"detail"`
	Source     string `json:"source"`
	Conclusive bool   `json:"conclusive,omitempty"`
}

type decisionReached struct {
	Verdict string   `json:"verdict"`
	Guard   string   `json:"guard,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Done    []string `json:"done"`
	Next    []string `json:"next,omitempty"`
	Phase   string   `json:"phase"` // after it
}

func explainCase(c casefile.Case) caseExplained {
	a := c.Ask()
	x := caseExplained{
		File: c.File, Title: c.Title, Answers: c.Answers, Event: c.Happened(), Group: seenGroup(c.State),
		Decision: decisionReached{
			Verdict: a.Verdict, Guard: string(a.Guard), Reasons: a.Reasons, Done: slices.Concat([]string{}, a.Done), Next: a.Next, Phase: string(a.State.Phase),
		},
	}
	for _, node := range lookedAt(c, a) {
		x.Seen = append(x.Seen, seenNode(c, node))
	}
	if a.Guard != "" {
		for _, e := range c.Evidence {
			x.Evidence = append(x.Evidence, evidenceSeen{
				Signal: string(e.Signal), Node: e.Node, Seen: casefile.Age(e.At), Detail: e.Detail, Source: e.Source, Conclusive: e.Conclusive,
			})
		}
	}
	if same, says := c.Expected(a); says {
		x.AsExpected = &same
		if !same {
			x.Expected = slices.Concat(c.Want.Decision, c.Want.Reasons, c.Want.Next)
		}
	}
	return x
}

// lookedAt are the nodes whose own view has played a part.
func lookedAt(c casefile.Case, a casefile.Answer) []string {
	switch e := c.Event.(type) {
	case failover.NodeRead:
		return []string{e.Observation.Node}
	case failover.Watched:
		return []string{"a", "b"}
	}
	if a.Guard != "" {
		return []string{"a", "b"}
	}
	return nil
}

// WriteText prints what was seen, which guard spoke, and what to do.
func (x caseExplained) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s", x.Title)
	for _, answer := range x.Answers {
		t.field("answers", answer)
	}
	g := x.Group
	t.line("\nGroup %s: %s, epoch %d, node %s is primary; policy %s, fencing %s", g.Name, spoken(g.Phase), g.Epoch, g.Primary, g.Policy, g.Fencing)
	t.field("operation", g.Operation)
	for _, note := range g.Notes {
		t.field("recorded", note)
	}
	if len(x.Seen) > 0 {
		t.line("\nWhat was seen")
	}
	for _, n := range x.Seen {
		t.field("node "+n.Node, fmt.Sprintf("recorded %s; read %s (%s)", n.Recorded, n.Read, n.Source))
		for _, said := range n.Says {
			t.field("", said)
		}
	}
	for _, e := range x.Evidence {
		how := ""
		if e.Conclusive {
			how = ", stands alone"
		}
		t.field("evidence", fmt.Sprintf("%s against node %s, %s%s: %s (%s)", e.Signal, e.Node, e.Seen, how, e.Detail, e.Source))
	}
	t.line("\nWhat happened")
	t.field("event", x.Event)
	x.Decision.write(t)
	for i, want := range x.Expected {
		if i == 0 {
			t.line("\nWhat the file expects instead")
		}
		t.field("", want)
	}
	return t.err
}

func (d decisionReached) write(t *textWriter) {
	t.line("\nWhat is decided: %s", strings.ToUpper(spoken(d.Verdict)))
	t.field("guard", d.Guard)
	for _, reason := range d.Reasons {
		t.field("why", reason)
	}
	if len(d.Done) == 0 {
		t.field("done", "nothing")
	}
	for _, done := range d.Done {
		t.field("done", told(done))
	}
	for _, next := range d.Next {
		t.field("next", next)
	}
	t.field("phase", spoken(d.Phase))
}

// told says in a sentence who is told of an entry of the history.
func told(done string) string {
	if event, ok := strings.CutPrefix(done, "tell "); ok {
		return fmt.Sprintf("the history and people are told: %s", spoken(event))
	}
	if event, ok := strings.CutPrefix(done, "record "); ok {
		return fmt.Sprintf("the history is told: %s", spoken(event))
	}
	return done
}

func spoken(word string) string { return strings.ReplaceAll(word, "_", " ") }

// textWriter keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *textWriter) field(name, value string) {
	switch {
	case value == "":
	case name == "":
		t.line("    %-11s %s", "", value)
	default:
		t.line("    %-11s %s", name+":", value)
	}
}
