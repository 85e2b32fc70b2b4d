package iam

import (
	"fmt"
	"reflect"
	"strings"
)

// fields returns the values at path in the input of an operation, such as
// "TransactItems.Put.TableName": lists contribute all their elements, and a map
// its keys where the path ends, or else what has the key that comes next. What
// is not set contributes nothing.
func fields(input any, path string) []string {
	var out []string
	walk(reflect.ValueOf(input), strings.Split(path, "."), func(v reflect.Value) {
		if s := fmt.Sprint(v.Interface()); s != "" {
			out = append(out, s)
		}
	})
	return out
}

// field is the first of fields, or "".
func field(input any, path string) string {
	if all := fields(input, path); len(all) > 0 {
		return all[0]
	}
	return ""
}

func walk(v reflect.Value, path []string, found func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Invalid:
	case reflect.Pointer, reflect.Interface:
		walk(v.Elem(), path, found)
	case reflect.Slice:
		for n := range v.Len() {
			walk(v.Index(n), path, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			switch {
			case len(path) == 0:
				found(key)
			case path[0] == key.String():
				walk(v.MapIndex(key), path[1:], found)
			}
		}
	case reflect.Struct:
		if len(path) > 0 {
			walk(v.FieldByName(path[0]), path[1:], found)
		}
	default:
		if len(path) == 0 {
			found(v)
		}
	}
}

// pairs returns the tags at path: a list of structs with Key and Value
// or a map of texts.
func pairs(input any, path string) map[string]string {
	out := map[string]string{}
	v := reflect.Indirect(reflect.ValueOf(input))
	if v.Kind() != reflect.Struct {
		return out
	}
	list := v.FieldByName(path)
	switch list.Kind() {
	case reflect.Map:
		for _, key := range list.MapKeys() {
			out[key.String()] = fmt.Sprint(list.MapIndex(key).Interface())
		}
	case reflect.Slice:
		for n := range list.Len() {
			tag := list.Index(n).Interface()
			if key := field(tag, "Key"); key != "" {
				out[key] = field(tag, "Value")
			}
		}
	default: // the operation takes no tags
	}
	return out
}
