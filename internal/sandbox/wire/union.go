package wire

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

var unions sync.Map // reflect.Type of the interface -> map[string]reflect.Type of the variants' structures

// RegisterUnion tells the decoder the variants of a union, which reflection
// cannot find. The SDK names a variant <Union>Member<Name>; Name is its name on
// the wire. A service registers its unions when it is made:
//
//	wire.RegisterUnion[types.AttributeValue](&types.AttributeValueMemberS{}, ...)
func RegisterUnion[Union any](variants ...Union) {
	m := make(map[string]reflect.Type, len(variants))
	for _, v := range variants {
		t := reflect.TypeOf(v).Elem()
		if _, name, ok := strings.Cut(t.Name(), "Member"); ok {
			m[name] = t
		}
	}
	unions.Store(reflect.TypeFor[Union](), m)
}

// setUnion sets v, an interface, from a structure with one member.
func setUnion(v reflect.Value, x any) error {
	variants, ok := unions.Load(v.Type())
	if !ok {
		return fmt.Errorf("the sandbox does not know the union %s", v.Type().Name())
	}
	m, ok := x.(map[string]any)
	if !ok {
		return wrongKind(v, x)
	}
	for name, e := range m {
		if e == nil {
			continue
		}
		t, ok := variants.(map[string]reflect.Type)[name]
		if !ok {
			return fmt.Errorf("%s has no member %s", v.Type().Name(), name)
		}
		if !v.IsNil() {
			return fmt.Errorf("%s has more than one member", v.Type().Name())
		}
		p := reflect.New(t)
		if err := set(p.Elem().FieldByName("Value"), e); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.Set(p)
	}
	if v.IsNil() {
		return fmt.Errorf("%s has no member", v.Type().Name())
	}
	return nil
}
