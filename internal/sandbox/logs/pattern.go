package logs

import (
	"regexp"
	"strings"
)

// parsePattern reads a filter pattern for unstructured events: terms that must
// all occur, phrases in quotes, excluded terms (-), regular expressions (%...%)
// and alternatives (?). Terms are case-sensitive.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
func parsePattern(pattern string) (match func(message string) bool, err error) {
	pattern = strings.TrimSpace(pattern)
	if strings.HasPrefix(pattern, "{") || strings.HasPrefix(pattern, "[") {
		return nil, invalid("Invalid filter pattern: the sandbox reads terms, not patterns for JSON or columns: %s", pattern)
	}
	var all, none, some []func(string) bool
	for rest := pattern; rest != ""; rest = strings.TrimLeft(rest, " \t") {
		to := &all
		switch rest[0] {
		case '-':
			to, rest = &none, rest[1:]
		case '?':
			to, rest = &some, rest[1:]
		}
		var term func(string) bool
		if term, rest, err = parseTerm(rest); err != nil {
			return nil, err
		}
		*to = append(*to, term)
	}
	return func(message string) bool {
		for _, t := range none {
			if t(message) {
				return false
			}
		}
		for _, t := range all {
			if !t(message) {
				return false
			}
		}
		// Alternatives beside other terms are ignored, as documented.
		if len(some) == 0 || len(all) > 0 || len(none) > 0 {
			return true
		}
		for _, t := range some {
			if t(message) {
				return true
			}
		}
		return false
	}, nil
}

// parseTerm reads one term and returns what follows it.
func parseTerm(s string) (term func(string) bool, rest string, err error) {
	switch {
	case strings.HasPrefix(s, `"`):
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s):
				i++
				b.WriteByte(s[i])
			case s[i] == '"':
				return contains(b.String()), s[i+1:], nil
			default:
				b.WriteByte(s[i])
			}
		}
		return nil, "", invalid("Invalid filter pattern: a quotation mark is missing in %s", s)
	case strings.HasPrefix(s, "%"):
		expr, rest, ok := strings.Cut(s[1:], "%")
		if !ok {
			return nil, "", invalid("Invalid filter pattern: a %% is missing in %s", s)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, "", invalid("Invalid filter pattern: %v", err)
		}
		return re.MatchString, rest, nil
	}
	word, rest := s, ""
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		word, rest = s[:i], s[i:]
	}
	if word == "" {
		return nil, "", invalid("Invalid filter pattern: a term is missing")
	}
	return contains(word), rest, nil
}

func contains(term string) func(string) bool {
	return func(message string) bool { return strings.Contains(message, term) }
}
