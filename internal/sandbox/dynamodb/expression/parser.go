package expression

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters
const (
	maxExpression = 4096 // bytes
	maxOperators  = 300  // operators and functions
	maxOperands   = 100  // of IN
)

// parser is a recursive-descent parser over the tokens of one expression.
type parser struct {
	kind      string // name of the request parameter
	source    string
	tokens    []token
	pos       int
	bindings  *Bindings
	operators int
	heads     map[string]bool // first names of all paths
}

func (b *Bindings) parser(kind, source string) (*parser, error) {
	p := &parser{kind: kind, source: source, tokens: lex(source), bindings: b, heads: map[string]bool{}}
	switch {
	case len(p.tokens) == 1:
		return nil, p.errorf("The expression can not be empty;")
	case len(source) > maxExpression:
		return nil, p.errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(source))
	}
	return p, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return invalid("Invalid %s: %s", p.kind, fmt.Sprintf(format, args...))
}

// syntaxError blames the next token and shows its neighbours.
func (p *parser) syntaxError() error {
	t := p.peek()
	from, to := p.tokens[max(p.pos-1, 0)].start, p.tokens[min(p.pos+1, len(p.tokens)-1)].end
	return p.errorf(`Syntax error; token: "%s", near: "%s"`, t.text, p.source[from:to])
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) take() token {
	t := p.tokens[p.pos]
	if t.kind != tokenEnd {
		p.pos++
	}
	return t
}

func (p *parser) accept(s string) bool {
	if p.peek().is(s) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(s string) error {
	if !p.accept(s) {
		return p.syntaxError()
	}
	return nil
}

func (p *parser) end() error {
	if p.peek().kind != tokenEnd {
		return p.syntaxError()
	}
	return nil
}

// operator counts an operator or function.
func (p *parser) operator() error {
	if p.operators++; p.operators > maxOperators {
		return p.errorf("The expression contains too many operators or functions; the limit is %d", maxOperators)
	}
	return nil
}

// isCall reports whether a function call follows.
func (p *parser) isCall() bool {
	return p.peek().kind == tokenWord && p.tokens[p.pos+1].is("(")
}

func (p *parser) path() (path, error) {
	first, err := p.name()
	if err != nil {
		return nil, err
	}
	p.heads[first] = true
	steps := path{{name: first}}
	for {
		switch {
		case p.accept("."):
			n, err := p.name()
			if err != nil {
				return nil, err
			}
			steps = append(steps, step{name: n})
		case p.accept("["):
			if p.peek().kind != tokenInteger {
				return nil, p.syntaxError()
			}
			i, err := strconv.Atoi(p.peek().text)
			if err != nil {
				return nil, p.errorf("List index is not within the allowable range; index: [%s]", p.peek().text)
			}
			p.take()
			if err := p.expect("]"); err != nil {
				return nil, err
			}
			steps = append(steps, step{index: i, isIndex: true})
		default:
			if len(steps) > value.MaxDepth {
				return nil, p.errorf("The document path has too many nesting elements; nesting levels: %d", len(steps))
			}
			return steps, nil
		}
	}
}

func (p *parser) name() (string, error) {
	t := p.peek()
	switch t.kind {
	case tokenName:
		n, ok := p.bindings.name(t.text)
		if !ok {
			return "", p.errorf("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		p.take()
		return n, nil
	case tokenWord:
		if isReserved(t.text) {
			return "", p.errorf("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		p.take()
		return t.text, nil
	}
	return "", p.syntaxError()
}

func (p *parser) value() (types.AttributeValue, error) {
	t := p.peek()
	if t.kind != tokenValue {
		return nil, p.syntaxError()
	}
	v, ok := p.bindings.value(t.text)
	if !ok {
		return nil, p.errorf("An expression attribute value used in expression is not defined; attribute value: %s", t.text)
	}
	p.take()
	return v, nil
}
