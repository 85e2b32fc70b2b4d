package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/diagnose"
)

// ownRole is an execution role that a resource makes for itself, with one
// inline policy of a fixed name, so that a read finds it and a destroy removes
// it.
type ownRole struct {
	*clients
	name, policyName string
	trust            policy // who assumes it; none for a role that others made
	description      string
}

// create makes the role and returns its ARN. What fails leaves no role behind.
func (o ownRole) create(ctx context.Context, policyText string, tags map[string]string) (arn string, diags diag.Diagnostics) {
	in := &iam.CreateRoleInput{RoleName: &o.name, AssumeRolePolicyDocument: aws.String(o.trust.String()), Description: &o.description}
	for _, k := range sortedKeys(tags) {
		in.Tags = append(in.Tags, iamtypes.Tag{Key: &k, Value: aws.String(tags[k])})
	}
	out, err := o.iam.CreateRole(ctx, in)
	if err != nil {
		diags.Append(diagnose.Failed("creating execution role", o.name, err))
		return "", diags
	}
	if err := o.allow(ctx, policyText); err != nil {
		diags.Append(diagnose.Failed("creating execution role", o.name, err))
		diags.Append(o.discard(ctx)...)
		return "", diags
	}
	return aws.ToString(out.Role.Arn), diags
}

// discard deletes a role that nothing uses and no state names, also after an
// apply was interrupted: it would be in the way of the next one.
func (o ownRole) discard(ctx context.Context) (diags diag.Diagnostics) {
	if err := o.delete(context.WithoutCancel(ctx)); err != nil {
		diags.Append(diagnose.Left("execution role", o.name, err))
	}
	return diags
}

// isRole reports whether an ARN is that of the role of a name.
func isRole(arn types.String, name string) bool {
	return strings.HasSuffix(arn.ValueString(), ":role/"+name)
}

// plan is role_arn as planned: unknown where the own role is to take over from
// one that is no longer configured. A configured one must be another: a role
// whose name is the own one's would be changed and deleted.
func (o ownRole) plan(configured, planned types.String) (types.String, diag.Diagnostics) {
	var diags diag.Diagnostics
	switch own := isRole(planned, o.name); {
	case configured.IsNull() && !own:
		return types.StringUnknown(), nil
	case !configured.IsNull() && own:
		diags.Append(diagnose.Invalid(path.Root("role_arn"), planned.ValueString(),
			"has the name of the role that the resource makes, changes and deletes by itself",
			"Leave role_arn away, or name a role that is called otherwise"))
	}
	return planned, diags
}

// settle puts the own role in place for an update, if planned asks for it, and
// returns the ARN of the role to use. made tells that the own one is new.
func (o ownRole) settle(ctx context.Context, planned types.String, policyText string, tags map[string]string) (arn types.String, made bool, diags diag.Diagnostics) {
	if !planned.IsUnknown() && !isRole(planned, o.name) {
		return planned, false, nil
	}
	out, err := o.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &o.name})
	if err != nil && !notFound(err) {
		diags.Append(diagnose.Failed("reading execution role", o.name, err))
		return planned, false, diags
	}
	// A role that this resource did not make is left alone: creating one of its
	// name fails, and tells.
	if err != nil || planned.IsUnknown() && aws.ToString(out.Role.Description) != o.description {
		name, failed := o.create(ctx, policyText, tags)
		return types.StringValue(name), !failed.HasError(), failed
	}
	if err := o.repair(ctx, policyText); err != nil {
		diags.Append(diagnose.Failed("changing execution role", o.name, err))
	}
	return tfString(out.Role.Arn), false, diags
}

// repair puts trust and policy into the wanted state.
func (o ownRole) repair(ctx context.Context, policyText string) error {
	_, err := o.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &o.name, PolicyDocument: aws.String(o.trust.String())})
	if err != nil {
		return err
	}
	return o.allow(ctx, policyText)
}

// effective is what the role allows whom it is made for: nothing, if another
// trust policy keeps that one out.
func (o ownRole) effective(ctx context.Context) (string, error) {
	out, err := o.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &o.name})
	if notFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	trust, err := url.QueryUnescape(aws.ToString(out.Role.AssumeRolePolicyDocument))
	if err != nil || !sameJSON(trust, o.trust.String()) {
		return "", err
	}
	return o.policy(ctx)
}

func (o ownRole) allow(ctx context.Context, text string) error {
	_, err := o.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &o.name, PolicyName: &o.policyName, PolicyDocument: &text})
	return err
}

// policy is the text of the policy, "" if there is none. IAM answers with an
// encoded URL: https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRolePolicy.html
func (o ownRole) policy(ctx context.Context) (string, error) {
	out, err := o.iam.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &o.name, PolicyName: &o.policyName})
	if notFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return url.QueryUnescape(aws.ToString(out.PolicyDocument))
}

func (o ownRole) delete(ctx context.Context) error {
	_, err := o.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &o.name, PolicyName: &o.policyName})
	if err != nil && !notFound(err) {
		return err
	}
	if _, err = o.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &o.name}); notFound(err) {
		return nil
	}
	return err
}
