package expression

import (
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Condition parses a condition; kind is the request parameter it came in, such
// as "ConditionExpression" or "FilterExpression".
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func (b *Bindings) Condition(kind, source string) (*Condition, error) {
	p, err := b.parser(kind, source)
	if err != nil {
		return nil, err
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	root, err := p.truth(n)
	if err != nil {
		return nil, err
	}
	return &Condition{root: root, heads: p.heads}, nil
}

// node is what has been parsed so far: until an operator follows, "(a)" may be
// an operand or a condition in parentheses. Exactly one of condition and
// operand is set.
type node struct {
	condition condition
	operand   operand
	parens    bool // in parentheses
}

// truth takes n as a condition.
func (p *parser) truth(n node) (condition, error) {
	if n.condition != nil {
		return n.condition, nil
	}
	if _, ok := n.operand.(length); ok {
		return nil, p.errorf("The function is not allowed to be used this way in an expression; function: size")
	}
	return nil, p.syntaxError()
}

// operandOf takes n as an operand.
func (p *parser) operandOf(n node) (operand, error) {
	if n.operand != nil {
		return n.operand, nil
	}
	if c, ok := n.condition.(call); ok {
		return nil, p.errorf("The function is not allowed to be used this way in an expression; function: %s", c.name)
	}
	return nil, p.syntaxError()
}

func (p *parser) or() (node, error) {
	return p.chain("OR", p.and, func(a, b condition) condition { return or{a, b} })
}

func (p *parser) and() (node, error) {
	return p.chain("AND", p.not, func(a, b condition) condition { return and{a, b} })
}

func (p *parser) chain(operator string, term func() (node, error), join func(a, b condition) condition) (node, error) {
	left, err := term()
	for err == nil && p.peek().is(operator) {
		var a, b condition
		var right node
		if a, err = p.truth(left); err != nil {
			return node{}, err
		}
		p.take()
		if err = p.operator(); err != nil {
			return node{}, err
		}
		if right, err = term(); err != nil {
			return node{}, err
		}
		if b, err = p.truth(right); err != nil {
			return node{}, err
		}
		left = node{condition: join(a, b)}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	if !p.accept("NOT") {
		return p.predicate()
	}
	if err := p.operator(); err != nil {
		return node{}, err
	}
	n, err := p.not()
	if err != nil {
		return node{}, err
	}
	c, err := p.truth(n)
	return node{condition: not{c}}, err
}

// predicate parses a comparison, BETWEEN, IN, a function or a single operand.
func (p *parser) predicate() (node, error) {
	left, err := p.primary()
	if err != nil {
		return node{}, err
	}
	op := strings.ToUpper(p.peek().text)
	switch op {
	case "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN":
	default:
		return left, nil
	}
	x, err := p.operandOf(left)
	if err != nil {
		return node{}, err
	}
	p.take()
	if err := p.operator(); err != nil {
		return node{}, err
	}
	var c condition
	switch op {
	case "BETWEEN":
		c, err = p.between(x)
	case "IN":
		c, err = p.in(x)
	default:
		c, err = p.comparison(op, x)
	}
	return node{condition: c}, err
}

func (p *parser) comparison(op string, x operand) (condition, error) {
	y, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.distinct(op, x, y); err != nil {
		return nil, err
	}
	if op != "=" && op != "<>" {
		for _, o := range []operand{x, y} {
			if err := p.literalType(op, o, "S", "N", "B"); err != nil {
				return nil, err
			}
		}
	}
	return comparison{op, x, y}, nil
}

func (p *parser) between(x operand) (condition, error) {
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	for _, o := range []operand{x, low, high} {
		if err := p.literalType("BETWEEN", o, "S", "N", "B"); err != nil {
			return nil, err
		}
	}
	l, ok1 := low.(literal)
	h, ok2 := high.(literal)
	if ok1 && ok2 {
		order, comparable := value.Compare(l.v, h.v)
		if !comparable {
			return nil, p.errorf("The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand type: %s, upper bound operand type: %s", value.Type(l.v), value.Type(h.v))
		}
		if order > 0 {
			return nil, p.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: %s, upper bound operand: %s", show(l.v), show(h.v))
		}
	}
	return between{x, low, high}, nil
}

func (p *parser) in(x operand) (condition, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	list, err := p.operands()
	if err != nil {
		return nil, err
	}
	if len(list) > maxOperands {
		return nil, p.errorf("The IN operator is provided with too many operands; number of operands: %d", len(list))
	}
	return in{x, list}, nil
}

// primary parses an operand, a function or something in parentheses.
func (p *parser) primary() (node, error) {
	switch {
	case p.accept("("):
		n, err := p.or()
		if err != nil {
			return node{}, err
		}
		if err := p.expect(")"); err != nil {
			return node{}, err
		}
		if n.parens {
			return node{}, p.errorf("The expression has redundant parentheses;")
		}
		n.parens = true
		return n, nil
	case p.isCall():
		return p.function()
	case p.peek().kind == tokenValue:
		v, err := p.value()
		return node{operand: literal{v}}, err
	case slices.ContainsFunc([]string{"AND", "OR", "NOT", "IN", "BETWEEN"}, p.peek().is):
		return node{}, p.syntaxError()
	}
	path, err := p.path()
	return node{operand: path}, err
}

func (p *parser) operand() (operand, error) {
	n, err := p.primary()
	if err != nil {
		return nil, err
	}
	return p.operandOf(n)
}

// operands parses a list up to its closing parenthesis.
func (p *parser) operands() ([]operand, error) {
	var list []operand
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if !p.accept(",") {
			return list, p.expect(")")
		}
	}
}
