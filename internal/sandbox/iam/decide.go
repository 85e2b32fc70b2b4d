package iam

import (
	"fmt"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// limits are the policies of a role session: it may do what its identity
// policies allow, as far as boundary and session policy, where they exist,
// allow it too.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html
type limits struct {
	identity []*policy.Document
	boundary *policy.Document
	session  *policy.Document
}

// limitsOf returns what holds for caller now: a changed policy counts at once
// for sessions that are open already, and a deleted role may do nothing. The
// caller of limitsOf holds mu.
func (i *IAM) limitsOf(caller wire.Caller) limits {
	var l limits
	if s := i.sessions[caller.AccessKey]; s != nil {
		l.session = s.policy
	}
	if a, r, ok := i.roleByARN(caller.RoleARN); ok {
		l.identity, l.boundary = a.policiesOf(r)
	}
	return l
}

// policiesOf returns the documents of a role. The caller holds mu.
func (a *account) policiesOf(r *role) (identity []*policy.Document, boundary *policy.Document) {
	for _, p := range r.inline {
		identity = append(identity, p.doc)
	}
	for _, arn := range r.attached {
		identity = append(identity, a.managed(arn).document())
	}
	if r.boundary != "" {
		boundary = a.managed(r.boundary).document()
	}
	return identity, boundary
}

// decide evaluates q and says why, in the words of AWS.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
func (l limits) decide(q policy.Request) (policy.Decision, string) {
	identity := policy.Evaluate(q, l.identity...)
	if identity == policy.ExplicitDeny {
		return identity, "with an explicit deny in an identity-based policy"
	}
	if d, why := l.bounds(q); d != policy.Allowed {
		return d, why
	}
	if identity != policy.Allowed {
		return identity, noPolicy("identity-based policy", q.Action)
	}
	return policy.Allowed, ""
}

// bounds evaluates boundary and session policy alone.
func (l limits) bounds(q policy.Request) (policy.Decision, string) {
	for _, b := range []struct {
		doc  *policy.Document
		name string
	}{{l.boundary, "permissions boundary"}, {l.session, "session policy"}} {
		if b.doc == nil {
			continue
		}
		switch policy.Evaluate(q, b.doc) {
		case policy.ExplicitDeny:
			return policy.ExplicitDeny, "with an explicit deny in a " + b.name
		case policy.ImplicitDeny:
			return policy.ImplicitDeny, noPolicy(b.name, q.Action)
		}
	}
	return policy.Allowed, ""
}

func noPolicy(kind, action string) string {
	return fmt.Sprintf("because no %s allows the %s action", kind, action)
}

// decideWith adds the policy of the resource, in the caller's account: what it
// grants to the session is granted, what it grants to the role stays inside
// the role's boundary, and its deny wins. A nil document decides nothing.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-basics-single-account.html
func (l limits) decideWith(resource *policy.Document, caller wire.Caller, q policy.Request) (policy.Decision, string) {
	if resource == nil {
		return l.decide(q)
	}
	q.Principal = policy.Principal{ARNs: callerARNs(caller), Account: caller.Account}
	if policy.Evaluate(q, resource) == policy.ExplicitDeny {
		return policy.ExplicitDeny, "with an explicit deny in a resource-based policy"
	}
	own, why := l.decide(q)
	if own == policy.Allowed || policy.Evaluate(q, l.identity...) == policy.ExplicitDeny {
		return own, why
	}
	q.Principal = policy.Principal{ARNs: []string{caller.ARN}}
	if policy.Evaluate(q, resource) == policy.Allowed && !denies(l.boundary, q) && !denies(l.session, q) {
		return policy.Allowed, ""
	}
	q.Principal = policy.Principal{ARNs: []string{caller.RoleARN}}
	if policy.Evaluate(q, resource) == policy.Allowed {
		return l.bounds(q)
	}
	return own, why
}

func denies(d *policy.Document, q policy.Request) bool {
	return d != nil && policy.Evaluate(q, d) == policy.ExplicitDeny
}
