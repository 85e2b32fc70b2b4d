package wire

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// sayZeros adds to n, which tells v, the numbers and truth values that are zero
// and that the SDK's types cannot leave out: it does not write them, as a
// request need not, but AWS's answers have them. Clients in other languages tell
// {"FailedEntryCount": 0} from {}:
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html
func sayZeros(n *node, v reflect.Value) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case n.kind == structNode && v.Kind() == reflect.Struct && n.schema != nil && n.schema.Type() == smithy.ShapeTypeStructure:
		sayZerosOf(n, v)
	case n.kind == listNode && v.Kind() == reflect.Slice && len(n.items) == v.Len():
		for i, item := range n.items {
			sayZeros(item, v.Index(i))
		}
	case n.kind == mapNode && v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		for _, f := range n.fields {
			if value := v.MapIndex(reflect.ValueOf(f.name).Convert(v.Type().Key())); value.IsValid() {
				sayZeros(f.node, value)
			}
		}
	}
}

func sayZerosOf(n *node, v reflect.Value) {
	for _, m := range membersOf(v.Type(), n.schema) {
		value := v.Field(m.index)
		there := n.member(m.name)
		switch {
		case there != nil && m.zero == nil:
			sayZeros(there, value)
		case there == nil && m.zero != nil:
			n.fields = append(n.fields, field{m.name, &node{kind: scalarNode, schema: m.schema, scalar: m.zero}})
		}
	}
}

// zeroMember is a member that is written even if it is zero, or without a zero
// one that may hold such members.
type zeroMember struct {
	name   string
	schema *smithy.Schema
	index  int // of the field in the Go type
	zero   any
}

type shape struct {
	t reflect.Type
	s *smithy.Schema
}

var shapes sync.Map // of shape to []zeroMember

func membersOf(t reflect.Type, s *smithy.Schema) []zeroMember {
	if known, ok := shapes.Load(shape{t, s}); ok {
		return known.([]zeroMember)
	}
	var found []zeroMember
	for _, name := range slices.Sorted(maps.Keys(s.Members())) {
		f, ok := t.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		m := zeroMember{name: name, schema: s.Member(name)}
		if !ok || len(f.Index) != 1 || !inBody(m.schema) {
			continue
		}
		m.index, m.zero = f.Index[0], zeroOf(f.Type)
		if m.zero != nil || holds(f.Type) {
			found = append(found, m)
		}
	}
	shapes.Store(shape{t, s}, found)
	return found
}

// holds reports whether values of a type may hold structures.
func holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return t.Elem().Kind() == reflect.Struct || holds(t.Elem())
	}
	return t.Kind() == reflect.Struct
}

func zeroOf(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Bool:
		return false
	case reflect.Int32, reflect.Int64:
		return int64(0)
	case reflect.Float32, reflect.Float64:
		return float64(0)
	}
	return nil
}

// inBody reports whether REST protocols write a member into the body.
func inBody(member *smithy.Schema) bool {
	_, status := smithy.SchemaTrait[*traits.HTTPResponseCode](member)
	_, header := smithy.SchemaTrait[*traits.HTTPHeader](member)
	return !status && !header
}
