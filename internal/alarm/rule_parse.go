package alarm

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseRule parses the rule of a composite alarm. Its error is a *RuleError.
//
//	ALARM("name-or-ARN") AND (OK(name) OR NOT INSUFFICIENT_DATA(name))
//	AT_LEAST(2, NOT OK, (a, b, c))
//	AT_LEAST(50%, ALARM, (a, b, c, d))
//	TRUE, FALSE
//
// NOT binds tighter than AND, and AND tighter than OR; the documentation does
// not say so, and rules should not depend on it.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-combining.html
func ParseRule(text string) (*Rule, error) {
	p := &ruleParser{text: text, rule: &Rule{}}
	if utf8.RuneCountInString(text) > MaxRuleLength {
		return nil, p.fault(RuleTooLong, 0)
	}
	p.space()
	if p.end() {
		return nil, p.fault(RuleEmpty, 0)
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.end() {
		if p.text[p.at] == ')' {
			return nil, p.fault(RuleUnbalanced, p.at)
		}
		return nil, p.fault(RuleUnexpected, p.at)
	}
	switch {
	case len(p.rule.children) > MaxRuleChildren:
		return nil, p.fault(RuleTooManyChildren, 0)
	case p.elements > MaxRuleElements:
		return nil, p.fault(RuleTooManyElements, 0)
	}
	p.rule.root = root
	return p.rule, nil
}

type ruleParser struct {
	text     string
	at       int
	elements int
	inQuotes bool // the last alarm name was quoted
	rule     *Rule
}

// near is how much of the rule an error quotes.
const near = 30

func (p *ruleParser) fault(f RuleFault, offset int) error {
	e := &RuleError{Fault: f, Offset: offset}
	if f != RuleTooLong && f != RuleTooManyChildren && f != RuleTooManyElements {
		e.Near = strings.ToValidUTF8(p.text[offset:min(len(p.text), offset+near)], "")
	}
	return e
}

func (p *ruleParser) end() bool { return p.at >= len(p.text) }

func (p *ruleParser) space() {
	for !p.end() && isSpace(p.text[p.at]) {
		p.at++
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func isWord(b byte) bool {
	return b == '_' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' || '0' <= b && b <= '9'
}

// word returns the identifier ahead without consuming it.
func (p *ruleParser) word() string {
	i := p.at
	for i < len(p.text) && isWord(p.text[i]) {
		i++
	}
	return p.text[p.at:i]
}

func (p *ruleParser) take(n int) {
	p.at += n
	p.space()
}

// accept consumes b.
func (p *ruleParser) accept(b byte) bool {
	if p.end() || p.text[p.at] != b {
		return false
	}
	p.take(1)
	return true
}

func (p *ruleParser) expect(b byte) error {
	switch {
	case p.accept(b):
		return nil
	case p.end():
		return p.fault(RuleUnbalanced, p.at)
	}
	return p.fault(RuleUnexpected, p.at)
}

func (p *ruleParser) or() (ruleNode, error) {
	list, err := p.sequence("OR", p.and)
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return ruleOr(list), nil
}

func (p *ruleParser) and() (ruleNode, error) {
	list, err := p.sequence("AND", p.unary)
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return ruleAnd(list), nil
}

func first(list []ruleNode) ruleNode {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (p *ruleParser) sequence(operator string, operand func() (ruleNode, error)) ([]ruleNode, error) {
	var list []ruleNode
	for {
		n, err := operand()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if p.word() != operator {
			return list, nil
		}
		p.take(len(operator))
	}
}

func (p *ruleParser) unary() (ruleNode, error) {
	negate := false
	for p.word() == "NOT" {
		p.take(len("NOT"))
		negate = !negate
	}
	n, err := p.primary()
	if err == nil && negate {
		n = ruleNot{n}
	}
	return n, err
}

func (p *ruleParser) primary() (ruleNode, error) {
	if p.end() {
		return nil, p.fault(RuleIncomplete, p.at)
	}
	if p.text[p.at] == '(' {
		return p.group()
	}
	start, w := p.at, p.word()
	switch w {
	case "TRUE", "FALSE":
		p.elements++
		p.take(len(w))
		return ruleConstant(w == "TRUE"), nil
	case string(Alarm), string(OK), string(InsufficientData):
		p.take(len(w))
		if err := p.expect('('); err != nil {
			return nil, err
		}
		name, err := p.child()
		if err != nil {
			return nil, err
		}
		return ruleState{name: name, is: State(w)}, p.close()
	case "AT_LEAST":
		p.take(len(w))
		return p.atLeast()
	case "", "AND", "OR":
		return nil, p.fault(RuleUnexpected, start)
	}
	p.take(len(w))
	if !p.end() && p.text[p.at] == '(' {
		return nil, p.fault(RuleUnknownFunction, start)
	}
	return nil, p.fault(RuleUnexpected, start)
}

func (p *ruleParser) group() (ruleNode, error) {
	if p.elements += 2; p.elements > 2*MaxRuleElements { // bounds the recursion
		return nil, p.fault(RuleTooManyElements, p.at)
	}
	p.take(1)
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	return n, p.expect(')')
}

// close consumes the parenthesis after an alarm name and explains what else may
// stand there.
func (p *ruleParser) close() error {
	if p.end() {
		return p.fault(RuleUnbalanced, p.at)
	}
	switch b := p.text[p.at]; {
	case b == ')':
		p.take(1)
		return nil
	case b == '(':
		return p.fault(RuleBracketInName, p.at)
	case b == ',':
		return p.fault(RuleCommaInName, p.at)
	case !p.inQuotes && isSpace(p.text[p.at-1]):
		return p.fault(RuleSpaceInName, p.at)
	}
	return p.fault(RuleUnexpected, p.at)
}

// child reads an alarm name or ARN, quoted or not.
func (p *ruleParser) child() (string, error) {
	start := p.at
	var name string
	p.inQuotes = !p.end() && p.text[p.at] == '"'
	if p.inQuotes {
		var ok bool
		if name, ok = p.quoted(); !ok {
			return "", p.fault(RuleUnterminatedQuote, start)
		}
	} else {
		i := p.at
		for i < len(p.text) && !isSpace(p.text[i]) && !strings.ContainsRune("(),", rune(p.text[i])) {
			i++
		}
		if name = p.text[p.at:i]; name == "" {
			if p.end() {
				return "", p.fault(RuleUnbalanced, start)
			}
			return "", p.fault(RuleUnexpected, start)
		}
		p.take(len(name))
	}
	ref := ParseReference(name)
	ref.offset = start
	p.elements++
	if !slices.ContainsFunc(p.rule.children, func(c Reference) bool {
		return c.Name == ref.Name && c.Account == ref.Account && c.Region == ref.Region
	}) {
		p.rule.children = append(p.rule.children, ref)
	}
	return ref.Name, nil
}

// quoted reads a name in double quotes, in which a backslash escapes.
func (p *ruleParser) quoted() (string, bool) {
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			p.take(i + 1 - p.at)
			return b.String(), true
		case '\\':
			if i++; i == len(p.text) {
				return "", false
			}
		}
		b.WriteByte(p.text[i])
	}
	return "", false
}

// atLeast reads (M, STATE_CONDITION, (a1, a2, ...)).
func (p *ruleParser) atLeast() (ruleNode, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	start := p.at
	threshold := p.upTo(',')
	if err := p.expect(','); err != nil {
		return nil, err
	}
	conditionAt := p.at
	condition := p.upTo(',')
	is, not := strings.CutPrefix(condition, "NOT ")
	state := State(strings.TrimSpace(is))
	if !state.Valid() {
		return nil, p.fault(RuleBadState, conditionAt)
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	names, err := p.list()
	if err != nil {
		return nil, err
	}
	need, fault := atLeastThreshold(threshold, len(names))
	if fault != "" {
		return nil, p.fault(fault, start)
	}
	n := ruleAtLeast{need: need}
	for _, name := range names {
		n.of = append(n.of, ruleState{name: name, is: state, not: not})
	}
	return n, p.expect(')')
}

// upTo consumes the text before b and trims it.
func (p *ruleParser) upTo(b byte) string {
	n := strings.IndexByte(p.text[p.at:], b)
	if n < 0 {
		n = len(p.text) - p.at
	}
	s := p.text[p.at : p.at+n]
	p.at += n
	return strings.TrimSpace(s)
}

func (p *ruleParser) list() ([]string, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	if p.accept(')') {
		return nil, p.fault(RuleEmptyList, p.at-1)
	}
	var names []string
	for {
		name, err := p.child()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		if p.accept(',') {
			continue
		}
		return names, p.close()
	}
}

// atLeastThreshold reads M or P% of n alarms. A percentage is rounded up to whole
// alarms: 60% of 3 needs 2.
func atLeastThreshold(s string, n int) (int, RuleFault) {
	digits, percent := strings.CutSuffix(s, "%")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, RuleBadThreshold
	}
	m, err := strconv.Atoi(digits)
	switch {
	case err != nil, m < 1, percent && m > 100, !percent && m > n:
		return 0, RuleThresholdRange
	case percent:
		return (m*n + 99) / 100, ""
	}
	return m, ""
}
