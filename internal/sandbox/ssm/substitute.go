package ssm

import (
	"encoding/json"
	"iter"
	"regexp"
	"strings"
)

// reference is a use of a parameter, such as {{ Database }}.
var reference = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.:/-]+)\s*\}\}`)

// references yields the names of the parameters that v uses.
func references(v any) iter.Seq[string] {
	return func(yield func(string) bool) { walk(v, yield) }
}

func walk(v any, yield func(string) bool) bool {
	switch v := v.(type) {
	case string:
		for _, m := range reference.FindAllStringSubmatch(v, -1) {
			if !yield(m[1]) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !walk(e, yield) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !walk(e, yield) {
				return false
			}
		}
	}
	return true
}

// substitute puts values into v as the agent does: a text that is nothing but
// one reference becomes the value itself; elsewhere the value is pasted, a list
// as JSON. Nothing is quoted: a value is part of the script. What a value holds
// is not looked at again.
// https://github.com/aws/amazon-ssm-agent/blob/mainline/agent/parameters/parameters.go
func substitute(v any, values map[string]any) any {
	switch v := v.(type) {
	case string:
		if m := reference.FindStringSubmatch(v); m != nil && strings.TrimSpace(v) == m[0] {
			if value, ok := values[m[1]]; ok {
				return value
			}
		}
		return reference.ReplaceAllStringFunc(v, func(use string) string {
			value, ok := values[reference.FindStringSubmatch(use)[1]]
			if !ok {
				return use
			}
			return pasted(value)
		})
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = substitute(e, values)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = substitute(e, values)
		}
		return out
	}
	return v
}

func pasted(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	b, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(b)
}

// lines flattens the input runCommand, a text or a list of texts.
func lines(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, lines(e)...)
		}
		return all
	}
	return nil
}
