package expression

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Update is a parsed update expression.
type Update struct {
	actions []action
}

// action is one change. Its value is evaluated on the item as it was before
// the update, whatever the other actions do.
type action struct {
	section string // SET, REMOVE, ADD or DELETE
	path    path
	value   source // nil for REMOVE
}

// source is the right side of an action.
type source interface {
	compute(value.Item) (types.AttributeValue, error)
}

// Attributes returns the top-level attributes that u changes.
func (u *Update) Attributes() []string {
	var names []string
	for _, a := range u.actions {
		names = append(names, a.path[0].name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Changed returns the parts of an item that u changes.
func (u *Update) Changed() *Projection {
	paths := make([]path, len(u.actions))
	for i, a := range u.actions {
		paths[i] = a.path
	}
	return newProjection(paths)
}

// Apply returns item with the update; item itself stays as it is.
func (u *Update) Apply(item value.Item) (value.Item, error) {
	out := value.Clone(item)
	var compact []func()
	for _, a := range u.ordered() {
		var v types.AttributeValue
		var err error
		if a.value != nil {
			if v, err = a.value.compute(item); err != nil {
				return nil, err
			}
		}
		done, err := a.apply(item, out, v)
		if err != nil {
			return nil, err
		}
		compact = append(compact, done)
	}
	for _, done := range compact {
		done()
	}
	return out, value.CheckDepth(out)
}

// ordered sorts actions on elements of a list by index, because elements
// beyond its end are appended in this order.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html#Expressions.UpdateExpressions.SET.AddingListElements
func (u *Update) ordered() []action {
	actions := slices.Clone(u.actions)
	slices.SortStableFunc(actions, func(a, b action) int {
		return cmp.Compare(a.path[len(a.path)-1].index, b.path[len(b.path)-1].index)
	})
	return actions
}

// apply changes out; old is the item before the update.
func (a action) apply(old, out value.Item, v types.AttributeValue) (done func(), err error) {
	nothing := func() {}
	present := a.path.eval(old)
	switch a.section {
	case "REMOVE":
		return a.path.remove(out)
	case "ADD":
		if present != nil {
			if v, err = added(present, v); err != nil {
				return nil, err
			}
		}
	case "DELETE":
		if present == nil {
			return nothing, nil
		}
		if value.Type(present) != value.Type(v) {
			return nil, errOperandType()
		}
		if v = value.Difference(present, v); v == nil {
			return a.path.remove(out)
		}
	}
	return nothing, a.path.assign(out, v)
}

func added(present, v types.AttributeValue) (types.AttributeValue, error) {
	switch t := value.Type(v); {
	case value.Type(present) != t:
		return nil, errOperandType()
	case t == "N":
		return arithmetic("+", present, v)
	}
	return value.Union(present, v), nil
}

func (p path) compute(item value.Item) (types.AttributeValue, error) {
	v := p.eval(item)
	if v == nil {
		return nil, invalid("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}

func (l literal) compute(value.Item) (types.AttributeValue, error) { return l.v, nil }

type ifNotExists struct {
	path  path
	value source
}

func (f ifNotExists) compute(item value.Item) (types.AttributeValue, error) {
	if v := f.path.eval(item); v != nil {
		return v, nil
	}
	return f.value.compute(item)
}

// binary is +, - or list_append.
type binary struct {
	op   string
	a, b source
}

func (n binary) compute(item value.Item) (types.AttributeValue, error) {
	a, err := n.a.compute(item)
	if err != nil {
		return nil, err
	}
	b, err := n.b.compute(item)
	if err != nil {
		return nil, err
	}
	if n.op != "list_append" {
		return arithmetic(n.op, a, b)
	}
	head, ok1 := a.(*types.AttributeValueMemberL)
	tail, ok2 := b.(*types.AttributeValueMemberL)
	if !ok1 || !ok2 {
		return nil, errOperandType()
	}
	return value.L(slices.Concat(head.Value, tail.Value)...), nil
}

func arithmetic(op string, a, b types.AttributeValue) (types.AttributeValue, error) {
	x, ok1 := a.(*types.AttributeValueMemberN)
	y, ok2 := b.(*types.AttributeValueMemberN)
	if !ok1 || !ok2 {
		return nil, errOperandType()
	}
	m, err := value.ParseNumber(x.Value)
	if err != nil {
		return nil, err
	}
	n, err := value.ParseNumber(y.Value)
	if err != nil {
		return nil, err
	}
	result, err := m.Add(n)
	if op == "-" {
		result, err = m.Sub(n)
	}
	if err != nil {
		return nil, err
	}
	return value.N(result.String()), nil
}

func errOperandType() error {
	return invalid("An operand in the update expression has an incorrect data type")
}
