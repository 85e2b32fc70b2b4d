package policy

import (
	"slices"
	"strings"
)

// Operator is a condition operator with its prefix and suffix.
type Operator struct {
	Set      string // "", "ForAllValues" or "ForAnyValue"
	Name     string // such as "StringLike"; negated operators keep their own name
	IfExists bool
}

func (o Operator) String() string {
	s := o.Name
	if o.Set != "" {
		s = o.Set + ":" + s
	}
	if o.IfExists {
		s += "IfExists"
	}
	return s
}

func parseOperator(text string) (o Operator, ok bool) {
	if set, rest, found := strings.Cut(text, ":"); found {
		if set != "ForAllValues" && set != "ForAnyValue" {
			return o, false
		}
		o.Set, text = set, rest
	}
	o.Name, o.IfExists = strings.CutSuffix(text, "IfExists")
	if o.Name == "Null" {
		return o, !o.IfExists && o.Set == "" // Null already asks for existence
	}
	_, ok = comparisons[o.Name]
	return o, ok
}

// holds evaluates a condition.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
func (c Condition) holds(variables bool, ctx Context) bool {
	values := ctx.Get(c.Key)
	if c.Operator.Name == "Null" {
		return slices.ContainsFunc(c.Values, func(v string) bool {
			return strings.EqualFold(v, "true") == (len(values) == 0)
		})
	}
	cmp := comparisons[c.Operator.Name]
	if len(values) == 0 {
		switch {
		case c.Operator.IfExists, c.Operator.Set == "ForAllValues":
			return true
		case c.Operator.Set == "ForAnyValue":
			return false
		default:
			return cmp.negated
		}
	}
	// Values of the policy are alternatives; a negated operator forbids them all.
	matches := func(value string) bool {
		found := slices.ContainsFunc(c.Values, func(want string) bool {
			return cmp.match(want, value, variables, ctx)
		})
		return found != cmp.negated
	}
	if c.Operator.Set == "ForAllValues" || (cmp.negated && c.Operator.Set == "") {
		return !slices.ContainsFunc(values, func(v string) bool { return !matches(v) })
	}
	return slices.ContainsFunc(values, matches)
}
