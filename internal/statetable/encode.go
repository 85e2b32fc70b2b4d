package statetable

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The types of the core are the schema: an attribute's name is the field's
// name in snake case, with _seconds for a duration. So a field that the core
// gains is on the record without another line of code.

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// encode returns the attributes of a struct. Empty values are left out.
func encode(v any) (item, error) {
	m, err := encodeStruct(reflect.ValueOf(v))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return m, nil
}

func encodeStruct(v reflect.Value) (item, error) {
	m := item{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() {
			continue
		}
		av, err := encodeValue(v.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		m[attributeName(f)] = av
	}
	return m, nil
}

func encodeValue(v reflect.Value) (types.AttributeValue, error) {
	switch v.Type() {
	case timeType:
		at, ok := v.Interface().(time.Time)
		if !ok {
			return nil, fmt.Errorf("encode %s: not a time", v.Type())
		}
		return str(at.UTC().Format(time.RFC3339Nano)), nil
	case durationType:
		return &types.AttributeValueMemberN{Value: seconds(time.Duration(v.Int()))}, nil
	}
	switch v.Kind() {
	case reflect.String:
		return str(v.String()), nil
	case reflect.Bool:
		return boolean(v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return number(v.Int()), nil
	case reflect.Uint64:
		return number(v.Uint()), nil
	case reflect.Pointer:
		return encodeValue(v.Elem())
	case reflect.Struct:
		m, err := encodeStruct(v)
		return &types.AttributeValueMemberM{Value: m}, err
	case reflect.Slice:
		l := make([]types.AttributeValue, v.Len())
		for i := range l {
			av, err := encodeValue(v.Index(i))
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			l[i] = av
		}
		return &types.AttributeValueMemberL{Value: l}, nil
	case reflect.Map:
		m := item{}
		for _, k := range v.MapKeys() {
			av, err := encodeValue(v.MapIndex(k))
			if err != nil {
				return nil, fmt.Errorf("[%s]: %w", k, err)
			}
			m[k.String()] = av
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	}
	return nil, fmt.Errorf("type %s has no form on the record", v.Type())
}

// seconds writes a duration exactly, as a decimal number of seconds.
func seconds(d time.Duration) string {
	s := new(big.Rat).SetFrac64(int64(d), int64(time.Second)).FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func attributeName(f reflect.StructField) string {
	name := snake(f.Name)
	if f.Type == durationType {
		name += "_seconds"
	}
	return name
}

// snake turns CommandID into command_id.
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// parseWhole reads a DynamoDB number that must be whole.
func parseWhole(s string) (*big.Int, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return big.NewInt(i), true
	}
	r, ok := parseNumber(s)
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

// parseNumber reads a DynamoDB number, which has at most 38 digits and an
// exponent of at most 125
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html).
func parseNumber(s string) (*big.Rat, bool) {
	if len(s) > 200 || strings.ContainsAny(s, "/_xXpP") {
		return nil, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e > 200 || e < -200 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}
