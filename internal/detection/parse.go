package detection

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
)

// maxSetLength bounds the text of a set, and with it the depth of parentheses.
const maxSetLength = 1000

// ParseSet reads a set of detectors:
//
//	fill                     an alarm set that is known by name, or one of named
//	lease:20s/5s/2s          a lease: duration, renewals, and looks of its watcher (default: twice as often as it is renewed, and once a second at least)
//	view:2s                  the standby's own view, read every 2 s
//	fill+lease:20s/5s        whichever notices first
//	fill&lease:20s/5s        both must notice; & binds tighter than +
//	fill&(lease:6s/2s+view:2s)
//
// NAME=... gives the set another name than its text.
func (m Model) ParseSet(text string, named map[string]Set) (Set, error) {
	name, expression, given := strings.Cut(text, "=")
	if !given {
		name, expression = text, text
	}
	name = strings.TrimSpace(name)
	if name == "" || len(text) > maxSetLength {
		return Set{}, fmt.Errorf("set %q: want a name and an expression of up to %d characters, such as fill+lease:20s/5s", text, maxSetLength)
	}
	p := setParser{model: m, named: named, rest: strings.TrimSpace(expression)}
	s, err := p.any()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	if err != nil {
		return Set{}, fmt.Errorf("set %q: %w", text, err)
	}
	s.Name = name
	return s, nil
}

type setParser struct {
	model Model
	named map[string]Set
	rest  string
}

func (p *setParser) accept(b byte) bool {
	if p.rest == "" || p.rest[0] != b {
		return false
	}
	p.rest = strings.TrimSpace(p.rest[1:])
	return true
}

func (p *setParser) any() (Set, error) { return p.sequence('+', p.all, Any) }

func (p *setParser) all() (Set, error) { return p.sequence('&', p.one, All) }

func (p *setParser) sequence(operator byte, operand func() (Set, error), join func(string, ...Set) Set) (Set, error) {
	first, err := operand()
	sets := []Set{first}
	for err == nil && p.accept(operator) {
		var next Set
		next, err = operand()
		sets = append(sets, next)
	}
	if err != nil || len(sets) == 1 {
		return first, err
	}
	return join("", sets...), nil
}

func (p *setParser) one() (Set, error) {
	if p.accept('(') {
		s, err := p.any()
		if err == nil && !p.accept(')') {
			err = fmt.Errorf("a parenthesis is not closed before %q", p.rest)
		}
		return s, err
	}
	end := strings.IndexAny(p.rest, "+&()")
	if end < 0 {
		end = len(p.rest)
	}
	word := strings.TrimSpace(p.rest[:end])
	p.rest = p.rest[end:]
	if s, ok := p.named[word]; ok {
		return s, nil
	}
	if s, ok := p.model.Preset(word); ok {
		return s, nil
	}
	kind, arguments, _ := strings.Cut(word, ":")
	switch kind {
	case "lease":
		return p.model.parseLease(arguments)
	case "view":
		return p.model.parseView(arguments)
	}
	known := slices.Sorted(maps.Keys(p.named))
	for _, preset := range Presets {
		known = append(known, preset.Name)
	}
	return Set{}, fmt.Errorf("%q is none of %s, lease:DURATION/HEARTBEAT[/POLL], view:POLL", word, strings.Join(known, ", "))
}

func (m Model) parseLease(text string) (Set, error) {
	d, err := durations(text, 2, 3)
	if err != nil {
		return Set{}, fmt.Errorf("lease:%s: want lease:DURATION/HEARTBEAT[/POLL], such as lease:20s/5s/2s: %w", text, err)
	}
	l := m.Lease(d[0], d[1])
	if len(d) == 3 {
		l.Poll = d[2]
	}
	return Set{Detectors: []Detector{l}}, l.Check()
}

func (m Model) parseView(text string) (Set, error) {
	d, err := durations(text, 1, 1)
	if err != nil {
		return Set{}, fmt.Errorf("view:%s: want view:POLL, such as view:2s: %w", text, err)
	}
	v := View{Poll: d[0], Timeout: m.HADRTimeout}
	return Set{Detectors: []Detector{v}}, v.Check()
}

func durations(text string, least, most int) ([]time.Duration, error) {
	parts := strings.Split(text, "/")
	if len(parts) < least || len(parts) > most {
		return nil, fmt.Errorf("%d durations are given", len(parts))
	}
	out := make([]time.Duration, len(parts))
	for i, s := range parts {
		var err error
		if out[i], err = time.ParseDuration(strings.TrimSpace(s)); err != nil {
			return nil, fmt.Errorf("%q is no duration", s)
		}
	}
	return out, nil
}

// comparisons by their signs, the longer ones first.
var comparisons = []struct {
	sign string
	is   alarm.Comparison
}{
	{">=", alarm.GreaterThanOrEqual}, {"<=", alarm.LessThanOrEqual}, {">", alarm.GreaterThan}, {"<", alarm.LessThan},
}

// ParseAlarm reads an alarm on the probe's metric, such as
//
//	silent=SampleCount < 2; expression=FILL(m1, 0); missing=breaching
//
// The metric is called m1 in the expression. Other settings are period (seconds,
// default 60), n and m (default 1), and metric=NAMESPACE/NAME for another metric
// than the probe's.
func (m Model) ParseAlarm(text string) (alarm.Definition, error) {
	name, rest, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || strings.ContainsAny(name, "<>;:+&()") {
		return alarm.Definition{}, fmt.Errorf("alarm %q: want NAME=STATISTIC < NUMBER; SETTING=VALUE; ..., such as silent=SampleCount < 2; missing=breaching", text)
	}
	clauses := strings.Split(rest, ";")
	d := alarm.Definition{Name: name, N: 1, Treatment: alarm.TreatMissing}
	stat := &alarm.QueryStat{Metric: alarm.QueryMetric{Namespace: m.Probe.Namespace, Name: m.Probe.Metric}, Period: 60}
	if err := parseCondition(clauses[0], &d, stat); err != nil {
		return alarm.Definition{}, fmt.Errorf("alarm %s: %w", name, err)
	}
	d.Queries = []alarm.Query{{ID: "m1", Stat: stat, ReturnData: true}}
	for _, c := range clauses[1:] {
		if err := parseSetting(c, &d, stat); err != nil {
			return alarm.Definition{}, fmt.Errorf("alarm %s: %w", name, err)
		}
	}
	_, err := alarm.NewWatch(d)
	return d, err
}

func parseCondition(text string, d *alarm.Definition, stat *alarm.QueryStat) error {
	for _, c := range comparisons {
		left, right, ok := strings.Cut(text, c.sign)
		if !ok {
			continue
		}
		threshold, err := strconv.ParseFloat(strings.TrimSpace(right), 64)
		if err != nil {
			return fmt.Errorf("%q is no number", strings.TrimSpace(right))
		}
		stat.Stat, d.Comparison, d.Threshold = strings.TrimSpace(left), c.is, threshold
		return nil
	}
	return fmt.Errorf("%q compares nothing: want STATISTIC < NUMBER, or with >, <=, >=", strings.TrimSpace(text))
}

func parseSetting(text string, d *alarm.Definition, stat *alarm.QueryStat) (err error) {
	key, value, _ := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	number := func(to *int) {
		if *to, err = strconv.Atoi(value); err != nil {
			err = fmt.Errorf("%s: %q is no whole number", key, value)
		}
	}
	switch key {
	case "period":
		number(&stat.Period)
	case "n":
		number(&d.N)
	case "m":
		number(&d.M)
	case "missing":
		d.Treatment = alarm.Treatment(value)
	case "expression":
		d.Queries[0].ReturnData = false
		d.Queries = append(d.Queries[:1], alarm.Query{ID: "e1", Expression: value, ReturnData: true})
	case "metric":
		i := strings.LastIndex(value, "/")
		if i < 1 || i == len(value)-1 {
			return fmt.Errorf("metric: %q is not NAMESPACE/NAME", value)
		}
		stat.Metric = alarm.QueryMetric{Namespace: value[:i], Name: value[i+1:]}
	default:
		return fmt.Errorf("%q is none of period, n, m, missing, expression, metric", key)
	}
	return err
}
