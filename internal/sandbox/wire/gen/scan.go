package main

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// function is one function of the SDK that writes or reads a type.
type function struct {
	typ    string            // Go type, "" for lists
	fields map[string]string // Go field -> name on the wire
	calls  []string
}

var (
	head      = regexp.MustCompile(`^func (awsEc2query_(?:de)?serialize\w+)\(v (\S+), `)
	fieldName = regexp.MustCompile(`\bv\.(\w+)\b`)
	key       = regexp.MustCompile(`object\.(?:FlatKey|Key)\("([^"]+)"\)`)
	element   = regexp.MustCompile(`strings\.EqualFold\("([^"]+)", t\.Name\.Local\)`)
	target    = regexp.MustCompile(`\bsv\.(\w+)\b`)
	callee    = regexp.MustCompile(`\bawsEc2query_(?:de)?serializeDocument\w+\b`)
)

// parseSerializers reads functions such as
//
//	func awsEc2query_serializeDocumentFilter(v *types.Filter, value query.Value) error {
//		if v.Values != nil {
//			objectKey := object.FlatKey("Value")
func parseSerializers(s *bufio.Scanner) map[string]*function {
	all := map[string]*function{}
	var f *function
	last := ""
	each(s, all, &f, func(line string) {
		if m := fieldName.FindStringSubmatch(line); m != nil && strings.HasPrefix(strings.TrimSpace(line), "if ") {
			last = m[1]
		}
		if m := key.FindStringSubmatch(line); m != nil && last != "" {
			f.fields[last] = m[1]
			last = ""
		}
	})
	return all
}

// parseDeserializers reads functions such as
//
//	func awsEc2query_deserializeDocumentReservation(v **types.Reservation, decoder smithyxml.NodeDecoder) error {
//		case strings.EqualFold("groupSet", t.Name.Local):
//			... &sv.Groups ...
func parseDeserializers(s *bufio.Scanner) map[string]*function {
	all := map[string]*function{}
	var f *function
	last := ""
	each(s, all, &f, func(line string) {
		if m := element.FindStringSubmatch(line); m != nil {
			last = m[1]
			return
		}
		if m := target.FindStringSubmatch(line); m != nil && last != "" {
			f.fields[m[1]] = last
			last = ""
		}
	})
	return all
}

// each calls body for every line inside a function that writes or reads a type.
func each(s *bufio.Scanner, all map[string]*function, f **function, body func(line string)) {
	for s.Scan() {
		line := s.Text()
		if strings.HasPrefix(line, "func ") {
			*f = nil
			if m := head.FindStringSubmatch(line); m != nil {
				*f = &function{fields: map[string]string{}}
				if t := strings.TrimLeft(m[2], "*"); !strings.HasPrefix(t, "[]") {
					(*f).typ = strings.TrimPrefix(t, "types.")
				}
				all[m[1]] = *f
			}
			continue
		}
		if *f == nil {
			continue
		}
		(*f).calls = append((*f).calls, callee.FindAllString(line, -1)...)
		body(line)
	}
}

// write adds a line for every type that the operations reach and whose names
// differ from the rule.
func write(w *bytes.Buffer, direction string, functions map[string]*function, root string, operations []string) error {
	types := map[string]map[string]string{}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		f := functions[name]
		if f == nil || seen[name] {
			return
		}
		seen[name] = true
		if f.typ != "" {
			types[f.typ] = f.fields
		}
		for _, c := range f.calls {
			visit(c)
		}
	}
	for _, op := range operations {
		name := fmt.Sprintf(root, op)
		if direction == "in" && functions[name] == nil {
			return fmt.Errorf("EC2 has no operation %s", op)
		}
		visit(name)
	}
	for _, t := range sorted(types) {
		var pairs []string
		for _, field := range sorted(types[t]) {
			rule := field
			if direction == "out" {
				rule = strings.ToLower(field[:1]) + field[1:]
			}
			if name := types[t][field]; name != rule {
				pairs = append(pairs, field+"="+name)
			}
		}
		if len(pairs) > 0 {
			fmt.Fprintln(w, direction, t, strings.Join(pairs, " "))
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
