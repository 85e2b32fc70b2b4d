package wire

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// pathPattern is the method and the URI of an operation of a REST protocol.
// https://smithy.io/2.0/spec/http-bindings.html#uri
type pathPattern struct {
	method   string
	segments []string // "{Name}" is a label, "{Name+}" takes the rest
	query    url.Values
}

// pattern returns the pattern of an operation, nil for operations without one.
func pattern(op *smithy.Schema) (*pathPattern, *traits.HTTP) {
	t, ok := smithy.SchemaTrait[*traits.HTTP](op)
	if !ok {
		return nil, nil
	}
	p := newPathPattern(t.Method, t.URI)
	if p == nil {
		return nil, nil
	}
	return p, t
}

// newPathPattern returns nil for a URI that nothing can match.
func newPathPattern(method, uri string) *pathPattern {
	path, query, _ := strings.Cut(uri, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil
	}
	return &pathPattern{method, segments(path), q}
}

func segments(path string) []string {
	return strings.Split(strings.Trim(path, "/"), "/")
}

// match returns the labels of a request that p fits, and how specific the fit
// is: one for each literal part.
func (p *pathPattern) match(r *http.Request) (labels map[string]string, score int, ok bool) {
	if r.Method != p.method {
		return nil, 0, false
	}
	have := r.URL.Query()
	for k, v := range p.query {
		if !have.Has(k) || v[0] != "" && have.Get(k) != v[0] {
			return nil, 0, false
		}
		score++
	}
	parts := segments(r.URL.EscapedPath())
	labels = map[string]string{}
	for i, s := range p.segments {
		if i >= len(parts) {
			return nil, 0, false
		}
		name, label := strings.CutPrefix(s, "{")
		if !label {
			if s != parts[i] {
				return nil, 0, false
			}
			score++
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value := parts[i]
		rest, greedy := strings.CutSuffix(name, "+")
		if greedy {
			name, value = rest, strings.Join(parts[i:], "/")
		}
		v, err := url.PathUnescape(value)
		if err != nil || v == "" {
			return nil, 0, false
		}
		labels[name] = v
		if greedy {
			return labels, score, true
		}
	}
	return labels, score, len(parts) == len(p.segments)
}
