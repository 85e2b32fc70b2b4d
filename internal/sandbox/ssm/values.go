package ssm

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Types of document parameters.
const (
	typeString     = "String"
	typeStringList = "StringList"
	typeInteger    = "Integer"
	typeBoolean    = "Boolean"
)

func badParameters(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameters", format, args...)
}

// bind gives every declared parameter its value, from a call or by default: a
// string, or []string for a StringList.
func (c *content) bind(given map[string][]string) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if c.Parameters[name] == nil {
			return nil, badParameters("Parameter %q is not declared by the document", name)
		}
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		p := c.Parameters[name]
		items, ok := given[name]
		if !ok {
			if p.Default == nil {
				return nil, badParameters("Parameter %q is required and has no default", name)
			}
			values[name] = p.fallback()
			continue
		}
		if err := p.accepts(name, items); err != nil {
			return nil, err
		}
		if p.Type == typeStringList {
			values[name] = items
		} else {
			values[name] = items[0]
		}
	}
	return values, nil
}

func (p *parameterSpec) fallback() any {
	if list, ok := p.Default.([]any); ok {
		items := make([]string, len(list))
		for i, e := range list {
			items[i] = pasted(e)
		}
		return items
	}
	if p.Type == typeStringList {
		return []string{pasted(p.Default)}
	}
	return pasted(p.Default)
}

func (p *parameterSpec) accepts(name string, items []string) error {
	if p.Type != typeStringList && len(items) != 1 {
		return badParameters("Parameter %q of type %s takes one value, not %d", name, p.Type, len(items))
	}
	if p.MinItems != nil && len(items) < *p.MinItems || p.MaxItems != nil && len(items) > *p.MaxItems {
		return badParameters("Parameter %q has %d items, which is not allowed", name, len(items))
	}
	for _, v := range items {
		if err := p.acceptsItem(name, v); err != nil {
			return err
		}
	}
	return nil
}

// acceptsItem checks one text. A pattern without anchors accepts any text that
// holds a match: a document that means the whole text must say so.
func (p *parameterSpec) acceptsItem(name, v string) error {
	n := utf8.RuneCountInString(v)
	switch {
	case p.MinChars != nil && n < *p.MinChars, p.MaxChars != nil && n > *p.MaxChars:
		return badParameters("Parameter %q has %d characters, which is not allowed", name, n)
	case p.pattern != nil && !p.pattern.MatchString(v):
		return badParameters("Parameter %q: value %q does not match the allowed pattern %s", name, v, p.AllowedPattern)
	case p.AllowedValues != nil && !slices.ContainsFunc(p.AllowedValues, func(a any) bool { return pasted(a) == v }):
		return badParameters("Parameter %q: value %q is not one of the allowed values", name, v)
	}
	var err error
	switch p.Type {
	case typeInteger:
		_, err = strconv.Atoi(v)
	case typeBoolean:
		if v != "true" && v != "false" {
			err = errors.New("not true or false")
		}
	}
	if err != nil {
		return badParameters("Parameter %q: value %q is not of type %s", name, v, p.Type)
	}
	return nil
}

// environment returns the parameters that are given as environment variables.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html
func (c *content) environment(values map[string]any) map[string]string {
	env := map[string]string{}
	for name, p := range c.Parameters {
		if p.InterpolationType == interpolationEnv {
			env["SSM_"+name] = pasted(values[name])
		}
	}
	return env
}
