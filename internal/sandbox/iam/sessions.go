package iam

import (
	"fmt"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const (
	// defaultSession is the length of a session that asks for none.
	// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
	defaultSession = time.Hour
	// chainedSession bounds the session of a role assumed by a role session.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles.html#iam-term-role-chaining
	chainedSession = time.Hour
	// serviceSession is the length of the sessions that AWS services open.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html
	serviceSession = 6 * time.Hour
	// forgetAfter is how long an expired session still answers ExpiredToken.
	forgetAfter = 24 * time.Hour
)

// session is what temporary credentials stand for.
type session struct {
	creds  world.Credentials
	caller wire.Caller
	policy *policy.Document // session policy, nil for none
}

// Identify implements the wire server's hook: it tells who has an access key.
//
// Keys that the sandbox did not issue belong to the root of the default
// account, and one of twelve digits to the root of the account that it names.
// Keys of sessions need their token; they end in ExpiredToken.
func (i *IAM) Identify(accessKey, token string) (wire.Caller, *wire.Error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, issued := i.sessions[accessKey]
	switch {
	case issued && s.creds.SessionToken == token && i.w.Clock.Now().Before(s.creds.Expiration):
		return s.caller, nil
	case issued && s.creds.SessionToken == token:
		return wire.Caller{}, wire.Errorf("ExpiredToken", "The security token included in the request is expired").WithStatus(403)
	case issued || strings.HasPrefix(accessKey, "ASIA"): // of an earlier sandbox, perhaps: never the root's
		return wire.Caller{}, wire.Errorf("InvalidClientTokenId", "The security token included in the request is invalid.").WithStatus(403)
	}
	return rootOf(accessKey, i.w.Account), nil
}

func rootOf(accessKey, account string) wire.Caller {
	if len(accessKey) == 12 && strings.Trim(accessKey, "0123456789") == "" {
		account = accessKey
	}
	return wire.Caller{AccessKey: accessKey, Account: account, ARN: rootARN(account), UserID: account, Root: true}
}

func rootARN(account string) string { return "arn:aws:iam::" + account + ":root" }

// open issues credentials for a session of r. The caller holds mu.
func (i *IAM) open(a *account, r *role, name string, length time.Duration, p *policy.Document) *session {
	now := i.w.Clock.Now()
	for key, s := range i.sessions {
		if now.Sub(s.creds.Expiration) > forgetAfter {
			delete(i.sessions, key)
		}
	}
	s := &session{policy: p, creds: world.Credentials{
		AccessKey: "ASIA" + strings.ToUpper(i.w.Hex(16)), SecretKey: i.w.Hex(40), SessionToken: "IQoJ" + i.w.Hex(96),
		Expiration: now.Add(length).Truncate(time.Second), RoleARN: r.arn,
	}}
	s.caller = wire.Caller{
		AccessKey: s.creds.AccessKey, Account: a.id, RoleARN: r.arn, UserID: r.id + ":" + name,
		ARN: fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", a.id, r.name, name),
	}
	i.sessions[s.creds.AccessKey] = s
	return s
}

// roleByARN finds a role of any account. The caller holds mu.
func (i *IAM) roleByARN(arn string) (*account, *role, bool) {
	id, name, ok := splitARN(arn, "role")
	if !ok {
		return nil, nil, false
	}
	a := i.accounts[id]
	if a == nil {
		return nil, nil, false
	}
	r := a.roles[name]
	return a, r, r != nil && r.arn == arn
}

// splitARN returns account and name of an IAM entity, without its path.
func splitARN(arn, kind string) (account, name string, ok bool) {
	rest, isIAM := strings.CutPrefix(arn, "arn:aws:iam::")
	account, rest, found := strings.Cut(rest, ":"+kind+"/")
	return account, rest[strings.LastIndex(rest, "/")+1:], isIAM && found
}

// ServiceSession implements world.Identity.
func (i *IAM) ServiceSession(roleARN, service, name string) (world.Credentials, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, r, ok := i.roleByARN(roleARN)
	if !ok {
		return world.Credentials{}, noSuchEntity("The role %s, which %s wants to assume, does not exist.", roleARN, service)
	}
	decision := policy.Evaluate(policy.Request{Action: "sts:AssumeRole", Principal: policy.Principal{Service: service}, Context: policy.Context{}}, r.trust.doc)
	if decision != policy.Allowed {
		return world.Credentials{}, wire.Errorf("AccessDenied", "The trust policy of %s does not allow %s to assume it: allow sts:AssumeRole for this service principal.", roleARN, service).WithStatus(403)
	}
	return i.open(a, r, name, serviceSession, nil).creds, nil
}

// InstanceProfileRole implements world.Identity. A name without an ARN means a
// profile of the default account.
func (i *IAM) InstanceProfileRole(profile string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id, name := i.w.Account, profile
	if strings.HasPrefix(profile, "arn:") {
		var ok bool
		if id, name, ok = splitARN(profile, "instance-profile"); !ok {
			return "", invalid("%s is no ARN of an instance profile.", profile)
		}
	}
	p, err := i.account(id).profile(&name)
	if err != nil {
		return "", err
	}
	if p.role == nil {
		return "", noSuchEntity("Instance Profile %s has no role.", name)
	}
	return p.role.arn, nil
}

// AssumeRole opens a session of a role for caller, if the role's trust policy
// and, where it trusts the caller's account only, the caller's own policies
// allow it. It returns the session's ARN and unique identifier beside its
// credentials. Errors are AccessDenied, ValidationError and
// MalformedPolicyDocument.
//
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func (i *IAM) AssumeRole(caller wire.Caller, want world.RoleSession) (creds world.Credentials, arn, id string, err error) {
	var limits *policy.Document
	if want.Policy != "" {
		doc, err := parse(policy.Identity, want.Policy, "PackedPolicySize", 2048)
		if err != nil {
			return creds, "", "", err
		}
		limits = doc.doc
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	a, r, ok := i.roleByARN(want.RoleARN)
	if !ok || !i.trusts(r, caller, want) {
		return creds, "", "", wire.Errorf("AccessDenied", "User: %s is not authorized to perform: sts:AssumeRole on resource: %s", caller.ARN, want.RoleARN).WithStatus(403)
	}
	length := want.Duration
	if length == 0 {
		length = defaultSession
	}
	switch {
	case !caller.Root && length > chainedSession:
		return creds, "", "", invalid("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.")
	case length > time.Duration(r.maxSession)*time.Second:
		return creds, "", "", invalid("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	s := i.open(a, r, want.Name, length, limits)
	return s.creds, s.caller.ARN, s.caller.UserID, nil
}

// trusts decides sts:AssumeRole. The caller holds mu.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic-cross-account.html
func (i *IAM) trusts(r *role, caller wire.Caller, want world.RoleSession) bool {
	ctx := i.callerContext(caller)
	ctx.Set("sts:RoleSessionName", want.Name)
	if want.ExternalID != "" {
		ctx.Set("sts:ExternalId", want.ExternalID)
	}
	for _, t := range r.tags {
		ctx.Set("iam:ResourceTag/"+*t.Key, *t.Value)
		ctx.Set("aws:ResourceTag/"+*t.Key, *t.Value)
	}
	q := policy.Request{Action: "sts:AssumeRole", Resource: r.arn, Context: ctx, Principal: policy.Principal{ARNs: callerARNs(caller), Account: caller.Account}}
	if policy.Evaluate(q, r.trust.doc) != policy.Allowed {
		return false
	}
	if caller.Root {
		return true
	}
	own, _ := i.limitsOf(caller).decide(q)
	q.Principal.Account = ""
	named := policy.Evaluate(q, r.trust.doc) == policy.Allowed && strings.HasPrefix(r.arn, "arn:aws:iam::"+caller.Account+":")
	return own == policy.Allowed || named && own == policy.ImplicitDeny
}

// callerARNs are the names by which a policy may mean the caller.
func callerARNs(c wire.Caller) []string {
	if c.RoleARN == "" {
		return []string{c.ARN}
	}
	return []string{c.ARN, c.RoleARN}
}
