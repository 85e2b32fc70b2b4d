package fault

import (
	"reflect"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// signingNames are the services whose signing name is not what people call
// them.
var signingNames = map[string]string{"cloudwatch": "monitoring", "eventbridge": "events"}

// like matches a text with a pattern of * and ?; an empty pattern matches all.
func like(pattern, text string) bool { return pattern == "" || glob(pattern, text) }

func glob(pattern, text string) bool {
	star, mark := -1, 0 // the last star, and how much of text it took
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0: // the star takes one more
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// named matches an ARN, or its end after a colon or slash.
func named(pattern, arn string) bool {
	if like(pattern, arn) {
		return true
	}
	for i := range len(arn) {
		if (arn[i] == ':' || arn[i] == '/') && glob(pattern, arn[i+1:]) {
			return true
		}
	}
	return false
}

func anyNamed(pattern string, arns ...string) bool {
	for _, arn := range arns {
		if named(pattern, arn) {
			return true
		}
	}
	return false
}

func (s Selector) service(signingName string) bool {
	if n := signingNames[s.Service]; n != "" {
		return n == signingName
	}
	return like(s.Service, signingName)
}

// call matches a call of the API. resources are what it acts on; they are asked
// for only where the selector needs them.
func (s Selector) call(r *wire.Request, resources func() []string) bool {
	role := r.Caller.RoleARN
	if r.Caller.Root {
		role = "root"
	}
	return s.service(r.Service) && like(s.Operation, r.Operation) && like(s.Region, r.Region) && like(s.Account, r.Account) &&
		(s.Role == "" || role != "" && named(s.Role, role)) &&
		(s.Resource == "" || anyNamed(s.Resource, resources()...))
}

// event matches an event on its way.
func (s Selector) event(e world.Event) bool {
	return s.service(e.Service) && like(s.Region, e.Region) && like(s.Account, e.Account) &&
		(s.Resource == "" || anyNamed(s.Resource, e.Source, e.Target))
}

func (s Selector) delivery(d world.Delivery) bool {
	return like(s.Region, d.Region) && like(s.Account, d.Account) && like(s.Instance, d.InstanceID) &&
		(s.Resource == "" || anyNamed(s.Resource, d.InstanceID, d.Document))
}

// identifiers are the members of an input that name something by identifier:
// operations that describe things have no resource in policies.
func identifiers(input any) []string {
	v := reflect.Indirect(reflect.ValueOf(input))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var all []string
	for i := range v.NumField() {
		if !names(v.Type().Field(i).Name) {
			continue
		}
		switch x := v.Field(i).Interface().(type) {
		case *string:
			if x != nil {
				all = append(all, *x)
			}
		case []string:
			all = append(all, x...)
		}
	}
	return all
}

// names reports whether a member of that name holds names.
func names(member string) bool {
	for _, end := range []string{"Id", "Ids", "Name", "Names", "Arn", "ARN"} {
		if strings.HasSuffix(member, end) {
			return true
		}
	}
	return false
}
