package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// restCodec is restJson1.
// https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html
type restCodec struct{}

func (restCodec) decode(c *call, in reflect.Value) error {
	if c.op.route != nil {
		return c.decodeByName(in)
	}
	if c.op.in == nil {
		return errors.New("the input has no schema")
	}
	members := map[string]any{}
	raw := false // the body is one member
	for name, m := range c.op.in.Members() {
		if _, ok := smithy.SchemaTrait[*traits.HTTPPayload](m); ok {
			raw = true
			x, err := payload(m, c.body)
			if err != nil {
				return err
			}
			members[name] = x
			continue
		}
		if x, bound := c.bound(name, m); bound {
			members[name] = x
		}
	}
	if !raw {
		tree, err := parseJSON(c.body)
		if err != nil {
			return err
		}
		body, ok := tree.(map[string]any)
		if !ok {
			return errors.New("expected a structure, got " + kindOf(tree))
		}
		for name, m := range c.op.in.Members() {
			if _, bound := c.bound(name, m); bound {
				continue
			}
			wire := name
			if t, ok := smithy.SchemaTrait[*traits.JSONName](m); ok {
				wire = t.Name
			}
			if x, ok := body[wire]; ok {
				members[name] = x
			}
		}
	}
	return set(in, members)
}

func payload(m *smithy.Schema, body []byte) (any, error) {
	switch m.Type() {
	case smithy.ShapeTypeBlob:
		return body, nil
	case smithy.ShapeTypeString, smithy.ShapeTypeEnum:
		return string(body), nil
	default:
		return parseJSON(body)
	}
}

// bound returns the value of a member that the model binds to the path, the
// query or a header; nil if the request does not have it.
func (c *call) bound(name string, m *smithy.Schema) (value any, bound bool) {
	if _, ok := smithy.SchemaTrait[*traits.HTTPLabel](m); ok {
		return present(c.labels[name]), true
	}
	if t, ok := smithy.SchemaTrait[*traits.HTTPQuery](m); ok {
		values := c.http.URL.Query()[t.Name]
		if m.Type() == smithy.ShapeTypeList {
			return texts(values), true
		}
		if len(values) == 0 {
			return nil, true
		}
		return text(values[0]), true
	}
	if _, ok := smithy.SchemaTrait[*traits.HTTPQueryParams](m); ok {
		all := map[string]any{}
		for k, v := range c.http.URL.Query() {
			all[k] = text(v[0])
		}
		return all, true
	}
	if t, ok := smithy.SchemaTrait[*traits.HTTPHeader](m); ok {
		values := c.http.Header.Values(t.Name)
		if m.Type() == smithy.ShapeTypeList {
			return texts(splitList(values)), true
		}
		return present(strings.Join(values, ",")), true
	}
	if t, ok := smithy.SchemaTrait[*traits.HTTPPrefixHeaders](m); ok {
		all := map[string]any{}
		for k := range c.http.Header {
			if len(k) > len(t.Prefix) && strings.EqualFold(k[:len(t.Prefix)], t.Prefix) {
				all[strings.ToLower(k[len(t.Prefix):])] = text(c.http.Header.Get(k))
			}
		}
		return all, true
	}
	return nil, false
}

func present(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}

func texts(values []string) any {
	if values == nil {
		return nil
	}
	l := make([]any, len(values))
	for i, v := range values {
		l[i] = text(v)
	}
	return l
}

func splitList(values []string) []string {
	var out []string
	for _, v := range values {
		for e := range strings.SplitSeq(v, ",") {
			out = append(out, strings.TrimSpace(e))
		}
	}
	return out
}

func (restCodec) encode(c *call, out any) (*answer, error) {
	if c.op.route != nil {
		return encodeByName(out), nil
	}
	n, err := describe(out)
	if err != nil {
		return nil, err
	}
	a := newAnswer(c.op.http.Code, "application/json", nil)
	if a.status == 0 {
		a.status = http.StatusOK
	}
	body, err := a.bind(n)
	if err != nil {
		return nil, err
	}
	switch {
	case a.body != nil || a.status == http.StatusNoContent:
	case len(body.fields) > 0 || n.schema != nil && !hasPayload(n.schema):
		a.body = appendJSON(nil, body, true)
	}
	return a, nil
}

func hasPayload(s *smithy.Schema) bool {
	for _, m := range s.Members() {
		if _, ok := smithy.SchemaTrait[*traits.HTTPPayload](m); ok {
			return true
		}
	}
	return false
}

// bind moves the members with HTTP traits to their places and returns the rest.
func (a *answer) bind(n *node) (*node, error) {
	rest := &node{kind: structNode, schema: n.schema}
	for _, f := range n.fields {
		s := f.node.schema
		if _, ok := smithy.SchemaTrait[*traits.HTTPResponseCode](s); ok {
			code, ok := f.node.scalar.(int64)
			if !ok || code < 200 || code > 599 {
				return nil, fmt.Errorf("%s: %v is not an HTTP status", f.name, f.node.scalar)
			}
			a.status = int(code)
		} else if t, ok := smithy.SchemaTrait[*traits.HTTPHeader](s); ok {
			a.header.Set(t.Name, headerText(f.node))
		} else if _, ok := smithy.SchemaTrait[*traits.HTTPPayload](s); ok {
			switch v := f.node.scalar.(type) {
			case []byte:
				a.body = v
			case string:
				a.body = []byte(v)
			default:
				a.body = appendJSON(nil, f.node, true)
			}
		} else {
			rest.fields = append(rest.fields, f)
		}
	}
	return rest, nil
}

func headerText(n *node) string {
	switch v := n.scalar.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return textTime(v, timestampFormat(n.schema, httpDate))
	}
	list := make([]string, len(n.items))
	for i, it := range n.items {
		list[i] = headerText(it)
	}
	return strings.Join(list, ", ")
}

func (restCodec) fault(c *call, f *fault) *answer {
	a := newAnswer(f.status, "application/json", nil)
	body := &node{kind: structNode}
	if f.body != nil {
		// A status among the members of an exception does not exist, so that
		// binding cannot fail; if it did, the exception goes without members.
		if b, err := a.bind(f.body); err == nil {
			body = b
		}
	}
	if body.member("message") == nil && body.member("Message") == nil {
		body.fields = append(body.fields, field{"message", &node{kind: scalarNode, scalar: f.message}})
	}
	a.header.Set("X-Amzn-ErrorType", f.code)
	a.body = appendJSON(nil, body, true)
	return a
}
