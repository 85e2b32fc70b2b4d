package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxSize is the longest text that IAM takes for a document, in characters.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html
const maxSize = 131072

// Parse reads a document of the given kind. Its error is a *Malformed, worded
// as IAM words MalformedPolicyDocument.
func Parse(kind Kind, text string) (*Document, error) {
	if len(text) > maxSize {
		return nil, malformed("Policy document is longer than %d characters.", maxSize)
	}
	fields, err := object(json.RawMessage(text))
	if err != nil {
		return nil, malformed("Syntax errors in policy.")
	}
	d := &Document{Version: "2008-10-17"}
	for name, raw := range fields {
		switch name {
		case "Version":
			d.Version, err = text1(raw)
		case "Id":
			d.ID, err = text1(raw)
		case "Statement":
			d.Statements, err = statements(raw)
		default:
			err = malformed("Syntax errors in policy: unknown field %s.", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := d.validate(kind); err != nil {
		return nil, err
	}
	return d, nil
}

func statements(raw json.RawMessage) ([]Statement, error) {
	list := []json.RawMessage{raw}
	if isArray(raw) {
		list = nil
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, malformed("Syntax errors in policy.")
		}
	}
	out := make([]Statement, 0, len(list))
	for _, raw := range list {
		s, err := statement(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func statement(raw json.RawMessage) (s Statement, err error) {
	fields, err := object(raw)
	if err != nil {
		return s, malformed("Syntax errors in policy.")
	}
	for name, raw := range fields {
		switch name {
		case "Sid":
			s.Sid, err = text1(raw)
		case "Effect":
			var effect string
			effect, err = text1(raw)
			s.Effect = Effect(effect)
		case "Principal":
			s.Principal, err = principals(raw)
		case "NotPrincipal":
			s.NotPrincipal, err = principals(raw)
		case "Action":
			s.Action, err = texts(raw)
		case "NotAction":
			s.NotAction, err = texts(raw)
		case "Resource":
			s.Resource, err = texts(raw)
		case "NotResource":
			s.NotResource, err = texts(raw)
		case "Condition":
			s.Condition, err = conditions(raw)
		default:
			err = malformed("Syntax errors in policy: unknown field %s.", name)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func principals(raw json.RawMessage) (*Principals, error) {
	p := &Principals{}
	if one, err := text1(raw); err == nil {
		if one != "*" {
			return nil, malformed("Invalid principal in policy: %q.", one)
		}
		p.Everyone = true
		return p, nil
	}
	fields, err := object(raw)
	if err != nil || len(fields) == 0 {
		return nil, malformed("Invalid principal in policy.")
	}
	for kind, raw := range fields {
		values, err := texts(raw)
		if err != nil {
			return nil, err
		}
		switch kind {
		case "AWS":
			p.Everyone = p.Everyone || slices.Contains(values, "*")
			p.AWS = values
		case "Service":
			p.Service = values
		case "Federated", "CanonicalUser":
			p.Others = append(p.Others, values...)
		default:
			return nil, malformed("Invalid principal in policy: %q.", kind)
		}
	}
	return p, nil
}

func conditions(raw json.RawMessage) ([]Condition, error) {
	operators, err := object(raw)
	if err != nil {
		return nil, malformed("Syntax errors in policy: Condition is no object.")
	}
	var out []Condition
	for name, raw := range operators {
		op, ok := parseOperator(name)
		if !ok {
			return nil, malformed("Invalid Condition type : %s", name)
		}
		keys, err := object(raw)
		if err != nil {
			return nil, malformed("Syntax errors in policy: Condition %s is no object.", name)
		}
		for key, raw := range keys {
			values, err := texts(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, Condition{Operator: op, Key: key, Values: values})
		}
	}
	slices.SortFunc(out, func(a, b Condition) int { // maps have no order, documents do
		return strings.Compare(a.Operator.String()+"\x00"+a.Key, b.Operator.String()+"\x00"+b.Key)
	})
	return out, nil
}

// object decodes a JSON object; unlike json.Unmarshal it refuses a repeated
// key, because IAM does and one of the two would be ignored silently.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("no JSON object")
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string) // keys of an object are always strings
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("key %q is repeated", key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		out[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the document")
	}
	return out, nil
}

// texts decodes a scalar or a list of scalars: conditions may hold numbers
// and booleans, which mean the same as their texts.
func texts(raw json.RawMessage) ([]string, error) {
	if !isArray(raw) {
		v, err := text1(raw)
		return []string{v}, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, malformed("Syntax errors in policy.")
	}
	out := make([]string, 0, len(list))
	for _, raw := range list {
		v, err := text1(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func text1(raw json.RawMessage) (string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err == nil {
		switch v := v.(type) {
		case string:
			return v, nil
		case bool, json.Number:
			return fmt.Sprint(v), nil
		}
	}
	return "", malformed("Syntax errors in policy: %.40s is no string.", raw)
}

func isArray(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }

func malformed(format string, args ...any) *Malformed {
	return &Malformed{Reason: fmt.Sprintf(format, args...)}
}
