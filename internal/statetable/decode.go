package statetable

import (
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// AttributeError is an attribute that somebody typed wrong by hand.
type AttributeError struct {
	Item      string // pk/sk
	Attribute string // path, such as operation.config.nodes[0].zone
	Found     string
	Want      string
}

func (e *AttributeError) Error() string {
	return fmt.Sprintf("item %s: attribute %q is %s, but must be %s: correct it in the table, for example in the DynamoDB console",
		e.Item, e.Attribute, e.Found, e.Want)
}

// decode fills the struct that out points to. Attributes that are missing
// leave their fields alone; those that no field knows are ignored.
func decode(it item, out any) error {
	d := decoder{item: text(it["pk"]) + "/" + text(it["sk"])}
	return d.structure("", it, reflect.ValueOf(out).Elem())
}

type decoder struct{ item string }

func (d decoder) structure(path string, m item, out reflect.Value) error {
	for i := range out.NumField() {
		f := out.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		av, ok := m[attributeName(f)]
		if !ok {
			continue
		}
		if err := d.value(join(path, attributeName(f)), av, out.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d decoder) value(path string, av types.AttributeValue, out reflect.Value) error {
	if _, null := av.(*types.AttributeValueMemberNULL); null {
		return nil
	}
	wrong := func(want string) error {
		return &AttributeError{Item: d.item, Attribute: path, Found: describe(av), Want: want}
	}
	switch out.Type() {
	case timeType:
		t, ok := parseTime(av)
		if !ok {
			return wrong("a string (S) with a time in the form 2006-01-02T15:04:05Z")
		}
		out.Set(reflect.ValueOf(t))
		return nil
	case durationType:
		dur, ok := parseSeconds(av)
		if !ok {
			return wrong("a number (N) of seconds")
		}
		out.SetInt(int64(dur))
		return nil
	}
	switch out.Kind() {
	case reflect.String:
		s, ok := av.(*types.AttributeValueMemberS)
		if !ok {
			return wrong("a string (S)")
		}
		out.SetString(s.Value)
	case reflect.Bool:
		b, ok := av.(*types.AttributeValueMemberBOOL)
		if !ok {
			return wrong("true or false of the type boolean (BOOL)")
		}
		out.SetBool(b.Value)
	case reflect.Int, reflect.Int64:
		n, ok := whole(av)
		if !ok || !n.IsInt64() {
			return wrong("a whole number (N)")
		}
		out.SetInt(n.Int64())
	case reflect.Uint64:
		n, ok := whole(av)
		if !ok || !n.IsUint64() {
			return wrong("a whole number (N), not negative")
		}
		out.SetUint(n.Uint64())
	case reflect.Pointer:
		fresh := reflect.New(out.Type().Elem())
		if err := d.value(path, av, fresh.Elem()); err != nil {
			return err
		}
		out.Set(fresh)
	case reflect.Struct:
		m, ok := av.(*types.AttributeValueMemberM)
		if !ok {
			return wrong("a map (M)")
		}
		return d.structure(path, m.Value, out)
	case reflect.Slice:
		l, ok := av.(*types.AttributeValueMemberL)
		if !ok {
			return wrong("a list (L)")
		}
		fresh := reflect.MakeSlice(out.Type(), len(l.Value), len(l.Value))
		for i, e := range l.Value {
			if err := d.value(fmt.Sprintf("%s[%d]", path, i), e, fresh.Index(i)); err != nil {
				return err
			}
		}
		out.Set(fresh)
	case reflect.Map:
		m, ok := av.(*types.AttributeValueMemberM)
		if !ok {
			return wrong("a map (M)")
		}
		fresh := reflect.MakeMapWithSize(out.Type(), len(m.Value))
		for k, e := range m.Value {
			v := reflect.New(out.Type().Elem()).Elem()
			if err := d.value(join(path, k), e, v); err != nil {
				return err
			}
			fresh.SetMapIndex(reflect.ValueOf(k).Convert(out.Type().Key()), v)
		}
		out.Set(fresh)
	default:
		return fmt.Errorf("item %s: attribute %q: type %s has no form on the record", d.item, path, out.Type())
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func text(av types.AttributeValue) string {
	if s, ok := av.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func whole(av types.AttributeValue) (*big.Int, bool) {
	n, ok := av.(*types.AttributeValueMemberN)
	if !ok {
		return nil, false
	}
	return parseWhole(n.Value)
}

func parseTime(av types.AttributeValue) (time.Time, bool) {
	s, ok := av.(*types.AttributeValueMemberS)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s.Value)
	return t.UTC(), err == nil
}

func parseSeconds(av types.AttributeValue) (time.Duration, bool) {
	n, ok := av.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	r, ok := parseNumber(n.Value)
	if !ok {
		return 0, false
	}
	ns := new(big.Int).Quo(new(big.Int).Mul(r.Num(), big.NewInt(int64(time.Second))), r.Denom())
	return time.Duration(ns.Int64()), ns.IsInt64()
}

// describe names what a person finds in the console.
func describe(av types.AttributeValue) string {
	switch v := av.(type) {
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("the string (S) %q", v.Value)
	case *types.AttributeValueMemberN:
		return "the number (N) " + v.Value
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprintf("the boolean (BOOL) %t", v.Value)
	case *types.AttributeValueMemberM:
		return "a map (M)"
	case *types.AttributeValueMemberL:
		return "a list (L)"
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return "a set"
	default:
		return "binary (B)"
	}
}
