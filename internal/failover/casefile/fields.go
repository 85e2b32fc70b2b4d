package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setter takes the value of a line. arg is the second word of its key, for keys
// such as "fenced a".
type setter func(arg, value string) error

// fields are the keys that a section may have: "key", or "key *" where a second
// word follows.
type fields map[string]setter

// apply sets what a section says. Lines may repeat only where many is set.
func (d document) apply(name string, f fields, many bool) error {
	s, ok := d.section(name)
	if !ok {
		return nil
	}
	entries, err := d.entries(s)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		set, arg, ok := f.find(e.key)
		switch {
		case !ok:
			return d.wrong(e.line, "section %q has no key %q; want one of: %s", name, e.key, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
		case seen[e.key] && !many:
			return d.wrong(e.line, "key %q stands twice", e.key)
		}
		seen[e.key] = true
		if err := set(arg, e.value); err != nil {
			return d.wrong(e.line, "%s: %v", e.key, err)
		}
	}
	return nil
}

func (f fields) find(key string) (set setter, arg string, ok bool) {
	if set, ok = f[key]; ok && !strings.HasSuffix(key, "*") {
		return set, "", true
	}
	first, arg, two := strings.Cut(key, " ")
	if !two || strings.Contains(arg, " ") {
		return nil, "", false
	}
	set, ok = f[first+" *"]
	return set, arg, ok
}

func text[T ~string](to *T) setter {
	return func(_, v string) error { *to = T(v); return nil }
}

// texts takes several, separated by commas.
func texts(to *[]string) setter {
	return func(_, v string) error { *to = strings.Split(v, ", "); return nil }
}

// word takes one of some words; "none" stands for the empty one.
func word[T ~string](to *T, allowed ...T) setter {
	return func(_, v string) error {
		w := T(v)
		if v == "none" {
			w = ""
		}
		if !slices.Contains(allowed, w) {
			return fmt.Errorf("%q; want one of: %s", v, list(allowed))
		}
		*to = w
		return nil
	}
}

func list[T ~string](words []T) string {
	var shown []string
	for _, w := range words {
		if w == "" {
			w = "none"
		}
		shown = append(shown, string(w))
	}
	return strings.Join(shown, ", ")
}

func yes(to *bool) setter {
	return func(_, v string) error {
		if v != "yes" && v != "no" {
			return fmt.Errorf("%q; want yes or no", v)
		}
		*to = v == "yes"
		return nil
	}
}

func number[T int | uint64](to *T) setter {
	return func(_, v string) error {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return fmt.Errorf("%q; want a whole number that is not negative", v)
		}
		*to = T(n)
		return nil
	}
}

func length(to *time.Duration) setter {
	return func(_, v string) (err error) {
		*to, err = parseLength(v)
		return err
	}
}

func parseLength(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("%q; want a length of time such as 90s or 2m", v)
	}
	return d, nil
}

func moment(to *time.Time) setter {
	return func(_, v string) (err error) {
		*to, err = parseMoment(v)
		return err
	}
}

func parseMoment(v string) (time.Time, error) {
	switch v {
	case "now":
		return Now, nil
	case "never":
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || v[0] != '-' && v[0] != '+' {
		return time.Time{}, fmt.Errorf("%q; want a time relative to the event, such as -40s or +2m, or now, or never", v)
	}
	return Now.Add(d), nil
}

// names takes a list such as "rtb-1, rtb-2".
func names(to *[]string) setter {
	return func(_, v string) error {
		*to = nil
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "none" {
				*to = append(*to, name)
			}
		}
		return nil
	}
}

// short prints a length without the zeroes behind it.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// relative prints a time as it is written in a case.
func relative(t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case t.Equal(Now):
		return "now"
	case t.After(Now):
		return "+" + short(t.Sub(Now))
	}
	return short(t.Sub(Now))
}

// Age says how long ago a time of a case is, or how far ahead.
func Age(t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case t.Equal(Now):
		return "now"
	case t.After(Now):
		return "in " + short(t.Sub(Now))
	}
	return short(Now.Sub(t)) + " ago"
}
