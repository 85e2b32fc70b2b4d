package detection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// Declared is what a plan or an account declares to watch a database with.
type Declared struct {
	Metrics    []alarm.Definition
	Composites []Composite
	// Roots are the alarms that mean a failure, by name. nil means: composite
	// alarms that are in no other, and metric alarms that are in none.
	Roots []string
	// Lease is the lease of the node's group, if there is one.
	Lease *Lease
}

// Composite is a composite alarm.
type Composite struct {
	Name string
	Rule string
}

// Sets returns one set for each root, and with a lease another one of both, and
// what is left out of them, for people.
func (m Model) Sets(d Declared) (sets []Set, notes []string, err error) {
	rules := map[string]*alarm.Rule{}
	for _, c := range d.Composites {
		r, err := alarm.ParseRule(c.Rule)
		if err != nil {
			return nil, nil, fmt.Errorf("composite alarm %s: %w", c.Name, err)
		}
		rules[c.Name] = r
	}
	b := builder{model: m, rules: rules, signals: NewSignals(m.Probe, m.HighResolution)}
	for _, root := range d.roots(rules) {
		set := Set{Name: root}
		if err := b.collect(&set, root, d.Metrics, nil); err != nil {
			return nil, nil, err
		}
		if len(set.Detectors) == 0 {
			b.note("%s is left out: it has no alarm that the model knows", root)
			continue
		}
		b.decide(&set, root)
		sets = append(sets, set)
		if d.Lease != nil {
			sets = append(sets, Any(root+"+"+d.Lease.Name(), set, Set{Detectors: []Detector{*d.Lease}}))
		}
	}
	return sets, b.notes, nil
}

func (d Declared) roots(rules map[string]*alarm.Rule) []string {
	if d.Roots != nil {
		return d.Roots
	}
	var out []string
	free := func(name string) bool {
		for _, r := range rules {
			if r.Refers(name) {
				return false
			}
		}
		return true
	}
	for _, c := range d.Composites {
		if free(c.Name) {
			out = append(out, c.Name)
		}
	}
	for _, a := range d.Metrics {
		if free(a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// builder makes sets of alarms that refer to each other by name.
type builder struct {
	model   Model
	rules   map[string]*alarm.Rule
	signals *Signals
	notes   []string
}

func (b *builder) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(b.notes, n) {
		b.notes = append(b.notes, n)
	}
}

// collect adds the metric alarms below an alarm to a set.
func (b *builder) collect(set *Set, name string, metrics []alarm.Definition, path []string) error {
	if slices.Contains(path, name) {
		return fmt.Errorf("composite alarm %s refers to itself by way of %s", name, strings.Join(path, ", "))
	}
	if rule, ok := b.rules[name]; ok {
		set.Composites++
		for _, child := range rule.Children() {
			if err := b.collect(set, child.Name, metrics, append(path[:len(path):len(path)], name)); err != nil {
				return err
			}
		}
		return nil
	}
	i := slices.IndexFunc(metrics, func(d alarm.Definition) bool { return d.Name == name })
	if i < 0 {
		b.note("the alarm %s is not there: it counts as one that is never raised", name)
		return nil
	}
	if slices.ContainsFunc(set.Detectors, func(d Detector) bool { return d.Name() == name }) {
		return nil
	}
	for _, q := range metrics[i].Metrics() {
		if b.signals.Find(q) == nil {
			b.note("the alarm %s is left out: the model does not know its metric %s of %s", name, q.Name, q.Namespace)
			return nil
		}
	}
	a, err := NewAlarm(metrics[i], b.signals, b.model.Assumed)
	if err == nil {
		set.Detectors = append(set.Detectors, a)
	}
	return err
}

// decide makes the set notice when its root is in ALARM.
func (b *builder) decide(set *Set, root string) {
	rule, ok := b.rules[root]
	if !ok {
		return
	}
	place := map[string]int{}
	for i, d := range set.Detectors {
		place[d.Name()] = i
	}
	set.Holds = func(noticed func(int) bool) bool {
		var state func(string) alarm.State
		state = func(name string) alarm.State {
			raised := false
			if i, ok := place[name]; ok {
				raised = noticed(i)
			} else if r, ok := b.rules[name]; ok {
				raised = r.Eval(state)
			}
			if raised {
				return alarm.Alarm
			}
			return alarm.OK
		}
		return rule.Eval(state)
	}
}
