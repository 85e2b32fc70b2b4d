package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

func TestProjections(t *testing.T) {
	for source, want := range map[string]value.Item{
		"a":               {"a": n("5")},
		"a, gone":         {"a": n("5")},
		"gone":            {},
		"m.x, #a":         {"m": m(value.Item{"x": n("1")}), "a": n("5")},
		"m.#status":       {"m": m(value.Item{"status": s("in")})},
		"#dot":            {"d.o.t": s("dotted")},
		"l[2], l[0]":      {"l": l(s("q"), m(value.Item{"deep": yes()}))},
		"l[2].deep, l[8]": {"l": l(m(value.Item{"deep": yes()}))},
		"m.gone":          {},
		"a.x, m[1]":       {},
	} {
		p, err := bindFor(t, source).Projection(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if diff := cmp.Diff(want, p.Apply(item), sameItem); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestInvalidProjections(t *testing.T) {
	for source, want := range map[string]string{
		"":            "The expression can not be empty;",
		"a,":          `Syntax error; token: "<EOF>"`,
		"a b":         `Syntax error; token: "b", near: "a b"`,
		":one":        `token: ":one"`,
		"a, a":        "Two document paths overlap with each other",
		"m, m.x":      "path one: [m], path two: [m, x]",
		"m.x.y, m[0]": "Two document paths conflict with each other",
		"status":      "reserved keyword: status",
		"#q":          "is not defined; attribute name: #q",
	} {
		_, err := bindFor(t, source).Projection(source)
		if err == nil || !strings.Contains(err.Error(), "Invalid ProjectionExpression: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", source, err, want)
		}
	}
}

var stringKeys = Key{Hash: "pk", HashType: "S", Sort: "sk", SortType: "S"}

func TestKeyConditions(t *testing.T) {
	for source, want := range map[string]map[string]bool{ // sort key -> selected
		"pk = :x":                            {"a": true, "z": true},
		"pk = :x AND sk = :y":                {"y": true, "z": false},
		"(pk = :x) AND (sk < :y)":            {"x": true, "y": false},
		"sk >= :y AND pk = :x":               {"y": true, "x": false},
		"pk = :x AND sk BETWEEN :x AND :y":   {"x": true, "w": false, "z": false},
		"pk = :x AND begins_with(sk, :node)": {"node1": true, "nod": false},
	} {
		k, err := bindFor(t, source).KeyCondition(source, stringKeys)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if !value.Equal(k.Hash, s("x")) {
			t.Errorf("%s: partition key is %v", source, k.Hash)
		}
		for sort, selected := range want {
			if got := k.Match(value.Item{"sk": s(sort)}); got != selected {
				t.Errorf("%s: sort key %s: %t", source, sort, got)
			}
		}
	}
}

func TestInvalidKeyConditions(t *testing.T) {
	for source, want := range map[string]string{
		"":                                 "Invalid KeyConditionExpression: The expression can not be empty;",
		"sk = :x":                          "Query condition missed key schema element: pk",
		"pk = :x AND a = :y":               "Query condition missed key schema element: sk",
		"pk > :x":                          "Query key condition not supported",
		"begins_with(pk, :x)":              "Query key condition not supported",
		"pk = :x AND pk = :y":              "KeyConditionExpressions must only contain one condition per key",
		"pk = :x AND sk > :x AND sk < :y":  "KeyConditionExpressions must only contain one condition per key",
		"pk = :x AND sk = :y AND a = :y":   "Conditions can be of length 1 or 2 only",
		"pk = :x OR pk = :y":               "Invalid operator used in KeyConditionExpression: OR",
		"NOT pk = :x":                      "Invalid operator used in KeyConditionExpression: NOT",
		"pk <> :x":                         "Invalid operator used in KeyConditionExpression: <>",
		"pk = :x AND sk IN (:y)":           "Invalid operator used in KeyConditionExpression: IN",
		"pk = :x AND contains(sk, :y)":     "Invalid operator used in KeyConditionExpression: contains",
		"pk = :x AND attribute_exists(sk)": "Invalid operator used in KeyConditionExpression: attribute_exists",
		":x = pk":                          "must have the key attribute as its first operand",
		"pk = a":                           "must have an expression attribute value as its operand",
		"pk.a = :x":                        "cannot have conditions on nested attributes",
		"pk = :one":                        "Condition parameter type does not match schema type",
		"pk = :x AND sk = :one":            "Condition parameter type does not match schema type",
		"pk = :empty":                      "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk",
	} {
		_, err := bindFor(t, source).KeyCondition(source, stringKeys)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", source, err, want)
		}
	}
}
