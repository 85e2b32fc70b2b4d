package expression

import (
	"slices"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Update parses an update expression.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
func (b *Bindings) Update(source string) (*Update, error) {
	p, err := b.parser("UpdateExpression", source)
	if err != nil {
		return nil, err
	}
	u := &Update{}
	seen := map[string]bool{}
	for p.peek().kind != tokenEnd {
		name := strings.ToUpper(p.peek().text)
		parse := map[string]func() (action, error){"SET": p.set, "REMOVE": p.removal, "ADD": p.addition, "DELETE": p.deletion}[name]
		if parse == nil || p.peek().kind != tokenWord {
			return nil, p.syntaxError()
		}
		if seen[name] {
			return nil, p.errorf("The \"%s\" section can only be used once in an update expression;", name)
		}
		seen[name] = true
		p.take()
		if err := p.section(u, name, parse); err != nil {
			return nil, err
		}
	}
	paths := make([]path, len(u.actions))
	for i, a := range u.actions {
		paths[i] = a.path
	}
	if problem := clash(paths); problem != "" {
		return nil, p.errorf("%s", problem)
	}
	return u, nil
}

func (p *parser) section(u *Update, name string, parse func() (action, error)) error {
	for {
		if err := p.operator(); err != nil {
			return err
		}
		a, err := parse()
		if err != nil {
			return err
		}
		a.section = name
		u.actions = append(u.actions, a)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) target() (path, error) {
	if slices.ContainsFunc([]string{"SET", "REMOVE", "ADD", "DELETE"}, p.peek().is) {
		return nil, p.syntaxError()
	}
	return p.path()
}

func (p *parser) set() (action, error) {
	target, err := p.target()
	if err != nil {
		return action{}, err
	}
	if err := p.expect("="); err != nil {
		return action{}, err
	}
	v, err := p.sum()
	return action{path: target, value: v}, err
}

func (p *parser) removal() (action, error) {
	target, err := p.target()
	return action{path: target}, err
}

func (p *parser) addition() (action, error) {
	return p.valueAction("ADD", "N", "SS", "NS", "BS")
}

func (p *parser) deletion() (action, error) {
	return p.valueAction("DELETE", "SS", "NS", "BS")
}

var longNames = map[string]string{"S": "STRING", "N": "NUMBER", "B": "BINARY", "NULL": "NULL", "BOOL": "BOOLEAN", "L": "LIST", "M": "MAP"}

func (p *parser) valueAction(operator string, allowed ...string) (action, error) {
	target, err := p.target()
	if err != nil {
		return action{}, err
	}
	v, err := p.value()
	if err != nil {
		return action{}, err
	}
	if t := value.Type(v); !slices.Contains(allowed, t) {
		return action{}, p.errorf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND", operator, longNames[t], operator)
	}
	return action{path: target, value: literal{v}}, nil
}

// sum parses an operand, or two with + or - between them.
func (p *parser) sum() (source, error) {
	a, err := p.term()
	if err != nil {
		return nil, err
	}
	op := p.peek()
	if !op.is("+") && !op.is("-") {
		return a, nil
	}
	p.take()
	if err := p.operator(); err != nil {
		return nil, err
	}
	b, err := p.term()
	if err != nil {
		return nil, err
	}
	return p.binary(op.text, "N", a, b)
}

// binary checks the types of the operands that are known already.
func (p *parser) binary(op, want string, a, b source) (source, error) {
	for _, s := range []source{a, b} {
		if l, ok := s.(literal); ok {
			if err := p.literalType(op, l, want); err != nil {
				return nil, err
			}
		}
	}
	return binary{op, a, b}, nil
}

func (p *parser) term() (source, error) {
	switch {
	case p.accept("("):
		if p.peek().is("(") {
			return nil, p.errorf("The expression has redundant parentheses;")
		}
		s, err := p.sum()
		if err != nil {
			return nil, err
		}
		return s, p.expect(")")
	case p.isCall():
		return p.updateFunction()
	case p.peek().kind == tokenValue:
		v, err := p.value()
		return literal{v}, err
	}
	return p.target()
}

func (p *parser) updateFunction() (source, error) {
	name := p.peek().text
	if name != "if_not_exists" && name != "list_append" {
		return nil, p.errorf("Invalid function name; function: %s", name)
	}
	p.take()
	p.take() // the parenthesis that isCall has seen
	if err := p.operator(); err != nil {
		return nil, err
	}
	args, err := p.sources()
	if err != nil {
		return nil, err
	}
	if err := p.checkArity(name, 2, len(args)); err != nil {
		return nil, err
	}
	if name == "list_append" {
		return p.binary(name, "L", args[0], args[1])
	}
	target, ok := args[0].(path)
	if !ok {
		return nil, p.errorf("Operator or function requires a document path; operator or function: %s", name)
	}
	return ifNotExists{target, args[1]}, nil
}

func (p *parser) sources() ([]source, error) {
	var list []source
	for {
		s, err := p.term()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		if !p.accept(",") {
			return list, p.expect(")")
		}
	}
}
