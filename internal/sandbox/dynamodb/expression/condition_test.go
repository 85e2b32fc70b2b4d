package expression

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

func s(v string) types.AttributeValue                  { return value.S(v) }
func n(v string) types.AttributeValue                  { return value.N(v) }
func l(v ...types.AttributeValue) types.AttributeValue { return value.L(v...) }
func m(v value.Item) types.AttributeValue              { return &types.AttributeValueMemberM{Value: v} }
func ss(v ...string) types.AttributeValue              { return &types.AttributeValueMemberSS{Value: v} }
func ns(v ...string) types.AttributeValue              { return &types.AttributeValueMemberNS{Value: v} }
func b(v string) types.AttributeValue                  { return &types.AttributeValueMemberB{Value: []byte(v)} }
func yes() types.AttributeValue                        { return &types.AttributeValueMemberBOOL{Value: true} }
func null() types.AttributeValue                       { return &types.AttributeValueMemberNULL{Value: true} }

// names and values are bound in all tests; each test binds what it mentions.
var (
	names  = map[string]string{"#a": "a", "#status": "status", "#dot": "d.o.t", "#m": "m"}
	values = value.Item{
		":one": n("1"), ":two": n("2"), ":five": n("5"), ":ten": n("10"), ":nine": n("9"),
		":x": s("x"), ":y": s("y"), ":node": s("node"), ":empty": s(""), ":S": s("S"), ":Q": s("Q"), ":N": s("N"),
		":list": l(s("q"), n("7")), ":map": m(value.Item{"k": n("1")}), ":ss": ss("x", "y"), ":z": ss("z"), ":ns": ns("1", "2"),
		":yes": yes(), ":null": null(), ":bin": b("no"),
	}
)

func bindFor(t testing.TB, source string) *Bindings {
	t.Helper()
	some := map[string]string{}
	for k, v := range names {
		if mentions(source, k) {
			some[k] = v
		}
	}
	vals := value.Item{}
	for k, v := range values {
		if mentions(source, k) {
			vals[k] = v
		}
	}
	if len(some) == 0 {
		some = nil
	}
	if len(vals) == 0 {
		vals = nil
	}
	bound, err := Bind(some, vals, true)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

func mentions(source, placeholder string) bool {
	for _, tok := range lex(source) {
		if tok.text == placeholder {
			return true
		}
	}
	return false
}

var item = value.Item{
	"pk": s("p"), "a": n("5"), "b": n("10"), "name1": s("node-a"), "status": s("up"), "d.o.t": s("dotted"), "zero": s(""),
	"letters": ss("x", "y"), "nums": ns("1", "2"), "l": l(s("q"), n("7"), m(value.Item{"deep": yes()})), "m": m(value.Item{"x": n("1"), "status": s("in")}),
	"bin": b("node"), "flag": yes(), "nil": null(),
}

func TestConditions(t *testing.T) {
	for source, want := range map[string]bool{
		// comparisons
		"a = :five": true, "a = :x": false, ":five = a": true, "a <> :five": false, "a <> :x": true,
		"a < :ten": true, "a < :five": false, "a <= :five": true, "a > :five": false, "a >= :five": true,
		"b > :nine":  true, // as numbers, not as strings
		"name1 > :x": false, "name1 < :x": true, "a < b": true, "a = b": false,
		"a < :x": false, "a > :x": false, // no order between types
		"gone = :x": false, "gone <> :x": true, "gone < :x": false, "gone = gone2": false,
		"letters = :ss": true, "l = :list": false, "nums = :ns": true, "flag = :yes": true, "nil = :null": true, "bin > :bin": true, "bin < :bin": false,
		// document paths
		"m.x = :one": true, "m.x.y = :one": false, "l[1] > :five": true, "l[9] = :one": false, "l[2].deep = :yes": true, "m[0] = :one": false, "l.x = :one": false,
		"#a = :five": true, "#dot <> :x": true, "#m.#status <> :x": true, "m . x = :one": true,
		// BETWEEN and IN
		"a BETWEEN :one AND :ten": true, "a BETWEEN :nine AND :ten": false, "a between :five and :five": true, "gone BETWEEN :one AND :ten": false,
		"a IN (:one, :five)": true, "a IN (:one)": false, "a IN (b, a2, :five)": true, "gone IN (:one)": false,
		// functions
		"attribute_exists(a)": true, "attribute_exists(m.x)": true, "attribute_exists(m.y)": false, "attribute_exists(nil)": true,
		"attribute_not_exists(gone)": true, "attribute_not_exists(a)": false, "attribute_not_exists(l[3])": true,
		"attribute_type(name1, :S)": true, "attribute_type(a, :S)": false, "attribute_type(gone, :S)": false,
		"begins_with(name1, :node)": true, "begins_with(name1, :x)": false, "begins_with(a, :node)": false, "begins_with(bin, :bin)": true, "begins_with(name1, :empty)": true,
		"contains(name1, :node)": true, "contains(letters, :x)": true, "contains(letters, :node)": false, "contains(nums, :two)": true, "contains(nums, :x)": false,
		"contains(l, :x)": false, "contains(l, :ten)": false, "contains(bin, :bin)": true, "contains(a, :five)": false, "contains(gone, :x)": false,
		"size(name1) > :five": true, "size(l) = :two": false, "size(letters) = :two": true, "size(m) BETWEEN :one AND :two": true, "size(a) = :one": false, "size(gone) < :five": false, ":five < size(name1)": true,
		"size(zero) < :one": true,
		// logic: NOT binds more than AND, AND more than OR
		"NOT a = :one": true, "NOT (a = :five)": false, "NOT NOT a = :five": true,
		"a = :five OR a = :one AND b = :one":        true,
		"(a = :five OR a = :one) AND b = :one":      false,
		"NOT a = :five OR b = :ten":                 true,
		"NOT a = :one AND b = :ten":                 true,
		"a = :one or b = :ten":                      true,
		"attribute_not_exists(gone) OR gone < :one": true,
		"(a) = (:five)":                             true, "(a = :five)": true, "((a = :five) AND (b = :ten))": true, "(size(letters)) = :two": true,
	} {
		bound := bindFor(t, source)
		c, err := bound.Condition("ConditionExpression", source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if err := bound.Unused(); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		if got := c.Match(item); got != want {
			t.Errorf("%s is %t", source, got)
		}
	}
}

func TestAConditionOnAMissingItem(t *testing.T) {
	for source, want := range map[string]bool{"attribute_not_exists(pk)": true, "attribute_exists(pk)": false, "a = :one": false, "a <> :one": true} {
		c, err := bindFor(t, source).Condition("ConditionExpression", source)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Match(nil); got != want {
			t.Errorf("%s is %t", source, got)
		}
	}
}

func TestInvalidConditions(t *testing.T) {
	for source, want := range map[string]string{
		"":                                 "The expression can not be empty;",
		"  ":                               "The expression can not be empty;",
		"a":                                `Syntax error; token: "<EOF>", near: "a"`,
		"a =":                              `Syntax error; token: "<EOF>", near: "="`,
		"a = :one b":                       `Syntax error; token: "b", near: ":one b"`,
		"a == :one":                        `Syntax error; token: "=", near: "== :one"`,
		"a = :one AND":                     `Syntax error; token: "<EOF>", near: "AND"`,
		"a = 5":                            `Syntax error; token: "5", near: "= 5"`,
		"(a = :one":                        `token: "<EOF>"`,
		"a = :one)":                        `token: ")"`,
		"a % :one":                         `token: "%"`,
		"a = :one AND b":                   `token: "<EOF>"`,
		"a IN :one":                        `token: ":one"`,
		"a IN ()":                          `token: ")"`,
		"a BETWEEN :one":                   `token: "<EOF>"`,
		"a.:one = :one":                    `token: ":one"`,
		"l[x] = :one":                      `token: "x"`,
		"l[1 = :one":                       `token: "="`,
		"ä = :one":                         "Syntax error",
		"NOT":                              `token: "<EOF>"`,
		"status = :one":                    "Attribute name is a reserved keyword; reserved keyword: status",
		"m.Status = :one":                  "reserved keyword: Status",
		"#q = :one":                        "An expression attribute name used in the document path is not defined; attribute name: #q",
		"a = :q":                           "An expression attribute value used in expression is not defined; attribute value: :q",
		"a = a":                            "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
		"l[1].b < l[1].b":                  "first operand: [l, [1], b]",
		"foo(a)":                           "Invalid function name; function: foo",
		"Size(a) = :one":                   "Invalid function name; function: Size",
		"size(a)":                          "The function is not allowed to be used this way in an expression; function: size",
		"size(a, b) = :one":                "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
		"size(:one) = :one":                "Incorrect operand type for operator or function; operator or function: size, operand type: N",
		"attribute_exists(:one)":           "Operator or function requires a document path; operator or function: attribute_exists",
		"attribute_exists(a) = :one":       "The function is not allowed to be used this way in an expression; function: attribute_exists",
		"attribute_type(a, :Q)":            "Invalid attribute type name found; type: Q",
		"attribute_type(a, :one)":          "operator or function: attribute_type, operand type: N",
		"attribute_type(a, b)":             "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
		"begins_with(a, :one)":             "operator or function: begins_with, operand type: N",
		"contains(a, a)":                   "operator: contains, first operand: [a]",
		"a < :yes":                         "operator or function: <, operand type: BOOL",
		"a BETWEEN :ten AND :one":          "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:1}",
		"a BETWEEN :one AND :x":            "The BETWEEN operator requires same data type for lower and upper bounds",
		"((a = :one))":                     "The expression has redundant parentheses;",
		"((a)) = :one":                     "The expression has redundant parentheses;",
		"a = " + strings.Repeat("x", 4096): "Expression size has exceeded the maximum allowed size; expression size: 4100",
		"a IN (:one" + strings.Repeat(", :one", 100) + ")": "The IN operator is provided with too many operands; number of operands: 101",
		"a = :one" + strings.Repeat(" OR a = :one", 200):   "too many operators",
		"l[99999999999999999999] = :one":                   "List index is not within the allowable range",
		"m" + strings.Repeat(".x", 32) + " = :one":         "The document path has too many nesting elements; nesting levels: 33",
	} {
		_, err := bindFor(t, source).Condition("ConditionExpression", source)
		if err == nil || !strings.HasPrefix(err.Error(), "ValidationException: Invalid ConditionExpression: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error is\n%v, want\n%s", source, err, want)
		}
	}
}

func TestBindings(t *testing.T) {
	for name, c := range map[string]struct {
		names  map[string]string
		values value.Item
		any    bool
		want   string
	}{
		"nothing":             {nil, nil, false, ""},
		"names for nothing":   {map[string]string{"#a": "a"}, nil, false, "ExpressionAttributeNames can only be specified when using expressions"},
		"values for nothing":  {nil, value.Item{":a": s("x")}, false, "ExpressionAttributeValues can only be specified when using expressions"},
		"no names":            {map[string]string{}, nil, true, "ExpressionAttributeNames must not be empty"},
		"no values":           {nil, value.Item{}, true, "ExpressionAttributeValues must not be empty"},
		"name without #":      {map[string]string{"a": "a"}, nil, true, `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		"name of nothing":     {map[string]string{"#a": ""}, nil, true, "ExpressionAttributeNames contains invalid value"},
		"value without colon": {nil, value.Item{"a": s("x")}, true, `ExpressionAttributeValues contains invalid key: Syntax error; key: "a"`},
		"value of no type":    {nil, value.Item{":a": ss()}, true, "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :a"},
		"unused name":         {map[string]string{"#a": "a", "#b": "b"}, nil, true, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}"},
		"unused value":        {nil, value.Item{":x": s("x")}, true, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"},
	} {
		bound, err := Bind(c.names, c.values, c.any)
		if err == nil {
			err = bound.Unused()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", name, err, c.want)
		}
	}
}
