package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

var timeType = reflect.TypeFor[time.Time]()

// text is a value that arrives as text whatever its type is, as in forms,
// paths and headers, so that it is converted.
type text string

// set fills v, a field of an SDK input, from x: a tree of map[string]any,
// []any, string, text, bool, []byte, time.Time, json.Number, int64 and float64.
// Members that the SDK does not know are ignored, as AWS ignores them.
func set(v reflect.Value, x any) error {
	if x == nil {
		return nil
	}
	if v.Type() == timeType {
		return setTime(v, x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		if err := set(n.Elem(), x); err != nil {
			return err
		}
		v.Set(n)
		return nil
	case reflect.String:
		return setString(v, x)
	case reflect.Bool:
		return setBool(v, x)
	case reflect.Int32, reflect.Int64:
		return setInt(v, x)
	case reflect.Float32, reflect.Float64:
		return setFloat(v, x)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return setBlob(v, x)
		}
		return setList(v, x)
	case reflect.Map:
		return setMap(v, x)
	case reflect.Struct:
		return setStruct(v, x)
	case reflect.Interface:
		return setUnion(v, x)
	default:
		return wrongKind(v, x)
	}
}

func setString(v reflect.Value, x any) error {
	switch t := x.(type) {
	case string:
		v.SetString(t)
	case text:
		v.SetString(string(t))
	default:
		return wrongKind(v, x)
	}
	return nil
}

func setBool(v reflect.Value, x any) error {
	switch t := x.(type) {
	case bool:
		v.SetBool(t)
		return nil
	case text:
		switch strings.ToLower(string(t)) {
		case "true":
			v.SetBool(true)
			return nil
		case "false":
			v.SetBool(false)
			return nil
		}
	}
	return wrongKind(v, x)
}

func setInt(v reflect.Value, x any) error {
	n, err := integer(x)
	if err != nil {
		return err
	}
	if v.OverflowInt(n) {
		return fmt.Errorf("%d is out of range", n)
	}
	v.SetInt(n)
	return nil
}

func integer(x any) (int64, error) {
	var s string
	switch t := x.(type) {
	case int64:
		return t, nil
	case float64:
		return whole(t)
	case json.Number:
		s = t.String()
	case text:
		s = string(t)
	default:
		return 0, fmt.Errorf("expected an integer, got %s", kindOf(x))
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an integer", s)
	}
	return whole(f)
}

func whole(f float64) (int64, error) {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, fmt.Errorf("%v is not an integer", f)
	}
	return int64(f), nil
}

func setFloat(v reflect.Value, x any) error {
	var err error
	var f float64
	switch t := x.(type) {
	case float64:
		f = t
	case int64:
		f = float64(t)
	case json.Number:
		f, err = t.Float64()
	case text:
		f, err = strconv.ParseFloat(string(t), 64)
	case string:
		switch t {
		case "NaN", "Infinity", "-Infinity":
			f, err = strconv.ParseFloat(t, 64)
		default:
			return wrongKind(v, x)
		}
	default:
		return wrongKind(v, x)
	}
	if err != nil {
		return fmt.Errorf("%q is not a number", fmt.Sprint(x))
	}
	v.SetFloat(f)
	return nil
}

func setTime(v reflect.Value, x any) (err error) {
	var at time.Time
	switch t := x.(type) {
	case time.Time:
		at = t.UTC()
	case string:
		at, err = parseTime(t)
	case text:
		at, err = parseTime(string(t))
	case json.Number:
		at, err = parseTime(t.String())
	case int64:
		at, err = epoch(float64(t))
	case float64:
		at, err = epoch(t)
	default:
		return wrongKind(v, x)
	}
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(at))
	return nil
}

func setBlob(v reflect.Value, x any) error {
	var s string
	switch t := x.(type) {
	case []byte:
		v.SetBytes(t)
		return nil
	case string:
		s = t
	case text:
		s = string(t)
	default:
		return wrongKind(v, x)
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return errors.New("invalid base64")
	}
	v.SetBytes(b)
	return nil
}

func setList(v reflect.Value, x any) error {
	l, ok := x.([]any)
	if !ok {
		return wrongKind(v, x)
	}
	s := reflect.MakeSlice(v.Type(), len(l), len(l))
	for i, e := range l {
		if err := setElement(s.Index(i), e); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	v.Set(s)
	return nil
}

func setMap(v reflect.Value, x any) error {
	in, ok := x.(map[string]any)
	if !ok {
		return wrongKind(v, x)
	}
	m := reflect.MakeMapWithSize(v.Type(), len(in))
	for k, e := range in {
		n := reflect.New(v.Type().Elem()).Elem()
		if err := setElement(n, e); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		m.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), n)
	}
	v.Set(m)
	return nil
}

// setElement sets an element of a list or a map: a union there is never null.
func setElement(v reflect.Value, x any) error {
	if x == nil && v.Kind() == reflect.Interface {
		return fmt.Errorf("%s is null", v.Type().Name())
	}
	return set(v, x)
}

func setStruct(v reflect.Value, x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return wrongKind(v, x)
	}
	names := fieldsOf(v.Type())
	for k, e := range m {
		i, ok := names[goName(k)]
		if !ok {
			continue
		}
		if err := set(v.Field(i), e); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

var structFields sync.Map // reflect.Type -> map[string]int

// fieldsOf returns the exported fields of a structure with their indexes.
func fieldsOf(t reflect.Type) map[string]int {
	if m, ok := structFields.Load(t); ok {
		return m.(map[string]int)
	}
	m := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() && f.Name != "ResultMetadata" {
			m[f.Name] = i
		}
	}
	structFields.Store(t, m)
	return m
}

// goName returns the name of the Go field for a member: the SDK capitalizes it.
func goName(member string) string {
	if member == "" || member[0] < 'a' || member[0] > 'z' {
		return member
	}
	return string(member[0]-'a'+'A') + member[1:]
}

func wrongKind(v reflect.Value, x any) error {
	return fmt.Errorf("expected %s, got %s", goKind(v.Type()), kindOf(x))
}

func goKind(t reflect.Type) string {
	switch {
	case t == timeType:
		return "a timestamp"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "a blob"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a map"
	default:
		return "a structure"
	}
}

func kindOf(x any) string {
	switch t := x.(type) {
	case string:
		return "a string"
	case text:
		return fmt.Sprintf("%q", string(t))
	case bool:
		return "a boolean"
	case json.Number, int64, float64:
		return "a number"
	case []byte:
		return "a blob"
	case time.Time:
		return "a timestamp"
	case []any:
		return "a list"
	default:
		return "a structure"
	}
}
