package iam

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Authorizer decides whether the caller of an operation may do it. Its fields
// are set by the sandbox before the first request; without them the
// conditions and policies that need them do not match.
type Authorizer struct {
	// Tags returns the tags of a resource, for aws:ResourceTag and its kin.
	Tags func(region, arn string) map[string]string
	// PartitionKey returns the name of the partition key of a DynamoDB table,
	// for dynamodb:LeadingKeys.
	PartitionKey func(region, account, table string) string
	// Stream returns the ARN of the stream that a shard iterator of DynamoDB
	// Streams leads to, "*" for none.
	Stream func(iterator string) string
	// ResourcePolicy returns the policy of a queue, a topic or a function
	// (with or without qualifier), "" for none.
	ResourcePolicy func(service, region, arn string) string

	iam *IAM
}

// Authorizer returns an Authorizer for the identities of i.
func (i *IAM) Authorizer() *Authorizer { return &Authorizer{iam: i} }

// rules are the operations that the Authorizer knows, by signing name.
var rules = map[string]map[string]rule{
	"dynamodb": dynamodbRules, "ec2": ec2Rules, "ssm": ssmRules, "monitoring": cloudwatchRules, "logs": logsRules,
	"lambda": lambdaRules, "iam": iamRules, "sts": stsRules, "sns": snsRules, "sqs": sqsRules, "scheduler": schedulerRules, "events": eventsRules,
	"route53": route53Rules, "kms": kmsRules,
}

// prefixes are the services whose actions have another prefix than their
// signing name.
var prefixes = map[string]string{"monitoring": "cloudwatch"}

// Mapped returns the operations of a service (signing name) that role sessions
// can be allowed to call. All others are denied to them.
func Mapped(service string) []string { return slices.Sorted(maps.Keys(rules[service])) }

// Authorize implements the wire server's hook. Root may do everything in its
// account; a role session may do what its policies allow.
func (a *Authorizer) Authorize(r *wire.Request, input any) *wire.Error {
	if r.Caller.Root {
		return nil
	}
	prefix := r.Service
	if p := prefixes[r.Service]; p != "" {
		prefix = p
	}
	rule, ok := rules[r.Service][r.Operation]
	if !ok {
		return denied(r, permission{action: prefix + ":" + r.Operation, resource: "*"}, "because the sandbox knows no IAM action for this operation")
	}
	if rule.open {
		return nil
	}
	c := &call{Request: r, input: input, prefix: prefix, auth: a}
	a.iam.mu.Lock()
	l := a.iam.limitsOf(r.Caller)
	shared := a.iam.callerContext(r.Caller)
	a.iam.mu.Unlock()
	requestContext(c, shared)
	needed := rule.permissions(c)
	if len(needed) == 0 { // the input names nothing, and nothing is never allowed
		needed = want(prefix+":"+r.Operation, "*")
	}
	for _, p := range needed {
		q := policy.Request{Action: p.action, Resource: p.resource, Context: maps.Clone(shared)}
		a.resourceContext(c, p, q.Context)
		maps.Copy(q.Context, p.keys)
		if decision, why := l.decideWith(a.resourcePolicy(c, p.resource), r.Caller, q); decision != policy.Allowed {
			return denied(r, p, why)
		}
	}
	return nil
}

// denied words a refusal as the service does.
func denied(r *wire.Request, p permission, why string) *wire.Error {
	return wire.Denied(r.Service, "User: "+r.Caller.ARN+" is not authorized to perform: "+p.action+" on resource: "+p.resource+" "+why)
}

// Resources returns the ARNs that an operation acts on, as policies name them;
// "*" for an operation without a resource type.
func (a *Authorizer) Resources(r *wire.Request) []string {
	rule, ok := rules[r.Service][r.Operation]
	if !ok || rule.open {
		return nil
	}
	prefix := r.Service
	if p := prefixes[r.Service]; p != "" {
		prefix = p
	}
	var all []string
	for _, p := range rule.permissions(&call{Request: r, input: r.Input, prefix: prefix, auth: a}) {
		all = append(all, p.resource)
	}
	return all
}

// CheckPassRole implements world.Identity: it asks for iam:PassRole alone. A
// role that does not exist or does not trust the service is another matter.
func (i *IAM) CheckPassRole(callerARN, roleARN, service string) error {
	session, isSession := strings.CutPrefix(callerARN, "arn:aws:sts::")
	if !isSession {
		return nil // root
	}
	account, rest, _ := strings.Cut(session, ":assumed-role/")
	name, _, _ := strings.Cut(rest, "/")
	i.mu.Lock()
	var l limits
	caller := wire.Caller{ARN: callerARN, Account: account}
	if a := i.accounts[account]; a != nil && a.roles[name] != nil {
		caller.RoleARN = a.roles[name].arn
		l = i.limitsOf(caller)
	}
	ctx := i.callerContext(caller)
	i.mu.Unlock()
	p := passRole(service, roleARN)[0]
	maps.Copy(ctx, p.keys)
	if decision, why := l.decide(policy.Request{Action: p.action, Resource: p.resource, Context: ctx}); decision != policy.Allowed {
		return denied(&wire.Request{Service: strings.TrimSuffix(service, ".amazonaws.com"), Caller: caller}, p, why)
	}
	return nil
}

// callerContext holds the global keys about a principal and the time. The
// caller holds mu.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
func (i *IAM) callerContext(caller wire.Caller) policy.Context {
	now := i.w.Clock.Now()
	ctx := policy.Context{}
	ctx.Set("aws:CurrentTime", now.UTC().Format(time.RFC3339))
	ctx.Set("aws:EpochTime", strconv.FormatInt(now.Unix(), 10))
	ctx.Set("aws:PrincipalAccount", caller.Account)
	ctx.Set("aws:PrincipalArn", caller.ARN)
	ctx.Set("aws:PrincipalIsAWSService", "false")
	ctx.Set("aws:PrincipalType", "Account")
	ctx.Set("aws:userid", caller.UserID)
	if _, r, ok := i.roleByARN(caller.RoleARN); ok {
		ctx.Set("aws:PrincipalArn", r.arn) // of the role, for a session too
		ctx.Set("aws:PrincipalType", "AssumedRole")
		for _, t := range r.tags {
			ctx.Set("aws:PrincipalTag/"+*t.Key, *t.Value)
		}
	}
	return ctx
}

// requestContext adds the global keys about the request.
func requestContext(c *call, ctx policy.Context) {
	ctx.Set("aws:RequestedRegion", c.Region)
	// The sandbox stands for an endpoint with TLS: a policy that refuses plain
	// HTTP must not refuse every test.
	ctx.Set("aws:SecureTransport", "true")
	if c.HTTP != nil {
		if host, _, err := net.SplitHostPort(c.HTTP.RemoteAddr); err == nil {
			ctx.Set("aws:SourceIp", host)
		}
		if agent := c.HTTP.UserAgent(); agent != "" {
			ctx.Set("aws:UserAgent", agent)
		}
	}
	tags := pairs(c.input, "Tags")
	for k, v := range tags {
		ctx.Set("aws:RequestTag/"+k, v)
	}
	keys := slices.Sorted(maps.Keys(tags))
	if c.Service != "ec2" { // where TagKeys names what to remove
		keys = append(keys, fields(c.input, "TagKeys")...)
	}
	ctx.Set("aws:TagKeys", keys...)
}

// resourceContext adds the keys about one resource.
func (a *Authorizer) resourceContext(c *call, p permission, ctx policy.Context) {
	if p.resource == "*" {
		return
	}
	ctx.Set("aws:ResourceAccount", c.Account)
	if c.Service == "ec2" {
		ctx.Set("ec2:Region", c.Region)
	}
	for k, v := range a.tagsOf(c, p.resource) {
		ctx.Set("aws:ResourceTag/"+k, v)
		switch service := strings.SplitN(p.resource, ":", 4)[2]; {
		case c.Service == "ssm" && (service == "ec2" || service == "ssm"):
			ctx.Set("ssm:resourceTag/"+k, v)
		case service == "ec2", service == "iam":
			ctx.Set(service+":ResourceTag/"+k, v)
		}
	}
}

func (a *Authorizer) tagsOf(c *call, arn string) map[string]string {
	if strings.HasPrefix(arn, "arn:aws:iam::") {
		return a.iam.tagsOf(arn)
	}
	if a.Tags == nil {
		return nil
	}
	return a.Tags(c.Region, arn)
}

// tagsOf returns the tags of a role.
func (i *IAM) tagsOf(arn string) map[string]string {
	i.mu.Lock()
	defer i.mu.Unlock()
	tags := map[string]string{}
	if _, r, ok := i.roleByARN(arn); ok {
		for _, t := range r.tags {
			tags[*t.Key] = *t.Value
		}
	}
	return tags
}

// resourcePolicy returns the parsed policy of a queue, topic or function.
func (a *Authorizer) resourcePolicy(c *call, arn string) *policy.Document {
	if a.ResourcePolicy == nil || (c.Service != "lambda" && c.Service != "sns" && c.Service != "sqs") || !strings.HasPrefix(arn, "arn:aws:"+c.Service+":") {
		return nil
	}
	doc, err := policy.Parse(policy.Resource, a.ResourcePolicy(c.Service, c.Region, arn))
	if err != nil {
		return nil // none: the services store only what Parse accepts
	}
	return doc
}
