package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// input says what a target receives of an event: one of its fields is set, or
// none for the event itself.
type input struct {
	constant    []byte
	path        path
	transformer *transformer
}

// of returns what the target receives.
func (i input) of(event []byte, r origin) []byte {
	switch {
	case i.constant != nil:
		return i.constant
	case i.path != nil:
		if v := i.path.find(event); v != nil {
			return v
		}
		return []byte("null")
	case i.transformer != nil:
		return i.transformer.apply(event, r)
	}
	return event
}

// path leads to a part of an event: names of members and indexes of elements.
// An empty path, which is not nil, is the whole event.
type path []string

var step = regexp.MustCompile(`^(?:\.([A-Za-z0-9_-]+)|\['([^']+)'\]|\[([0-9]+)\])`)

// parsePath reads the JSON paths that EventBridge knows: dots, brackets and
// indexes, without filters or wildcards.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
func parsePath(text string) (path, error) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, fmt.Errorf("%q does not begin with $", text)
	}
	p := path{}
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is not understood from %q on", text, rest)
		}
		p = append(p, m[1]+m[2]+m[3])
		rest = rest[len(m[0]):]
	}
	return p, nil
}

// find returns the part of an event as it is written there, nil if there is
// none.
func (p path) find(event json.RawMessage) json.RawMessage {
	for _, name := range p {
		var members map[string]json.RawMessage
		var elements []json.RawMessage
		if json.Unmarshal(event, &members) == nil {
			v, ok := members[name]
			if !ok {
				return nil
			}
			event = v
			continue
		}
		i, err := strconv.Atoi(name)
		if err != nil || json.Unmarshal(event, &elements) != nil || i >= len(elements) {
			return nil
		}
		event = elements[i]
	}
	return event
}

// toJSON writes v with <, > and & as they are: targets may read texts.
func toJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}
