package expression

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Key names the key attributes of a table or index and their types; Sort is ""
// if there is no sort key.
type Key struct {
	Hash, HashType string
	Sort, SortType string
}

// KeyCondition selects one partition and a range of its sort keys.
type KeyCondition struct {
	Hash types.AttributeValue
	sort condition // nil: all
}

// Match tests the sort key of an item of the partition.
func (k *KeyCondition) Match(item value.Item) bool { return k.sort == nil || k.sort.test(item) }

// KeyCondition parses a key condition for a table or index.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func (b *Bindings) KeyCondition(source string, key Key) (*KeyCondition, error) {
	const kind = "KeyConditionExpression"
	c, err := b.Condition(kind, source)
	if err != nil {
		return nil, err
	}
	tests := map[string]keyTest{}
	for _, part := range conjuncts(c.root) {
		t, err := newKeyTest(part)
		if err != nil {
			return nil, err
		}
		if _, twice := tests[t.attribute]; twice {
			return nil, invalid("%ss must only contain one condition per key", kind)
		}
		tests[t.attribute] = t
	}
	if len(tests) > 2 {
		return nil, invalid("Conditions can be of length 1 or 2 only")
	}
	return selectKeys(tests, key)
}

func selectKeys(tests map[string]keyTest, key Key) (*KeyCondition, error) {
	hash, ok := tests[key.Hash]
	if !ok {
		return nil, invalid("Query condition missed key schema element: %s", key.Hash)
	}
	if hash.operator != "=" {
		return nil, invalid("Query key condition not supported")
	}
	if err := hash.check(key.HashType); err != nil {
		return nil, err
	}
	k := &KeyCondition{Hash: hash.values[0]}
	if len(tests) == 1 {
		return k, nil
	}
	sort, ok := tests[key.Sort]
	if !ok || key.Sort == "" {
		return nil, invalid("Query condition missed key schema element: %s", key.Sort)
	}
	if err := sort.check(key.SortType); err != nil {
		return nil, err
	}
	k.sort = sort.condition
	return k, nil
}

func conjuncts(c condition) []condition {
	if a, ok := c.(and); ok {
		return append(conjuncts(a.a), conjuncts(a.b)...)
	}
	return []condition{c}
}

// keyTest is a condition on one attribute.
type keyTest struct {
	condition condition
	operator  string
	attribute string
	values    []types.AttributeValue
}

func newKeyTest(c condition) (keyTest, error) {
	t := keyTest{condition: c}
	var operands []operand
	switch c := c.(type) {
	case comparison:
		t.operator, operands = c.op, []operand{c.a, c.b}
	case between:
		t.operator, operands = "BETWEEN", []operand{c.x, c.low, c.high}
	case call:
		t.operator, operands = c.name, c.args
	case in:
		t.operator = "IN"
	case or:
		t.operator = "OR"
	case not:
		t.operator = "NOT"
	}
	switch t.operator {
	case "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with":
	default:
		return t, invalid("Invalid operator used in KeyConditionExpression: %s", t.operator)
	}
	p, ok := operands[0].(path)
	if !ok {
		return t, invalid("Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand", t.operator)
	}
	if len(p) > 1 {
		return t, invalid("KeyConditionExpressions cannot have conditions on nested attributes")
	}
	t.attribute = p[0].name
	for _, o := range operands[1:] {
		l, ok := o.(literal)
		if !ok {
			return t, invalid("Invalid condition in KeyConditionExpression: %s operator must have an expression attribute value as its operand", t.operator)
		}
		t.values = append(t.values, l.v)
	}
	return t, nil
}

func (t keyTest) check(want string) error {
	for _, v := range t.values {
		if value.Type(v) != want {
			return invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
		}
		if n, ok := value.Length(v); ok && n == 0 && t.operator != "begins_with" {
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", map[string]string{"S": "string", "B": "binary"}[want], t.attribute)
		}
	}
	return nil
}
