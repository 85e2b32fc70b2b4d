package expression

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Condition is a parsed condition or filter.
type Condition struct {
	root  condition
	heads map[string]bool
}

// Match evaluates the condition on an item; a nil item is one that does not
// exist. A nil Condition matches everything.
func (c *Condition) Match(item value.Item) bool { return c == nil || c.root.test(item) }

// Mentions reports whether the top-level attribute name occurs in c.
func (c *Condition) Mentions(name string) bool { return c != nil && c.heads[name] }

// condition is a node with a truth value.
type condition interface{ test(value.Item) bool }

// operand is a node with a value, nil if its attribute does not exist.
type operand interface {
	eval(value.Item) types.AttributeValue
}

type literal struct{ v types.AttributeValue }

func (l literal) eval(value.Item) types.AttributeValue { return l.v }

type length struct{ of operand }

func (l length) eval(item value.Item) types.AttributeValue {
	n, ok := value.Length(l.of.eval(item))
	if !ok {
		return nil
	}
	return value.N(strconv.Itoa(n))
}

type (
	and struct{ a, b condition }
	or  struct{ a, b condition }
	not struct{ c condition }
)

func (n and) test(item value.Item) bool { return n.a.test(item) && n.b.test(item) }
func (n or) test(item value.Item) bool  { return n.a.test(item) || n.b.test(item) }
func (n not) test(item value.Item) bool { return !n.c.test(item) }

// comparison compares values of the same type; with a missing attribute or
// different types only <> holds.
type comparison struct {
	op   string
	a, b operand
}

func (n comparison) test(item value.Item) bool {
	a, b := n.a.eval(item), n.b.eval(item)
	switch n.op {
	case "=":
		return value.Equal(a, b)
	case "<>":
		return !value.Equal(a, b)
	}
	order, ok := value.Compare(a, b)
	if !ok {
		return false
	}
	switch n.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

type between struct{ x, low, high operand }

func (n between) test(item value.Item) bool {
	x := n.x.eval(item)
	low, ok1 := value.Compare(x, n.low.eval(item))
	high, ok2 := value.Compare(x, n.high.eval(item))
	return ok1 && ok2 && low >= 0 && high <= 0
}

type in struct {
	x    operand
	list []operand
}

func (n in) test(item value.Item) bool {
	x := n.x.eval(item)
	for _, o := range n.list {
		if value.Equal(x, o.eval(item)) {
			return true
		}
	}
	return false
}

// call is a function with a truth value.
type call struct {
	name string
	args []operand
}

func (n call) test(item value.Item) bool {
	v := n.args[0].eval(item)
	switch n.name {
	case "attribute_exists":
		return v != nil
	case "attribute_not_exists":
		return v == nil
	}
	arg := n.args[1].eval(item)
	switch {
	case v == nil || arg == nil:
		return false
	case n.name == "attribute_type":
		return value.Equal(arg, value.S(value.Type(v)))
	case n.name == "begins_with":
		return value.BeginsWith(v, arg)
	default:
		return value.Contains(v, arg)
	}
}
