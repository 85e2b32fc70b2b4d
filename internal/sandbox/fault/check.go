package fault

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Invalid is an error about a fault as it is given.
type Invalid struct {
	Field string // by its name in JSON
	Why   string
}

func (e *Invalid) Error() string { return e.Field + ": " + e.Why }

func invalid(field, format string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(format, args...)}
}

// longest bounds durations, so that sums of them stay far from overflow.
const longest = 366 * 24 * time.Hour

// mostCopies bounds what one event can become.
const mostCopies = 100

// Check tells what is wrong with a fault, by an Invalid error.
func (f Fault) Check() error {
	about, ok := kinds[f.Kind]
	if !ok {
		var names []string
		for _, a := range Kinds() {
			names = append(names, string(a.Kind))
		}
		return invalid("kind", "%q is no kind of fault; there are %s", f.Kind, strings.Join(names, ", "))
	}
	given := f.given()
	for _, field := range about.Needs {
		if !slices.Contains(given, field) {
			return invalid(field, "%s needs it", f.Kind)
		}
	}
	allowed := slices.Concat(about.Needs, about.Takes)
	for _, field := range given {
		if !slices.Contains(allowed, field) {
			return invalid(field, "%s does not take it; it takes %s", f.Kind, strings.Join(allowed, ", "))
		}
	}
	return f.checkValues()
}

// given names the fields that are set.
func (f Fault) given() []string {
	var names []string
	for _, part := range []any{f.Selector, f.Limits, f.Effect} {
		v := reflect.ValueOf(part)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				names = append(names, name)
			}
		}
	}
	return names
}

func (f Fault) checkValues() error {
	switch d := time.Duration(f.Delay); {
	case d < 0 && f.Kind != ClockOffset:
		return invalid("delay", "%s is negative", d)
	case d.Abs() > longest:
		return invalid("delay", "%s is longer than %s", d, longest)
	}
	switch d := time.Duration(f.For); {
	case d < 0:
		return invalid("for", "%s is negative", d)
	case d > longest:
		return invalid("for", "%s is longer than %s", d, longest)
	case d > 0 && !f.Until.IsZero():
		return invalid("for", "give either until or for")
	}
	switch {
	case f.Count < 0:
		return invalid("count", "%d is negative; leave it out for every time", f.Count)
	case !(f.Probability >= 0 && f.Probability <= 1):
		return invalid("probability", "%g is not between 0 and 1", f.Probability)
	case f.Seed != 0 && f.Probability == 0:
		return invalid("seed", "it goes with a probability")
	case f.Copies != 0 && (f.Copies < 2 || f.Copies > mostCopies):
		return invalid("copies", "%d is not between 2 and %d", f.Copies, mostCopies)
	case f.Status != 0 && (f.Status < http.StatusBadRequest || f.Status > 599):
		return invalid("status", "%d is no HTTP status of an error, from 400 to 599", f.Status)
	}
	return f.checkWords()
}

func (f Fault) checkWords() error {
	for _, w := range []struct {
		field, value string
		allowed      []string
	}{
		{"when", string(f.When), []string{"", string(Before), string(After)}},
		{"direction", string(f.Direction), []string{"", string(Both), string(Out), string(In)}},
		{"seen_by", string(f.SeenBy), []string{"", string(Describe), string(Packets)}},
	} {
		if !slices.Contains(w.allowed, w.value) {
			return invalid(w.field, "%q is none of %s", w.value, strings.Join(w.allowed[1:], ", "))
		}
	}
	for _, p := range []struct{ field, value string }{{"place", f.Place}, {"peer", f.Peer}} {
		if p.value == "" || p.field == "peer" && p.value == Endpoints {
			continue
		}
		if _, err := parsePlace(p.value); err != nil {
			return invalid(p.field, "%v", err)
		}
	}
	if f.Peer != "" && f.Peer == f.Place {
		return invalid("peer", "%s cannot be cut off from itself", f.Peer)
	}
	if f.Instance != "" && f.Kind != CommandDelay && !instanceID.MatchString(f.Instance) {
		return invalid("instance", "%q is no identifier of an instance, such as i-0123456789abcdef0", f.Instance)
	}
	return nil
}

// The forms in which AWS writes places.
var (
	instanceID = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)
	zoneName   = regexp.MustCompile(`^([a-z]{2,4}(-[a-z]+)+-\d+)[a-z]$`)
	regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-\d+$`)
)
