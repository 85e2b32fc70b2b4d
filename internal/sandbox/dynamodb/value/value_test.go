package value

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

func TestNumbersHaveOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "+7": "7", "007": "7", "1.50": "1.5", "-1.50e1": "-15",
		"1e3": "1000", "12E-3": "0.012", ".5": "0.5", "5.": "5", "1e-130": "0." + strings.Repeat("0", 129) + "1",
		"9.9999999999999999999999999999999999999E+125": strings.Repeat("9", 38) + strings.Repeat("0", 88),
		"12345678901234567890123456789012345678":       "12345678901234567890123456789012345678",
	} {
		n, err := ParseNumber(in)
		if err != nil || n.String() != want {
			t.Errorf("ParseNumber(%q) = %s, %v; want %s", in, n, err, want)
		}
	}
}

func TestNumbersOutsideTheTypeAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		"":              "cannot be converted to a numeric value",
		"abc":           "cannot be converted to a numeric value: abc",
		"1e":            "cannot be converted",
		"--1":           "cannot be converted",
		".":             "cannot be converted",
		"1 ":            "cannot be converted",
		"1e99999999999": "cannot be converted",
		"1e126":         "Number overflow",
		"-1e126":        "Number overflow",
		"1e-131":        "Number underflow",
		"123456789012345678901234567890123456789": "more than 38 significant digits",
	} {
		if _, err := ParseNumber(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNumber(%q): error %v, want %q", in, err, want)
		}
	}
}

func TestArithmeticIsExact(t *testing.T) {
	for _, c := range []struct{ a, op, b, want string }{
		{"0.1", "+", "0.2", "0.3"},
		{"1", "-", "1", "0"},
		{"9007199254740993", "+", "1", "9007199254740994"},
		{"-5", "-", "-7.25", "2.25"},
		{"1e37", "+", "1", "10000000000000000000000000000000000001"},
		{"1e38", "+", "1", "38 significant digits"},
		{"9e125", "+", "1e125", "overflow"},
	} {
		a, b := number(c.a), number(c.b)
		got, err := a.Add(b)
		if c.op == "-" {
			got, err = a.Sub(b)
		}
		if s := got.String(); err != nil && !strings.Contains(err.Error(), c.want) || err == nil && s != c.want {
			t.Errorf("%s %s %s = %s, %v; want %s", c.a, c.op, c.b, s, err, c.want)
		}
	}
}

func numbers() *rapid.Generator[Number] {
	return rapid.Custom(func(t *rapid.T) Number {
		// Short numbers often share their first digits, long ones seldom do.
		digits := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-120, 120)).Draw(t, "digits")
		exponent := rapid.OneOf(rapid.IntRange(-130, 100), rapid.IntRange(-1, 1)).Draw(t, "exponent")
		s := fmt.Sprintf("%de%d", digits, exponent)
		n, err := ParseNumber(s)
		if err != nil {
			t.Skip(err)
		}
		return n
	})
}

func TestEncodedKeysSortAsTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b types.AttributeValue
		switch rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "type") {
		case "S":
			a, b = S(rapid.String().Draw(t, "a")), S(rapid.String().Draw(t, "b"))
		case "B":
			short := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff}), 0, 4)
			a, b = &types.AttributeValueMemberB{Value: short.Draw(t, "a")}, &types.AttributeValueMemberB{Value: short.Draw(t, "b")}
		default:
			a, b = N(numbers().Draw(t, "a").String()), N(numbers().Draw(t, "b").String())
		}
		want, _ := Compare(a, b)
		if got := bytes.Compare(Encode(nil, a), Encode(nil, b)); cmp.Compare(got, 0) != cmp.Compare(want, 0) {
			t.Fatalf("order of the keys is %d, of the values %d", got, want)
		}
	})
}

func TestCanonicalFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := numbers().Draw(t, "n")
		again, err := ParseNumber(n.String())
		if err != nil || again != n {
			t.Fatalf("%s reads back as %v, %v", n, again, err)
		}
	})
}

func nested(levels int) types.AttributeValue {
	v := S("x")
	for i := range levels {
		if i%2 == 0 {
			v = L(v)
		} else {
			v = &types.AttributeValueMemberM{Value: Item{"m": v}}
		}
	}
	return v
}

func TestNormalize(t *testing.T) {
	for name, c := range map[string]struct {
		in   types.AttributeValue
		want string // of the error; "" = valid
	}{
		"empty string":            {S(""), ""},
		"empty binary":            {&types.AttributeValueMemberB{}, ""},
		"null":                    {&types.AttributeValueMemberNULL{Value: true}, ""},
		"null that is false":      {&types.AttributeValueMemberNULL{}, "Null attribute value types must have the value of true"},
		"nothing":                 {nil, "Supplied AttributeValue is empty"},
		"unknown member":          {&types.UnknownUnionMember{Tag: "X"}, "Supplied AttributeValue is empty"},
		"empty string set":        {&types.AttributeValueMemberSS{}, "An string set  may not be empty"},
		"empty number set":        {&types.AttributeValueMemberNS{}, "An number set  may not be empty"},
		"empty binary set":        {&types.AttributeValueMemberBS{}, "Binary sets should not be empty"},
		"empty member":            {&types.AttributeValueMemberSS{Value: []string{""}}, "may not have a empty string as a member"},
		"empty binary member":     {&types.AttributeValueMemberBS{Value: [][]byte{{}}}, "may not contain null or empty values"},
		"string twice":            {&types.AttributeValueMemberSS{Value: []string{"a", "b", "a"}}, "Input collection [a, b, a] contains duplicates."},
		"number in two spellings": {&types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}, "Input collection contains duplicates"},
		"bad number in a set":     {&types.AttributeValueMemberNS{Value: []string{"x"}}, "numeric value: x"},
		"bad number in a list":    {L(N("x")), "numeric value: x"},
		"32 levels":               {nested(32), ""},
		"33 levels":               {nested(33), "Nesting Levels have exceeded supported limits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Normalize(c.in)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestEqualLooksAtContentOnly(t *testing.T) {
	set := func(s ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} }
	for name, c := range map[string]struct {
		a, b types.AttributeValue
		want bool
	}{
		"sets in another order":   {set("a", "b"), set("b", "a"), true},
		"subset":                  {set("a", "b"), set("a"), false},
		"superset":                {set("a"), set("a", "b"), false},
		"lists in another order":  {L(S("a"), S("b")), L(S("b"), S("a")), false},
		"same lists":              {L(S("a"), N("1")), L(S("a"), N("1")), true},
		"string and number":       {S("1"), N("1"), false},
		"missing":                 {nil, nil, false},
		"booleans":                {&types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberBOOL{}, false},
		"maps":                    {&types.AttributeValueMemberM{Value: Item{"a": S("x")}}, &types.AttributeValueMemberM{Value: Item{"a": S("x")}}, true},
		"maps of different names": {&types.AttributeValueMemberM{Value: Item{"a": S("x")}}, &types.AttributeValueMemberM{Value: Item{"b": S("x")}}, false},
	} {
		if got := Equal(c.a, c.b); got != c.want {
			t.Errorf("%s: Equal is %t", name, got)
		}
	}
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func TestSize(t *testing.T) {
	for name, c := range map[string]struct {
		item Item
		want int
	}{
		"name and string in UTF-8": {Item{"näme": S("ü")}, 5 + 2},
		"number":                   {Item{"n": N("12345")}, 1 + 3 + 1},
		"negative number":          {Item{"n": N("-12")}, 1 + 1 + 1 + 1},
		"boolean and null":         {Item{"b": &types.AttributeValueMemberBOOL{}, "n": &types.AttributeValueMemberNULL{Value: true}}, 2 + 2},
		"list":                     {Item{"l": L(S("ab"), S("c"))}, 1 + 3 + 2 + 3},
		"map":                      {Item{"m": &types.AttributeValueMemberM{Value: Item{"k": S("v")}}}, 1 + 3 + 1 + 2},
		"set":                      {Item{"s": &types.AttributeValueMemberSS{Value: []string{"ab", "c"}}}, 1 + 3},
	} {
		if got := Size(c.item); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
