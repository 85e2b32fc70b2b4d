package iam

import (
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// permission is one thing that a caller must be allowed to do for an
// operation to go on.
type permission struct {
	action   string
	resource string
	keys     policy.Context // beside the global keys
}

// rule says what permissions an operation needs. The rules follow AWS's
// service authorization reference and nothing else; in particular they do not
// know what any role of the product is allowed to do.
//
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
type rule struct {
	action    string   // "" for the operation's own name
	resources []string // templates; a permission for each value of each
	keys      []keyFunc
	more      []func(*call) []permission
	open      bool // the operation needs no permission, or decides by itself
}

// keyFunc adds condition keys of a service to those of a permission.
type keyFunc func(*call, *permission)

// call is an operation that waits for its authorization.
type call struct {
	*wire.Request
	input  any
	prefix string // of actions: the service's name in IAM
	auth   *Authorizer
}

// on needs the operation's own action on each resource. A template stands for
// one ARN for each value of the field in its braces, written without the
// beginning that all ARNs of the service share:
//
//	instance/{InstanceIds}           a field of the input; "*" if it is not set
//	security-group/{Groups?}         no permission if it is not set
//	arn:aws:ec2:{region}::image/{ImageId}
//
// A value that is an ARN itself replaces the whole. Without a template the
// action has no resource type: it needs Resource "*".
func on(templates ...string) rule { return rule{resources: templates} }

// as needs another action than the operation's own.
func as(action string, templates ...string) rule { return rule{action: action, resources: templates} }

// by works out the permissions itself.
func by(f func(*call) []permission) rule {
	return rule{more: []func(*call) []permission{f}, action: "-"}
}

// free needs no permission.
func free() rule { return rule{open: true} }

// with adds condition keys.
func (r rule) with(k ...keyFunc) rule {
	r.keys = append(r.keys[:len(r.keys):len(r.keys)], k...)
	return r
}

// and needs further permissions.
func (r rule) and(f ...func(*call) []permission) rule {
	r.more = append(r.more[:len(r.more):len(r.more)], f...)
	return r
}

// permissions lists what c needs by rule r.
func (r rule) permissions(c *call) []permission {
	var out []permission
	if r.action != "-" {
		action := r.action
		if action == "" {
			action = c.Operation
		}
		for _, arn := range c.expand(r.resources) {
			out = append(out, permission{action: c.prefix + ":" + action, resource: arn})
		}
	}
	for _, f := range r.more {
		out = append(out, f(c)...)
	}
	for n := range out {
		if out[n].keys == nil {
			out[n].keys = policy.Context{}
		}
		for _, k := range r.keys {
			k(c, &out[n])
		}
	}
	return out
}

func (c *call) expand(templates []string) []string {
	if len(templates) == 0 {
		return []string{"*"}
	}
	var out []string
	for _, t := range templates {
		out = append(out, c.fill(t)...)
	}
	return out
}

// fill expands one template.
func (c *call) fill(template string) []string {
	template = strings.ReplaceAll(strings.ReplaceAll(template, "{region}", c.Region), "{account}", c.Account)
	if !strings.HasPrefix(template, "arn:") && !strings.HasPrefix(template, "{") {
		template = c.base() + template
	}
	before, rest, found := strings.Cut(template, "{")
	if !found {
		return []string{template}
	}
	name, after, _ := strings.Cut(rest, "}")
	name, optional := strings.CutSuffix(name, "?")
	values := fields(c.input, name)
	if len(values) == 0 && !optional {
		values = []string{"*"}
	}
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, "arn:") {
			out = append(out, v)
			continue
		}
		out = append(out, c.fill(before+strings.ReplaceAll(v, "{", "%7B")+after)...)
	}
	return out
}

// base is the beginning of the ARNs of a service.
func (c *call) base() string {
	switch c.Service {
	case "iam", "sts":
		return "arn:aws:iam::" + c.Account + ":"
	case "route53":
		return "arn:aws:route53:::"
	}
	return "arn:aws:" + c.prefix + ":" + c.Region + ":" + c.Account + ":"
}

// want makes permissions for one action on some resources.
func want(action string, resources ...string) []permission {
	var out []permission
	for _, r := range resources {
		out = append(out, permission{action: action, resource: r})
	}
	return out
}

// key adds the value of an input field as a condition key.
func key(name, path string) keyFunc {
	return func(c *call, p *permission) { p.keys.Set(name, fields(c.input, path)...) }
}

// tagging needs the service's action for tags if the operation brings some:
// creating a tagged thing is creating and tagging it.
func tagging(action string, templates ...string) func(*call) []permission {
	return func(c *call) []permission {
		if len(pairs(c.input, "Tags")) == 0 {
			return nil
		}
		return want(action, c.expand(templates)...)
	}
}

// passing needs iam:PassRole on the role in a field of the input.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
func passing(path, service string) func(*call) []permission {
	return func(c *call) []permission {
		return passRole(service, fields(c.input, path)...)
	}
}

func passRole(service string, roles ...string) []permission {
	out := want("iam:PassRole", roles...)
	for n := range out {
		out[n].keys = policy.Context{}
		out[n].keys.Set("iam:PassedToService", service)
	}
	return out
}
