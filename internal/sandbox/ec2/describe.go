package ec2

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// attributes are what a resource shows to filters, by the filters' names.
type attributes map[string][]string

// query picks resources as the Describe operations do: by identifiers, which
// must exist, and by filters, all of which must match.
type query struct {
	ids     []string
	kind    kind
	filters []types.Filter
}

// pick returns the resources of t that q asks for.
func pick[T any](reg *region, t *table[T], q query, show func(T) attributes) ([]T, error) {
	if _, err := find(t, q.kind, q.ids); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, id := range q.ids {
		wanted[id] = true
	}
	var picked []T
	for id, v := range t.all() {
		if len(q.ids) > 0 && !wanted[id] {
			continue
		}
		ok, err := matches(q.filters, show(v), reg.tags[id])
		if err != nil {
			return nil, err
		}
		if ok {
			picked = append(picked, v)
		}
	}
	return picked, nil
}

// matches reports whether a resource passes all filters. A filter passes if
// any of its values does; values may hold * and ?.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Filter.html
func matches(filters []types.Filter, a attributes, tags map[string]string) (bool, error) {
	all := true
	for _, f := range filters {
		values, err := filterValues(aws.ToString(f.Name), a, tags)
		if err != nil {
			return false, err
		}
		all = all && anyMatch(f.Values, values)
	}
	return all, nil
}

func filterValues(name string, a attributes, tags map[string]string) ([]string, error) {
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		if v, ok := tags[key]; ok {
			return []string{v}, nil
		}
		return nil, nil
	}
	if name == "tag-key" {
		var keys []string
		for k := range tags {
			keys = append(keys, k)
		}
		return keys, nil
	}
	values, ok := a[name]
	if !ok {
		return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' is invalid", name)
	}
	return values, nil
}

func anyMatch(patterns, values []string) bool {
	for _, p := range patterns {
		for _, v := range values {
			if wildcard(p, v) {
				return true
			}
		}
	}
	return false
}

// wildcard matches * (any characters), ? (one character) and \ before either.
func wildcard(pattern, s string) bool {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			rest := pattern[i+1:]
			for j := 0; j <= len(s); j++ {
				if wildcard(rest, s[j:]) {
					return true
				}
			}
			return false
		case s == "":
			return false
		case c == '?':
			s = s[1:]
			continue
		default:
			if c == '\\' && i+1 < len(pattern) {
				i++
				c = pattern[i]
			}
			if s[0] != c {
				return false
			}
			s = s[1:]
		}
	}
	return s == ""
}

// page cuts one page out of all results. Tokens are opaque to callers.
func page[T any](all []T, limit *int32, token *string) ([]T, *string, error) {
	start := 0
	if t := aws.ToString(token); t != "" {
		raw, err := base64.RawURLEncoding.DecodeString(t)
		if err == nil {
			start, err = strconv.Atoi(string(raw))
		}
		if err != nil || start < 0 {
			return nil, nil, wire.Errorf("InvalidNextToken", "The token '%s' is invalid", t)
		}
	}
	start = min(start, len(all))
	end := len(all)
	if n := int(aws.ToInt32(limit)); limit != nil {
		if n < 5 || n > 1000 {
			return nil, nil, invalidValue("maxResults", strconv.Itoa(n), "Expecting a value between 5 and 1000.")
		}
		end = min(end, start+n)
	}
	if end == len(all) {
		return all[start:end], nil, nil
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	return all[start:end], &next, nil
}

func boolValue(b bool) []string { return []string{strconv.FormatBool(b)} }
