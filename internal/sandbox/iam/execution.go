package iam

import (
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// Assumable fails unless a role exists and trusts a service that acts for
// sourceARN, such as a schedule group.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
func (i *IAM) Assumable(roleARN, service, sourceARN string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, err := i.executing(roleARN, service, sourceARN)
	return err
}

// Permit fails unless a role is Assumable and its policies allow action on
// resource.
func (i *IAM) Permit(roleARN, service, sourceARN, action, resource string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	caller, err := i.executing(roleARN, service, sourceARN)
	if err != nil {
		return err
	}
	q := policy.Request{Action: action, Resource: resource, Context: i.callerContext(caller)}
	if decision, why := i.limitsOf(caller).decide(q); decision != policy.Allowed {
		return wire.Errorf("AccessDeniedException", "User: %s is not authorized to perform: %s on resource: %s %s", roleARN, action, resource, why).WithStatus(403)
	}
	return nil
}

// executing returns a role as the caller that a service becomes by assuming
// it. The caller holds mu.
func (i *IAM) executing(roleARN, service, sourceARN string) (wire.Caller, error) {
	a, r, ok := i.roleByARN(roleARN)
	if !ok {
		return wire.Caller{}, noSuchEntity("The role %s, which %s wants to assume, does not exist.", roleARN, service)
	}
	ctx := policy.Context{}
	ctx.Set("aws:SourceArn", sourceARN)
	if parts := strings.SplitN(sourceARN, ":", 6); len(parts) == 6 {
		ctx.Set("aws:SourceAccount", parts[4])
	}
	q := policy.Request{Action: "sts:AssumeRole", Principal: policy.Principal{Service: service}, Context: ctx}
	if policy.Evaluate(q, r.trust.doc) != policy.Allowed {
		return wire.Caller{}, wire.Errorf("AccessDenied", "The trust policy of %s does not allow %s to assume it: allow sts:AssumeRole for this service principal.", roleARN, service).WithStatus(403)
	}
	return wire.Caller{ARN: r.arn, Account: a.id, RoleARN: r.arn}, nil
}
