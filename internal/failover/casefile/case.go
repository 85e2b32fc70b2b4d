package casefile

import (
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Case is a situation, and what the core must make of it.
type Case struct {
	File    string
	Title   string
	Answers []string // reports, lessons and rules
	Story   string

	State    failover.State
	Nodes    map[string]failover.Observation
	Evidence []failover.Evidence
	Event    failover.Event

	// Want is what the core must answer; it is empty in a case that only asks.
	Want  Answer
	Kills []Mutant

	record   *failover.State // where a claim is lost
	document document
}

// Parse reads a case. The error is an *Error with file and line.
func Parse(file, text string) (Case, error) { return parse(split(file, text)) }

func parse(d document) (Case, error) {
	c := Case{File: d.file, document: d}
	c.comment()
	if err := d.check(); err != nil {
		return Case{}, err
	}
	for _, read := range []func() error{c.readState, c.readNodes, c.readEvidence, c.readEvent, c.readWant} {
		if err := read(); err != nil {
			return Case{}, err
		}
	}
	return c, nil
}

// comment reads what stands before the first section.
func (c *Case) comment() {
	var story []string
	for _, l := range c.document.comment {
		answer, ok := strings.CutPrefix(l.text, "answers: ")
		switch {
		case ok:
			c.Answers = append(c.Answers, answer)
		case c.Title == "":
			c.Title = l.text
		default:
			story = append(story, l.text)
		}
	}
	c.Story = strings.TrimSpace(strings.Join(story, "\n"))
}

func (c *Case) readState() error {
	d := c.document
	config := baseConfig()
	if err := d.apply("config", configFields(&config), false); err != nil {
		return err
	}
	c.State = baseState(config)
	_, works := d.section("operation")
	if works {
		running(&c.State, failover.Kind(d.value("operation", "kind", string(failover.Takeover))), failover.StepName(d.value("operation", "step", string(failover.StepRecheck))))
		c.State.Operation.Config = config
	}
	if err := d.apply("state", stateFields(&c.State), false); err != nil {
		return err
	}
	if works {
		if err := d.apply("operation", operationFields(&c.State), false); err != nil {
			return err
		}
	}
	if _, tried := d.section("attempt"); tried {
		c.State.Attempt = considered(c.State)
		if err := d.apply("attempt", attemptFields(c.State.Attempt), false); err != nil {
			return err
		}
	}
	return c.readRecord()
}

// readRecord reads what is on the record where a claim is lost: by default the
// group before the claim, in another version.
func (c *Case) readRecord() error {
	record := baseState(c.State.Config)
	record.Primary, record.Version, record.Epoch = c.State.Primary, c.State.Version+1, c.State.Epoch
	if record.Epoch > 0 {
		record.Epoch--
	}
	c.record = &record
	f := stateFields(&record)
	f["operation"] = recorded(&record)
	return c.document.apply("record", f, false)
}

// recorded takes "op7", a takeover in its first step, or "op7, rejoin peer". What
// its step has left behind on the record comes with it.
func recorded(s *failover.State) setter {
	return func(_, v string) error {
		id, what, _ := strings.Cut(v, ", ")
		kind, step := failover.Takeover, failover.StepRecheck
		if what != "" {
			k, at, _ := strings.Cut(what, " ")
			if err := word(&kind, kinds...)("", k); err != nil {
				return err
			}
			if err := word(&step, steps...)("", at); err != nil {
				return err
			}
		}
		running(s, kind, step)
		s.Operation.ID, s.Operation.Config = id, s.Config
		return nil
	}
}

func (c *Case) readNodes() error {
	primary, standby := c.State.Primary, c.State.Config.Other(c.State.Primary)
	p, s := baseNode(primary, true), baseNode(standby, false)
	if c.document.value("state", "base", "healthy") == "vanished" {
		vanish(&p, &s)
		c.Evidence = vanishedEvidence(primary, standby)
	}
	c.Nodes = map[string]failover.Observation{}
	for _, o := range []failover.Observation{p, s} {
		if a := c.document.value("node "+o.Node, "answer", string(failover.Answered)); a != string(failover.Answered) {
			unheard(&o)
		}
		d := draftOf(o)
		if err := c.document.apply("node "+o.Node, d.fields(), false); err != nil {
			return err
		}
		c.Nodes[o.Node] = d.done()
	}
	return nil
}

func (c *Case) readEvidence() error {
	if _, ok := c.document.section("evidence"); ok {
		c.Evidence = nil
	}
	return c.document.apply("evidence", evidenceFields(&c.Evidence), true)
}

func (c *Case) readEvent() error {
	s := c.document.event()
	name := strings.TrimPrefix(s.name, "event ")
	h, ok := c.happen(name)
	if !ok {
		return c.document.wrong(s.line, "unknown event %q; want one of: %s", name, strings.Join(eventNames, ", "))
	}
	if err := c.document.apply(s.name, h.fields, false); err != nil {
		return err
	}
	c.Event = h.event()
	return nil
}

// event is the section that says what happens. A checked document has one.
func (d document) event() section {
	for _, s := range d.sections {
		if strings.HasPrefix(s.name, "event ") {
			return s
		}
	}
	return section{}
}

// EventName is the name of the event, as the file says it.
func (c Case) EventName() string { return strings.TrimPrefix(c.document.event().name, "event ") }

func (c *Case) readWant() error {
	for name, to := range map[string]*[]string{"decision": &c.Want.Decision, "reason": &c.Want.Reasons, "next": &c.Want.Next} {
		s, _ := c.document.section(name)
		*to = s.texts()
	}
	s, _ := c.document.section("kills")
	for _, l := range s.lines {
		if l.text == "" {
			continue
		}
		m, err := c.mutant(l)
		if err != nil {
			return err
		}
		c.Kills = append(c.Kills, m)
	}
	return nil
}
