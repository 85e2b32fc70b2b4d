package casefile

import (
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake in a case file.
type Error struct {
	File string
	Line int // 1 = first
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What) }

// document is a case file in its parts. It is split here, and not by a package
// for txtar, because mistakes are told with their line.
type document struct {
	file     string
	comment  []line
	sections []section
}

type line struct {
	number int
	text   string
}

type section struct {
	name  string // such as "node b"
	line  int
	lines []line
}

// entry is a line "key: value".
type entry struct {
	key, value string
	line       int
}

func split(file, text string) document {
	d := document{file: file}
	for i, text := range strings.Split(text, "\n") {
		l := line{number: i + 1, text: strings.TrimRight(text, " \t\r")}
		switch name, ok := marker(l.text); {
		case ok:
			d.sections = append(d.sections, section{name: name, line: l.number})
		case len(d.sections) == 0:
			d.comment = append(d.comment, l)
		default:
			last := &d.sections[len(d.sections)-1]
			last.lines = append(last.lines, l)
		}
	}
	return d
}

func marker(text string) (name string, ok bool) {
	inner, ok := strings.CutPrefix(text, "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(inner, " --")
	return strings.Join(strings.Fields(name), " "), ok
}

func (d document) wrong(line int, format string, args ...any) error {
	return &Error{File: d.file, Line: line, What: fmt.Sprintf(format, args...)}
}

// section returns the section with a name, and whether there is one.
func (d document) section(name string) (section, bool) {
	for _, s := range d.sections {
		if s.name == name {
			return s, true
		}
	}
	return section{}, false
}

// value returns what a section says for a key, and def if it says nothing.
func (d document) value(name, key, def string) string {
	s, _ := d.section(name)
	for _, l := range s.lines {
		if e, ok := entryOf(l); ok && e.key == key {
			return e.value
		}
	}
	return def
}

// check finds sections that are unknown or stand twice.
func (d document) check() error {
	seen := map[string]bool{}
	for _, s := range d.sections {
		if !known(s.name) {
			return d.wrong(s.line, "unknown section %q; want one of: %s", s.name, strings.Join(sectionNames, ", "))
		}
		first, _, _ := strings.Cut(s.name, " ")
		if first == "event" {
			if seen[first] {
				return d.wrong(s.line, "a second event: a case has one")
			}
			seen[first] = true
		}
		if seen[s.name] {
			return d.wrong(s.line, "section %q stands twice", s.name)
		}
		seen[s.name] = true
	}
	if !seen["event"] {
		return d.wrong(1, "no section \"event NAME\": what happens?")
	}
	return nil
}

var sectionNames = []string{
	"config", "state", "operation", "attempt", "record", "node a", "node b", "evidence", "event NAME",
	"decision", "reason", "next", "kills",
}

func known(name string) bool {
	return strings.HasPrefix(name, "event ") || name != "event NAME" && slices.Contains(sectionNames, name)
}

// entries are the lines of a section, each a key and a value.
func (d document) entries(s section) ([]entry, error) {
	var found []entry
	for _, l := range s.lines {
		if l.text == "" {
			continue
		}
		e, ok := entryOf(l)
		if !ok {
			return nil, d.wrong(l.number, "%q is no line \"key: value\"", l.text)
		}
		found = append(found, e)
	}
	return found, nil
}

func entryOf(l line) (entry, bool) {
	key, value, ok := strings.Cut(l.text, ":")
	key = strings.Join(strings.Fields(key), " ")
	return entry{key: key, value: strings.TrimSpace(value), line: l.number}, ok && key != ""
}

// texts are the lines of a section that are not empty.
func (s section) texts() []string {
	var texts []string
	for _, l := range s.lines {
		if l.text != "" {
			texts = append(texts, l.text)
		}
	}
	return texts
}
