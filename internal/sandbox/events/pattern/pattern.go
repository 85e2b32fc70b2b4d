// Package pattern matches events against event patterns of EventBridge.
//
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Pattern is a parsed event pattern. The zero Pattern matches nothing.
type Pattern struct{ root node }

// node is a structure of a pattern: all its fields must match, and of each
// $or at least one alternative.
type node struct {
	fields map[string]node   // structures
	leaves map[string][]test // a value matches if one of its tests does
	anyOf  []node
}

// Parse reads a pattern. Its errors tell what is wrong, in the caller's terms.
func Parse(text string) (Pattern, error) {
	v, err := decode([]byte(text))
	if err != nil {
		return Pattern{}, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return Pattern{}, errors.New("filter is not an object")
	}
	n, err := parseNode(m, nil)
	return Pattern{n}, err
}

// decode reads one JSON value; numbers keep their digits.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func parseNode(m map[string]any, path []string) (node, error) {
	n := node{fields: map[string]node{}, leaves: map[string][]test{}}
	if len(m) == 0 {
		return n, fmt.Errorf("empty objects are not allowed%s", where(path))
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		at := append(slices.Clone(path), key)
		var err error
		switch v := m[key].(type) {
		case map[string]any:
			n.fields[key], err = parseNode(v, at)
		case []any:
			if alternatives, ok := objects(v); ok && key == "$or" {
				n.anyOf, err = parseAlternatives(alternatives, path)
			} else {
				n.leaves[key], err = parseTests(v, at)
			}
		default:
			err = fmt.Errorf("%q must be an object or an array", key)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// objects returns the alternatives of $or where it is the operator: a list of
// structures. Any other list means a field of this name.
func objects(list []any) (out []map[string]any, ok bool) {
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		out = append(out, m)
	}
	return out, len(out) > 1
}

func parseAlternatives(list []map[string]any, path []string) ([]node, error) {
	var out []node
	for _, m := range list {
		n, err := parseNode(m, path)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func where(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " in " + strings.Join(path, ".")
}

// Match reports whether an event matches. What is no JSON object never does.
func (p Pattern) Match(event []byte) bool {
	v, err := decode(event)
	root, ok := v.(map[string]any)
	return err == nil && ok && p.root.match(root, root)
}

// match looks at a structure of the event, in which the members named by n are
// looked for together; nil if the event has none there.
func (n node) match(structure, root map[string]any) bool {
	if len(n.fields)+len(n.leaves)+len(n.anyOf) == 0 {
		return false
	}
	for key, tests := range n.leaves {
		var values []any
		if v, ok := structure[key]; ok {
			values = scalars(v)
		}
		if !slices.ContainsFunc(tests, func(t test) bool { return t.match(values, root) }) {
			return false
		}
	}
	for key, sub := range n.fields {
		inner := structures(structure[key])
		if !slices.ContainsFunc(inner, func(m map[string]any) bool { return sub.match(m, root) }) {
			return false
		}
	}
	return len(n.anyOf) == 0 || slices.ContainsFunc(n.anyOf, func(sub node) bool { return sub.match(structure, root) })
}

// scalars are the values that a leaf of a pattern sees: the value itself or,
// of an array, each element.
func scalars(v any) (out []any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, scalars(e)...)
		}
		return out
	case map[string]any:
		return nil
	}
	return []any{v}
}

// structures are the structures that a structure of a pattern sees, one of
// which has to match alone; where there is none, a nil one for patterns that
// want fields to be absent.
func structures(v any) (out []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	if out == nil {
		out = []map[string]any{nil}
	}
	return out
}
