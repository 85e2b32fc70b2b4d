package wire

import (
	"reflect"
	"time"
)

// fieldNamer returns the name on the wire of a field of an SDK type.
type fieldNamer func(t reflect.Type, field string) string

// nodeOf returns a value of an SDK without schemas as a tree; nil if it is not
// set.
func nodeOf(v reflect.Value, name fieldNamer) *node {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return nodeOf(v.Elem(), name)
	case reflect.Struct:
		if v.Type() == timeType {
			return &node{kind: scalarNode, scalar: v.Interface().(time.Time)}
		}
		return structOf(v, name)
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return &node{kind: scalarNode, scalar: v.Bytes()}
		}
		n := &node{kind: listNode, item: "item"}
		for i := range v.Len() {
			if e := nodeOf(v.Index(i), name); e != nil {
				n.items = append(n.items, e)
			}
		}
		return n
	case reflect.String:
		return &node{kind: scalarNode, scalar: v.String()}
	case reflect.Bool:
		return &node{kind: scalarNode, scalar: v.Bool()}
	case reflect.Int32, reflect.Int64:
		return &node{kind: scalarNode, scalar: v.Int()}
	case reflect.Float32, reflect.Float64:
		return &node{kind: scalarNode, scalar: v.Float()}
	default:
		return nil
	}
}

func structOf(v reflect.Value, name fieldNamer) *node {
	t := v.Type()
	n := &node{kind: structNode}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		// An enumeration without a value is absent; everything else that can
		// be absent is a pointer or a list.
		if f.Type.Kind() == reflect.String && v.Field(i).Len() == 0 {
			continue
		}
		if e := nodeOf(v.Field(i), name); e != nil {
			n.fields = append(n.fields, field{name(t, f.Name), e})
		}
	}
	return n
}
