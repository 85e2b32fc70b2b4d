package expression

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

var sameItem = cmp.Options{
	cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}),
	cmpopts.EquateEmpty(),
}

// changes is what an update does to item: nil removes an attribute.
type changes = value.Item

func TestUpdates(t *testing.T) {
	for source, want := range map[string]changes{
		// SET
		"SET a = :x":                                  {"a": s("x")},
		"set a = :x, new1 = :one":                     {"a": s("x"), "new1": n("1")},
		"SET a = a + :one":                            {"a": n("6")},
		"SET a = :one - a":                            {"a": n("-4")},
		"SET a = b":                                   {"a": n("10")},
		"SET a = b, b = a":                            {"a": n("10"), "b": n("5")}, // both from the old item
		"SET a = (a + :one)":                          {"a": n("6")},
		"SET a = if_not_exists(a, :one)":              {},
		"SET new1 = if_not_exists(new1, :one) + :one": {"new1": n("2")},
		"SET new1 = if_not_exists(a, :one) - :one":    {"new1": n("4")},
		"SET new1 = if_not_exists(gone, b)":           {"new1": n("10")},
		"SET m.x = :x":                                {"m": m(value.Item{"x": s("x"), "status": s("in")})},
		"SET m.y = :map":                              {"m": m(value.Item{"x": n("1"), "status": s("in"), "y": m(value.Item{"k": n("1")})})},
		"SET l[0] = :x":                               {"l": l(s("x"), n("7"), m(value.Item{"deep": yes()}))},
		"SET l[2].deep = :x":                          {"l": l(s("q"), n("7"), m(value.Item{"deep": s("x")}))},
		"SET l[9] = :y, l[5] = :x":                    {"l": l(s("q"), n("7"), m(value.Item{"deep": yes()}), s("x"), s("y"))}, // appended by index
		"SET #status = :x":                            {"status": s("x")},
		"SET new1 = :null":                            {"new1": null()},
		"SET l = list_append(l, :list)":               {"l": l(s("q"), n("7"), m(value.Item{"deep": yes()}), s("q"), n("7"))},
		"SET l = list_append(:list, l)":               {"l": l(s("q"), n("7"), s("q"), n("7"), m(value.Item{"deep": yes()}))},
		"SET l2 = list_append(if_not_exists(l2, :list), :list)": {"l2": l(s("q"), n("7"), s("q"), n("7"))},
		// REMOVE
		"REMOVE a":                             {"a": nil},
		"REMOVE a, gone":                       {"a": nil},
		"REMOVE m.x":                           {"m": m(value.Item{"status": s("in")})},
		"REMOVE l[0], l[1]":                    {"l": l(m(value.Item{"deep": yes()}))},
		"REMOVE l[7]":                          {},
		"REMOVE l[0] SET l[1] = :x, l[8] = :y": {"l": l(s("x"), m(value.Item{"deep": yes()}), s("y"))},
		// ADD
		"ADD a :one":      {"a": n("6")},
		"ADD new1 :one":   {"new1": n("1")},
		"ADD m.x :one":    {"m": m(value.Item{"x": n("2"), "status": s("in")})},
		"ADD letters :z":  {"letters": ss("x", "y", "z")},
		"ADD letters :ss": {},
		"ADD new1 :ss":    {"new1": ss("x", "y")},
		"ADD nums :ns":    {},
		// DELETE
		"DELETE letters :z":  {},
		"DELETE letters :ss": {"letters": nil}, // no empty sets
		"DELETE gone :ss":    {},
		// together
		"SET b = :one REMOVE #a ADD m.x :one DELETE letters :z": {"b": n("1"), "a": nil, "m": m(value.Item{"x": n("2"), "status": s("in")})},
	} {
		bound := bindFor(t, source)
		u, err := bound.Update(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if err := bound.Unused(); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		before := value.Clone(item)
		got, err := u.Apply(item)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		expected := maps.Clone(before)
		for k, v := range want {
			expected[k] = v
			if v == nil {
				delete(expected, k)
			}
		}
		if diff := cmp.Diff(expected, got, sameItem); diff != "" {
			t.Errorf("%s: item differs (-want +got):\n%s", source, diff)
		}
		if diff := cmp.Diff(before, item, sameItem); diff != "" {
			t.Fatalf("%s changed its input:\n%s", source, diff)
		}
	}
}

func TestInvalidUpdates(t *testing.T) {
	for source, want := range map[string]string{
		"":                                  "The expression can not be empty;",
		"a = :one":                          `Syntax error; token: "a", near: "a ="`,
		"SET":                               `Syntax error; token: "<EOF>", near: "SET"`,
		"SET a :one":                        `Syntax error; token: ":one", near: "a :one"`,
		"SET a = :one,":                     `token: "<EOF>"`,
		"SET a = :one SET b = :one":         `The "SET" section can only be used once in an update expression;`,
		"SET a = :one + :one + :one":        `Syntax error; token: "+"`,
		"SET a = :one, REMOVE b":            `Syntax error; token: "REMOVE"`,
		"ADD a b":                           `token: "b"`,
		"ADD a :x":                          "operator: ADD, operand type: STRING",
		"ADD a :list":                       "operator: ADD, operand type: LIST",
		"DELETE a :one":                     "operator: DELETE, operand type: NUMBER",
		"SET a = :x + :one":                 "Incorrect operand type for operator or function; operator or function: +, operand type: S",
		"SET a = list_append(l, :one)":      "operator or function: list_append, operand type: N",
		"SET a = list_append(l)":            "operator or function: list_append, number of operands: 1",
		"SET a = if_not_exists(:one, :one)": "Operator or function requires a document path; operator or function: if_not_exists",
		"SET a = size(l)":                   "Invalid function name; function: size",
		"SET a = ((:one))":                  "The expression has redundant parentheses;",
		"SET a = :one, a = :two":            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"SET m.x = :one REMOVE m":           "path one: [m, x], path two: [m]",
		"SET l[0] = :one, l[0].x = :two":    "path one: [l, [0]], path two: [l, [0], x]",
		"SET m.x = :one, m[0] = :two":       "Two document paths conflict with each other",
		"SET status = :one":                 "Attribute name is a reserved keyword; reserved keyword: status",
		"SET a = :q":                        "An expression attribute value used in expression is not defined; attribute value: :q",
	} {
		_, err := bindFor(t, source).Update(source)
		if err == nil || !strings.HasPrefix(err.Error(), "ValidationException: Invalid UpdateExpression: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is\n%v, want\n%s", source, err, want)
		}
	}
}

func TestUpdatesThatDoNotFitTheItem(t *testing.T) {
	const (
		path    = "The document path provided in the update expression is invalid for update"
		missing = "The provided expression refers to an attribute that does not exist in the item"
		operand = "An operand in the update expression has an incorrect data type"
	)
	for source, want := range map[string]string{
		"SET gone.x = :one": path, "SET a.x = :one": path, "SET m[0] = :one": path, "SET l.x = :one": path, "REMOVE gone.x": path, "ADD gone.x :one": path,
		"SET a = gone": missing, "SET a = gone + :one": missing, "SET a = list_append(gone, :list)": missing,
		"SET a = name1 + :one": operand, "ADD name1 :one": operand, "ADD letters :ns": operand, "ADD a :ss": operand, "DELETE letters :ns": operand, "SET a = list_append(a, :list)": operand,
	} {
		u, err := bindFor(t, source).Update(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := u.Apply(item); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", source, err, want)
		}
	}
}

func TestAnUpdateCannotNestTooDeeply(t *testing.T) {
	deep := m(value.Item{"k": s("x")})
	for range value.MaxDepth - 1 {
		deep = m(value.Item{"k": deep})
	}
	bound, err := Bind(nil, value.Item{":deep": deep}, true)
	if err != nil {
		t.Fatal(err)
	}
	u, err := bound.Update("SET m.x = :deep")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Apply(item); err == nil || !strings.Contains(err.Error(), "Nesting Levels have exceeded") {
		t.Errorf("error is %v", err)
	}
}

func TestChangedParts(t *testing.T) {
	source := "SET m.x = :one, b = :two REMOVE gone"
	u, err := bindFor(t, source).Update(source)
	if err != nil {
		t.Fatal(err)
	}
	want := value.Item{"m": m(value.Item{"x": n("1")}), "b": n("10")}
	if diff := cmp.Diff(want, u.Changed().Apply(item), sameItem); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b", "gone", "m"}, u.Attributes()); diff != "" {
		t.Error(diff)
	}
}
