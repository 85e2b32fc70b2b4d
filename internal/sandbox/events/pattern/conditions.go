package pattern

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// test is one condition on the values of a field: those of an array, one value
// or none.
type test interface {
	match(values []any, root map[string]any) bool
}

// value is a test of a single value; one of the field's values must pass.
type value func(v any) bool

func (f value) match(values []any, _ map[string]any) bool { return slices.ContainsFunc(values, f) }

// present wants the field to have a value.
type present struct{}

func (present) match(values []any, _ map[string]any) bool { return len(values) > 0 }

// absent wants the field to have no value anywhere in the event.
type absent struct{ path []string }

func (a absent) match(_ []any, root map[string]any) bool { return !has(root, a.path) }

// has reports whether a path leads to a scalar, through arrays too.
func has(v any, path []string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return has(e, path) })
	case map[string]any:
		if len(path) == 0 {
			return false
		}
		e, ok := v[path[0]]
		return ok && has(e, path[1:])
	}
	return len(path) == 0
}

// parseTests reads the list of a leaf.
func parseTests(list []any, path []string) ([]test, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("empty arrays are not allowed%s", where(path))
	}
	var out []test
	for _, v := range list {
		t, err := parseTest(v, path)
		if err != nil {
			return nil, fmt.Errorf("%w%s", err, where(path))
		}
		out = append(out, t)
	}
	return out, nil
}

func parseTest(v any, path []string) (test, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) != 1 {
			return nil, fmt.Errorf("only one key allowed in match expression, not %d", len(v))
		}
		for operator, operand := range v {
			return parseOperator(operator, operand, path)
		}
	case []any:
		return nil, fmt.Errorf("match value must be String, number, true, false, or null")
	}
	return value(equal(v)), nil
}

// equal compares as EventBridge does: numbers by their digits, so that 300,
// 300.0 and 3.0e2 differ.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern.html
func equal(want any) func(any) bool { return func(v any) bool { return v == want } }

func parseOperator(operator string, operand any, path []string) (test, error) {
	switch operator {
	case "exists":
		switch operand {
		case true:
			return present{}, nil
		case false:
			return absent{path}, nil
		}
		return nil, fmt.Errorf("exists match pattern must be either true or false")
	case "anything-but":
		return parseAnythingBut(operand)
	case "numeric":
		return parseNumeric(operand)
	case "cidr":
		return parseCIDR(operand)
	case "prefix", "suffix", "equals-ignore-case", "wildcard":
		f, err := parseText(operator, operand)
		if err != nil {
			return nil, err
		}
		return value(func(v any) bool { s, ok := v.(string); return ok && f(s) }), nil
	}
	return nil, fmt.Errorf("unrecognized match type %s", operator)
}

// parseText reads the operators on texts. Prefixes and suffixes can be had
// without regard to case.
func parseText(operator string, operand any) (func(string) bool, error) {
	fold := func(s string) string { return s }
	if m, ok := operand.(map[string]any); ok && len(m) == 1 && (operator == "prefix" || operator == "suffix") {
		if inner, ok := m["equals-ignore-case"]; ok {
			fold, operand = strings.ToLower, inner
		}
	}
	text, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("%s match pattern must be a string", operator)
	}
	switch operator {
	case "prefix":
		return func(s string) bool { return strings.HasPrefix(fold(s), fold(text)) }, nil
	case "suffix":
		return func(s string) bool { return strings.HasSuffix(fold(s), fold(text)) }, nil
	case "equals-ignore-case":
		return func(s string) bool { return strings.EqualFold(s, text) }, nil
	default:
		return parseWildcard(text)
	}
}

// parseAnythingBut reads a value, a list of values, or an operator on texts
// with one operand or a list of them.
func parseAnythingBut(operand any) (test, error) {
	if m, ok := operand.(map[string]any); ok {
		if len(m) != 1 {
			return nil, fmt.Errorf("only one key allowed in anything-but, not %d", len(m))
		}
		for operator, inner := range m {
			if !slices.Contains([]string{"prefix", "suffix", "equals-ignore-case", "wildcard"}, operator) {
				return nil, fmt.Errorf("unsupported anything-but pattern: %s", operator)
			}
			return anythingBut(operands(inner), func(v any) (func(any) bool, error) {
				f, err := parseText(operator, v)
				return func(v any) bool { s, ok := v.(string); return ok && f(s) }, err
			})
		}
	}
	return anythingBut(operands(operand), func(v any) (func(any) bool, error) {
		switch v.(type) {
		case string, json.Number:
			return equal(v), nil
		}
		return nil, fmt.Errorf("inside anything-but, values must be strings or numbers")
	})
}

func operands(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func anythingBut(list []any, parse func(any) (func(any) bool, error)) (test, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("empty arrays are not allowed in anything-but")
	}
	var excluded []func(any) bool
	for _, v := range list {
		f, err := parse(v)
		if err != nil {
			return nil, err
		}
		excluded = append(excluded, f)
	}
	return value(func(v any) bool {
		return !slices.ContainsFunc(excluded, func(f func(any) bool) bool { return f(v) })
	}), nil
}

// maxNumber bounds the numbers of ranges.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html#eb-filtering-numeric-matching
const maxNumber = 5e9

// parseNumeric reads ["=", n] or the bounds of a range, such as [">", 0, "<=", 5].
func parseNumeric(operand any) (test, error) {
	list, _ := operand.([]any)
	if len(list) != 2 && len(list) != 4 {
		return nil, fmt.Errorf("numeric is a list of one or two comparisons")
	}
	var tests []func(float64) bool
	var kinds string
	for i := 0; i < len(list); i += 2 {
		comparison, _ := list[i].(string)
		n, ok := number(list[i+1])
		if !ok {
			return nil, fmt.Errorf("value of %s must be a number between -5e9 and 5e9", comparison)
		}
		switch comparison {
		case "=":
			tests = append(tests, func(x float64) bool { return x == n })
		case "<":
			tests = append(tests, func(x float64) bool { return x < n })
		case "<=":
			tests = append(tests, func(x float64) bool { return x <= n })
		case ">":
			tests = append(tests, func(x float64) bool { return x > n })
		case ">=":
			tests = append(tests, func(x float64) bool { return x >= n })
		default:
			return nil, fmt.Errorf("unrecognized numeric range operator: %q", comparison)
		}
		kinds += comparison[:1]
	}
	if len(list) == 4 && kinds != "><" && kinds != "<>" {
		return nil, fmt.Errorf("a numeric range has a lower and an upper bound")
	}
	return value(func(v any) bool {
		n, ok := number(v)
		return ok && !slices.ContainsFunc(tests, func(f func(float64) bool) bool { return !f(n) })
	}), nil
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	return f, err == nil && f >= -maxNumber && f <= maxNumber
}

func parseCIDR(operand any) (test, error) {
	text, _ := operand.(string)
	block, err := netip.ParsePrefix(text)
	if err != nil {
		return nil, fmt.Errorf("malformed CIDR: %w", err)
	}
	return value(func(v any) bool {
		s, ok := v.(string)
		ip, err := netip.ParseAddr(s)
		return ok && err == nil && block.Contains(ip)
	}), nil
}

// parseWildcard reads a text in which * stands for any characters, \* for an
// asterisk and \\ for a backslash.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html#eb-filtering-wildcard-matching
func parseWildcard(text string) (func(string) bool, error) {
	parts := []string{""}
	for i := 0; i < len(text); i++ {
		last := &parts[len(parts)-1]
		switch {
		case text[i] == '\\' && (i+1 == len(text) || text[i+1] != '*' && text[i+1] != '\\'):
			return nil, fmt.Errorf("invalid escape character at position %d of wildcard", i)
		case text[i] == '\\':
			i++
			*last += text[i : i+1]
		case text[i] == '*' && i > 0 && text[i-1] == '*' && *last == "":
			return nil, fmt.Errorf("consecutive wildcard characters at position %d", i)
		case text[i] == '*':
			parts = append(parts, "")
		default:
			*last += text[i : i+1]
		}
	}
	return func(s string) bool { return glob(parts, s) }, nil
}

// glob matches s with parts that have anything between them.
func glob(parts []string, s string) bool {
	if len(parts) == 1 {
		return s == parts[0]
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}
