package policy

import "strings"

// Runes of a compiled pattern that are not themselves. Values of policy
// variables are never compiled, so that a tag "*" matches only a star.
const (
	anyRunes rune = -1 // *
	oneRune  rune = -2 // ?
)

// compile turns the text of a policy into a pattern, with the variables
// replaced by their values in the request. It fails if a variable has no
// single value: what depends on it then does not match.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
func compile(text string, variables bool, wildcards bool, ctx Context) (pattern []rune, ok bool) {
	for text != "" {
		if variables && strings.HasPrefix(text, "${") {
			if name, rest, found := strings.Cut(text[2:], "}"); found {
				value, ok := variable(name, ctx)
				if !ok {
					return nil, false
				}
				pattern = append(pattern, []rune(value)...)
				text = rest
				continue
			}
		}
		r := []rune(text[:runeLen(text)])[0]
		text = text[runeLen(text):]
		switch {
		case wildcards && r == '*':
			r = anyRunes
		case wildcards && r == '?':
			r = oneRune
		}
		pattern = append(pattern, r)
	}
	return pattern, true
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// variable is the value of ${name} or ${name, 'default'}; ${*}, ${?} and ${$}
// stand for the characters themselves.
func variable(name string, ctx Context) (string, bool) {
	name, fallback, hasDefault := strings.Cut(name, ",")
	name = strings.TrimSpace(name)
	switch name {
	case "*", "?", "$":
		return name, true
	}
	if values := ctx.Get(name); len(values) == 1 {
		return values[0], true
	}
	if !hasDefault {
		return "", false
	}
	fallback = strings.TrimSpace(fallback)
	return strings.TrimSuffix(strings.TrimPrefix(fallback, "'"), "'"), true
}

// glob reports whether text matches pattern, in time proportional to the
// product of their lengths at worst.
func glob(pattern, text []rune) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == anyRunes:
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == oneRune || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == anyRunes {
		p++
	}
	return p == len(pattern)
}

// arnGlob matches the six parts of an ARN one by one, so that a wildcard does
// not reach from one into the next.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
func arnGlob(pattern, text []rune) bool {
	if len(pattern) == 1 && pattern[0] == anyRunes {
		return true
	}
	want, got := parts(pattern), parts(text)
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !glob(want[i], got[i]) {
			return false
		}
	}
	return true
}

func parts(arn []rune) [][]rune {
	var out [][]rune
	for len(out) < 5 {
		i := 0
		for i < len(arn) && arn[i] != ':' {
			i++
		}
		if i == len(arn) {
			break
		}
		out = append(out, arn[:i])
		arn = arn[i+1:]
	}
	return append(out, arn)
}

// matchAction compares without regard to case, as IAM does for actions.
func matchAction(pattern, action string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return strings.EqualFold(pattern, action)
	}
	p, _ := compile(strings.ToLower(pattern), false, true, nil)
	return glob(p, []rune(strings.ToLower(action)))
}

func matchResource(pattern, resource string, variables bool, ctx Context) bool {
	p, ok := compile(pattern, variables, true, ctx)
	return ok && arnGlob(p, []rune(resource))
}
