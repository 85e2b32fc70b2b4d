package policy

import (
	"slices"
	"strings"
)

// Context holds the condition keys of a request. Names are compared without
// regard to case; a missing key and an empty one are the same.
type Context map[string][]string

// Set gives key its values, replacing earlier ones. No values remove the key.
func (c Context) Set(key string, values ...string) {
	if len(values) == 0 {
		delete(c, strings.ToLower(key))
		return
	}
	c[strings.ToLower(key)] = values
}

// Get returns the values of key.
func (c Context) Get(key string) []string { return c[strings.ToLower(key)] }

// Principal is who asks, as resource and trust policies name principals.
type Principal struct {
	ARNs    []string // the session, its role; none for a service
	Account string   // matches account numbers and root ARNs; "" to match only what names the principal itself
	Service string   // service principal
}

// Request is one action on one resource.
type Request struct {
	Action    string
	Resource  string
	Principal Principal // used by documents with principals only
	Context   Context
}

// Decision is the outcome of an evaluation.
type Decision int

// Decisions, in the order of their strength.
const (
	ImplicitDeny Decision = iota
	Allowed
	ExplicitDeny
)

// String is the decision as SimulatePrincipalPolicy names it.
func (d Decision) String() string {
	return [...]string{"implicitDeny", "allowed", "explicitDeny"}[d]
}

// Evaluate decides r by all documents together: an explicit deny wins over any
// allow, and without an allow the request is denied.
func Evaluate(r Request, docs ...*Document) Decision {
	decision := ImplicitDeny
	for _, d := range docs {
		for i := range d.Statements {
			s := &d.Statements[i]
			if !s.matches(r, d.Version == Version2012) {
				continue
			}
			if s.Effect == Deny {
				return ExplicitDeny
			}
			decision = Allowed
		}
	}
	return decision
}

func (s *Statement) matches(r Request, variables bool) bool {
	return s.matchesPrincipal(r.Principal) && s.matchesAction(r.Action) &&
		s.matchesResource(r.Resource, variables, r.Context) &&
		!slices.ContainsFunc(s.Condition, func(c Condition) bool { return !c.holds(variables, r.Context) })
}

func (s *Statement) matchesPrincipal(p Principal) bool {
	switch {
	case s.Principal != nil:
		return s.Principal.include(p)
	case s.NotPrincipal != nil:
		return !s.NotPrincipal.include(p)
	default:
		return true
	}
}

func (s *Statement) matchesAction(action string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return matchAction(p, action) })
	}
	if s.NotAction != nil {
		return !in(s.NotAction)
	}
	return in(s.Action)
}

func (s *Statement) matchesResource(resource string, variables bool, ctx Context) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return matchResource(p, resource, variables, ctx) })
	}
	switch {
	case s.NotResource != nil:
		return !in(s.NotResource)
	case s.Resource != nil:
		return in(s.Resource)
	default:
		return true // trust policies name no resource
	}
}

// include reports whether p is among the principals.
func (l *Principals) include(p Principal) bool {
	if l.Everyone {
		return true
	}
	if p.Service != "" {
		return slices.Contains(l.Service, p.Service)
	}
	return slices.ContainsFunc(l.AWS, func(want string) bool {
		if slices.Contains(p.ARNs, want) {
			return true
		}
		return want == p.Account || want == "arn:aws:iam::"+p.Account+":root"
	})
}
