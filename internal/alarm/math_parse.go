package alarm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxMathDepth bounds the recursion of the parser.
const maxMathDepth = 100

// ParseExpression parses a metric math expression such as FILL(m1, 0) < 2 or
// IF(m1 > 3 AND m2, m1 / PERIOD(m1), 0).
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
func ParseExpression(text string) (*Expression, error) {
	if n := utf8.RuneCountInString(text); n > MaxExpressionLength {
		return nil, fmt.Errorf("expression: %d characters, at most %d are allowed", n, MaxExpressionLength)
	}
	p := &mathParser{text: text, out: &Expression{text: text}}
	p.space()
	root, err := p.binary(0)
	if err == nil && p.at < len(text) {
		err = p.errorf("unexpected text")
	}
	if err != nil {
		return nil, err
	}
	p.out.root = root
	return p.out, nil
}

type mathParser struct {
	text  string
	at    int
	depth int
	out   *Expression
}

func (p *mathParser) errorf(format string, args ...any) error {
	return fmt.Errorf("expression %q: %s at offset %d", p.text, fmt.Sprintf(format, args...), p.at)
}

func (p *mathParser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

// accept consumes token; a word only if it is not part of a longer one.
func (p *mathParser) accept(token string) bool {
	rest := p.text[p.at:]
	if !strings.HasPrefix(rest, token) || isWord(token[0]) && len(rest) > len(token) && isWord(rest[len(token)]) {
		return false
	}
	p.at += len(token)
	p.space()
	return true
}

func (p *mathParser) expect(token string) error {
	if !p.accept(token) {
		return p.errorf("want %q", token)
	}
	return nil
}

func (p *mathParser) binary(level int) (mathNode, error) {
	if level == len(binaryOperators) {
		return p.power()
	}
	left, err := p.binary(level + 1)
next:
	for err == nil {
		for _, o := range binaryOperators[level] {
			if p.accept(o.text) {
				var right mathNode
				right, err = p.binary(level + 1)
				left = mathBinary{o.op, left, right}
				continue next
			}
		}
		return left, nil
	}
	return nil, err
}

// power parses a ^ b, which associates to the right and binds tighter than a sign
// before it.
func (p *mathParser) power() (mathNode, error) {
	if p.depth++; p.depth > maxMathDepth {
		return nil, p.errorf("nested too deeply")
	}
	defer func() { p.depth-- }()
	if p.accept("-") {
		n, err := p.power()
		return mathNegate{n}, err
	}
	base, err := p.primary()
	if err != nil || !p.accept("^") {
		return base, err
	}
	exponent, err := p.power()
	return mathBinary{math.Pow, base, exponent}, err
}

func (p *mathParser) primary() (mathNode, error) {
	if p.at == len(p.text) {
		return nil, p.errorf("incomplete")
	}
	switch b := p.text[p.at]; {
	case p.accept("("):
		n, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	case p.accept("["):
		list, err := p.list("]")
		return mathArray(list), err
	case b == '"' || b == '\'':
		return p.quoted(b)
	case b == '.' || '0' <= b && b <= '9':
		return p.number()
	case isWord(b):
		return p.word()
	}
	return nil, p.errorf("unexpected text")
}

// list parses expressions up to end; it may be empty.
func (p *mathParser) list(end string) ([]mathNode, error) {
	var list []mathNode
	if p.accept(end) {
		return nil, nil
	}
	for {
		n, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.accept(",") {
			return list, p.expect(end)
		}
	}
}

func (p *mathParser) quoted(quote byte) (mathNode, error) {
	n := strings.IndexByte(p.text[p.at+1:], quote)
	if n < 0 {
		return nil, p.errorf("unterminated quote")
	}
	s := p.text[p.at+1 : p.at+1+n]
	p.at += n + 2
	p.space()
	return mathText(s), nil
}

func (p *mathParser) number() (mathNode, error) {
	i := p.at
	for i < len(p.text) {
		b := p.text[i]
		sign := (b == '+' || b == '-') && (p.text[i-min(1, i)] == 'e' || p.text[i-min(1, i)] == 'E')
		if b != '.' && b != 'e' && b != 'E' && (b < '0' || b > '9') && !sign {
			break
		}
		i++
	}
	f, err := strconv.ParseFloat(p.text[p.at:i], 64)
	if err != nil {
		return nil, p.errorf("%q is no number", p.text[p.at:i])
	}
	p.at = i
	p.space()
	return mathNumber(f), nil
}

// word parses a call, a constant or the id of a metric or expression. Ids start
// with a lower-case letter, functions and constants with an upper-case one.
func (p *mathParser) word() (mathNode, error) {
	i := p.at
	for i < len(p.text) && isWord(p.text[i]) {
		i++
	}
	w, start := p.text[p.at:i], p.at
	p.at = i
	p.space()
	if p.accept("(") {
		args, err := p.list(")")
		if err != nil {
			return nil, err
		}
		fn, ok := mathFunctions[w]
		switch {
		case slices.Contains(refused, w):
			return nil, fmt.Errorf("expression %q: function %s is not supported", p.text, w)
		case !ok:
			return nil, fmt.Errorf("expression %q: unknown function %s", p.text, w)
		case len(args) < fn.min || len(args) > fn.max:
			return nil, fmt.Errorf("expression %q: %s takes %d to %d arguments, not %d", p.text, w, fn.min, fn.max, len(args))
		}
		p.out.all = p.out.all || w == "METRICS"
		return mathCall{w, fn, args}, nil
	}
	switch {
	case w == "TRUE" || w == "FALSE":
		return mathNumber(truth(w == "TRUE")), nil
	case w == "REPEAT" || w == "LINEAR" || w == "ASC" || w == "DSC":
		return mathText(w), nil
	case w[0] < 'a' || w[0] > 'z':
		p.at = start
		return nil, p.errorf("%q is no id: ids start with a lower-case letter", w)
	}
	if !slices.Contains(p.out.refs, w) {
		p.out.refs = append(p.out.refs, w)
	}
	return mathRef(w), nil
}
