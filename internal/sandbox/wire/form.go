package wire

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxFormDepth bounds the names of a form, such as A.member.1.B: no input of
// the query protocols is deeper.
const maxFormDepth = 64

// form is the tree behind the dotted names of a form.
type form struct {
	value    *string
	children map[string]*form
}

func parseForm(q url.Values) (*form, error) {
	root := &form{}
	for name, values := range q {
		parts := strings.Split(name, ".")
		if len(parts) > maxFormDepth {
			return nil, fmt.Errorf("%.40s...: nested too deep", name)
		}
		n := root
		for _, p := range parts {
			if n.children == nil {
				n.children = map[string]*form{}
			}
			c := n.children[p]
			if c == nil {
				c = &form{}
				n.children[p] = c
			}
			n = c
		}
		if len(values) > 0 {
			n.value = &values[0]
		}
	}
	return root, nil
}

// elements returns the children of f with numbers for names, in their order.
func (f *form) elements() []*form {
	type numbered struct {
		n int
		f *form
	}
	var all []numbered
	for k, c := range f.children {
		if n, err := strconv.Atoi(k); err == nil && n >= 0 {
			all = append(all, numbered{n, c})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return a.n - b.n })
	out := make([]*form, len(all))
	for i, e := range all {
		out[i] = e.f
	}
	return out
}

// formNames says which field of a structure a name in a form means.
type formNames func(t reflect.Type, name string) (field string)

// queryNames are the names of awsQuery: those of the model.
func queryNames(_ reflect.Type, name string) string { return goName(name) }

// setForm fills v from f.
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#query-key-resolution
func setForm(v reflect.Value, f *form, names formNames) error {
	switch {
	case v.Kind() == reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		if err := setForm(n.Elem(), f, names); err != nil {
			return err
		}
		v.Set(n)
		return nil
	case v.Kind() == reflect.Struct && v.Type() != timeType:
		return setFormStruct(v, f, names)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		return setFormList(v, f, names)
	case v.Kind() == reflect.Map:
		return setFormMap(v, f, names)
	case f.value == nil:
		return fmt.Errorf("expected %s, got a structure", goKind(v.Type()))
	default:
		return set(v, text(*f.value))
	}
}

func setFormStruct(v reflect.Value, f *form, names formNames) error {
	fields := fieldsOf(v.Type())
	for name, c := range f.children {
		i, ok := fields[names(v.Type(), name)]
		if !ok {
			continue
		}
		if err := setForm(v.Field(i), c, names); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// setFormList reads A.member.1 and the flattened A.1; an empty list is A= .
func setFormList(v reflect.Value, f *form, names formNames) error {
	if m := f.children["member"]; m != nil {
		f = m
	}
	elements := f.elements()
	s := reflect.MakeSlice(v.Type(), len(elements), len(elements))
	for i, e := range elements {
		if err := setForm(s.Index(i), e, names); err != nil {
			return fmt.Errorf("[%d]: %w", i+1, err)
		}
	}
	v.Set(s)
	return nil
}

// setFormMap reads A.entry.1.key and A.entry.1.value, also where the model
// flattens the map or calls them Name and Value.
func setFormMap(v reflect.Value, f *form, names formNames) error {
	if e := f.children["entry"]; e != nil {
		f = e
	}
	m := reflect.MakeMap(v.Type())
	for _, e := range f.elements() {
		key, value := e.first("key", "Name"), e.first("value", "Value")
		if key == nil || key.value == nil {
			return fmt.Errorf("an entry has no key")
		}
		n := reflect.New(v.Type().Elem()).Elem()
		if value != nil {
			if err := setForm(n, value, names); err != nil {
				return fmt.Errorf("%s: %w", *key.value, err)
			}
		}
		m.SetMapIndex(reflect.ValueOf(*key.value).Convert(v.Type().Key()), n)
	}
	v.Set(m)
	return nil
}

func (f *form) first(names ...string) *form {
	for _, n := range names {
		if c := f.children[n]; c != nil {
			return c
		}
	}
	return nil
}
