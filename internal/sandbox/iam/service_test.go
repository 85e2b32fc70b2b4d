package iam_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
)

func TestRoles(t *testing.T) {
	l := newLandscape(t)
	c, ctx := l.root.IAM, t.Context()
	o, err := c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("fn"), Path: aws.String("/hadr/"), AssumeRolePolicyDocument: aws.String(lambdaTrust), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}})
	must(t, err)
	if got := *o.Role.Arn; got != "arn:aws:iam::"+account+":role/hadr/fn" {
		t.Errorf("Arn is %s", got)
	}
	if id := *o.Role.RoleId; !strings.HasPrefix(id, "AROA") || len(id) != 21 {
		t.Errorf("RoleId is %s", id)
	}
	_, err = c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("FN"), AssumeRolePolicyDocument: aws.String(lambdaTrust)})
	wantCode(t, err, "EntityAlreadyExists")
	var exists *types.EntityAlreadyExistsException
	if !errors.As(err, &exists) {
		t.Errorf("%v is no EntityAlreadyExistsException", err)
	}

	g, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("fn")})
	must(t, err)
	if doc, err := url.QueryUnescape(*g.Role.AssumeRolePolicyDocument); err != nil || doc != lambdaTrust || !strings.HasPrefix(*g.Role.AssumeRolePolicyDocument, "%7B") {
		t.Errorf("trust policy is %s", *g.Role.AssumeRolePolicyDocument)
	}
	if *g.Role.MaxSessionDuration != 3600 || len(g.Role.Tags) != 1 {
		t.Errorf("role is %+v", g.Role)
	}
	_, err = c.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: aws.String("fn"), MaxSessionDuration: aws.Int32(7200), Description: aws.String("d")})
	must(t, err)
	_, err = c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("fn"), PolicyDocument: aws.String(ownTrust)})
	must(t, err)
	_, err = c.TagRole(ctx, &iam.TagRoleInput{RoleName: aws.String("fn"), Tags: []types.Tag{{Key: aws.String("A"), Value: aws.String("c")}}})
	must(t, err)
	g, err = c.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("fn")})
	must(t, err)
	if *g.Role.MaxSessionDuration != 7200 || *g.Role.Description != "d" || !strings.Contains(*g.Role.AssumeRolePolicyDocument, "root") {
		t.Errorf("role is %+v", g.Role)
	}
	if len(g.Role.Tags) != 1 || *g.Role.Tags[0].Value != "c" { // keys have no case
		t.Errorf("tags are %+v", g.Role.Tags)
	}
	_, err = c.UntagRole(ctx, &iam.UntagRoleInput{RoleName: aws.String("fn"), TagKeys: []string{"a"}})
	must(t, err)
	tags, err := c.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: aws.String("fn")})
	must(t, err)
	if len(tags.Tags) != 0 {
		t.Errorf("tags are %+v", tags.Tags)
	}
}

func TestListsComeInPages(t *testing.T) {
	l := newLandscape(t)
	for _, name := range []string{"c", "a", "b"} {
		l.role(t, name, "")
	}
	var got []string
	p := iam.NewListRolesPaginator(l.root.IAM, &iam.ListRolesInput{MaxItems: aws.Int32(2)})
	pages := 0
	for p.HasMorePages() {
		o, err := p.NextPage(t.Context())
		must(t, err)
		pages++
		for _, r := range o.Roles {
			got = append(got, *r.RoleName)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || pages != 2 {
		t.Errorf("%d pages, %s", pages, diff)
	}
}

func TestErrors(t *testing.T) {
	l := newLandscape(t)
	c, ctx := l.root.IAM, t.Context()
	l.role(t, "r", logsPolicy)
	long := strings.Repeat("x", 10300)
	for name, tc := range map[string]struct {
		call func() error
		code string
	}{
		"a role that is missing": {func() error {
			_, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("none")})
			return err
		}, "NoSuchEntity"},
		"a policy that is missing": {func() error {
			_, err := c.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: aws.String("arn:aws:iam::" + account + ":policy/none")})
			return err
		}, "NoSuchEntity"},
		"an inline policy that is missing": {func() error {
			_, err := c.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: aws.String("r"), PolicyName: aws.String("none")})
			return err
		}, "NoSuchEntity"},
		"attaching what is not there": {func() error {
			_, err := c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("r"), PolicyArn: aws.String("arn:aws:iam::aws:policy/None")})
			return err
		}, "NoSuchEntity"},
		"detaching what is not attached": {func() error {
			_, err := c.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: aws.String("r"), PolicyArn: aws.String("arn:aws:iam::aws:policy/None")})
			return err
		}, "NoSuchEntity"},
		"a trust policy with a resource": {func() error {
			_, err := c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("x"), AssumeRolePolicyDocument: aws.String(logsPolicy)})
			return err
		}, "MalformedPolicyDocument"},
		"an inline policy with a principal": {func() error {
			_, err := c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("r"), PolicyName: aws.String("p"), PolicyDocument: aws.String(lambdaTrust)})
			return err
		}, "MalformedPolicyDocument"},
		"a name with a blank": {func() error {
			_, err := c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("a b"), AssumeRolePolicyDocument: aws.String(lambdaTrust)})
			return err
		}, "ValidationError"},
		"a session of five minutes": {func() error {
			_, err := c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("x"), MaxSessionDuration: aws.Int32(300), AssumeRolePolicyDocument: aws.String(lambdaTrust)})
			return err
		}, "ValidationError"},
		"too much inline policy": {func() error {
			_, err := c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("r"), PolicyName: aws.String("big"), PolicyDocument: aws.String(strings.Replace(logsPolicy, "logs:*", "logs:"+long, 1))})
			return err
		}, "LimitExceeded"},
		"deleting a role with a policy": {func() error {
			_, err := c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("r")})
			return err
		}, "DeleteConflict"},
		"changing a policy of AWS": {func() error {
			_, err := c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")})
			return err
		}, "AccessDenied"},
		"a user": {func() error {
			_, err := c.GetUser(ctx, &iam.GetUserInput{UserName: aws.String("u")})
			return err
		}, "NoSuchEntity"},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, tc.call(), tc.code) })
	}
}

func TestManagedPolicies(t *testing.T) {
	l := newLandscape(t)
	c, ctx := l.root.IAM, t.Context()
	l.role(t, "r", "")
	made, err := c.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("p"), PolicyDocument: aws.String(logsPolicy)})
	must(t, err)
	arn := made.Policy.Arn
	_, err = c.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("p"), Path: aws.String("/x/"), PolicyDocument: aws.String(logsPolicy)})
	wantCode(t, err, "EntityAlreadyExists")

	v2, err := c.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: arn, SetAsDefault: true, PolicyDocument: aws.String(strings.Replace(logsPolicy, "logs", "ssm", 1))})
	must(t, err)
	if *v2.PolicyVersion.VersionId != "v2" || !v2.PolicyVersion.IsDefaultVersion {
		t.Errorf("version is %+v", v2.PolicyVersion)
	}
	doc, err := c.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: arn, VersionId: aws.String("v1")})
	must(t, err)
	if !strings.HasPrefix(*doc.PolicyVersion.Document, "%7B") || doc.PolicyVersion.IsDefaultVersion {
		t.Errorf("version 1 is %+v", doc.PolicyVersion)
	}
	_, err = c.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: arn, VersionId: aws.String("v2")})
	wantCode(t, err, "DeleteConflict")
	_, err = c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
	wantCode(t, err, "DeleteConflict")
	_, err = c.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: arn, VersionId: aws.String("v1")})
	must(t, err)

	for range 2 { // attaching again changes nothing
		_, err = c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("r"), PolicyArn: arn})
		must(t, err)
	}
	_, err = c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("r"), PolicyArn: aws.String("arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole")})
	must(t, err)
	list, err := c.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("r")})
	must(t, err)
	if len(list.AttachedPolicies) != 2 {
		t.Errorf("attached: %+v", list.AttachedPolicies)
	}
	users, err := c.ListEntitiesForPolicy(ctx, &iam.ListEntitiesForPolicyInput{PolicyArn: arn})
	must(t, err)
	if len(users.PolicyRoles) != 1 || *users.PolicyRoles[0].RoleName != "r" {
		t.Errorf("entities: %+v", users.PolicyRoles)
	}
	_, err = c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
	wantCode(t, err, "DeleteConflict")
	_, err = c.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: aws.String("r"), PolicyArn: arn})
	must(t, err)
	_, err = c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
	must(t, err)
	all, err := c.ListPolicies(ctx, &iam.ListPoliciesInput{Scope: types.PolicyScopeTypeAws})
	must(t, err)
	if len(all.Policies) != 3 {
		t.Errorf("%d policies of AWS", len(all.Policies))
	}
}

func TestInstanceProfiles(t *testing.T) {
	l := newLandscape(t)
	c, ctx := l.root.IAM, t.Context()
	l.role(t, "r", "")
	l.role(t, "other", "")
	_, err := c.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("p"), Path: aws.String("/hadr/")})
	must(t, err)
	_, err = c.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String("none")})
	wantCode(t, err, "NoSuchEntity")
	if _, err := l.iam.InstanceProfileRole("p"); err == nil {
		t.Error("a profile without role has a role")
	}
	_, err = c.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String("r")})
	must(t, err)
	_, err = c.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String("other")})
	wantCode(t, err, "LimitExceeded")

	o, err := c.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("p")})
	must(t, err)
	if len(o.InstanceProfile.Roles) != 1 || *o.InstanceProfile.Roles[0].RoleName != "r" {
		t.Errorf("profile is %+v", o.InstanceProfile)
	}
	for _, profile := range []string{"p", "arn:aws:iam::" + account + ":instance-profile/hadr/p"} {
		if role, err := l.iam.InstanceProfileRole(profile); err != nil || role != roleARN("r") {
			t.Errorf("role of %s is %s, %v", profile, role, err)
		}
	}
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("r")})
	wantCode(t, err, "DeleteConflict")
	_, err = c.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String("p")})
	wantCode(t, err, "DeleteConflict")
	_, err = c.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String("r")})
	must(t, err)
	_, err = c.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String("p")})
	must(t, err)
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("r")})
	must(t, err)
}

func TestSimulatePrincipalPolicy(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "r", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"dynamodb:UpdateItem","Resource":"arn:aws:dynamodb:*:*:table/lock"},
		{"Effect":"Allow","Action":"ec2:StopInstances","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/cluster":"c1"}}},
		{"Effect":"Deny","Action":"ec2:TerminateInstances","Resource":"*"}]}`)
	const lock = "arn:aws:dynamodb:us-east-1:111122223333:table/lock"
	tag := func(v string) []types.ContextEntry {
		return []types.ContextEntry{{ContextKeyName: aws.String("aws:ResourceTag/cluster"), ContextKeyType: "string", ContextKeyValues: []string{v}}}
	}
	for _, tc := range []struct {
		action, resource string
		context          []types.ContextEntry
		want             types.PolicyEvaluationDecisionType
	}{
		{"dynamodb:UpdateItem", lock, nil, "allowed"},
		{"dynamodb:UpdateItem", lock + "2", nil, "implicitDeny"},
		{"dynamodb:DeleteTable", lock, nil, "implicitDeny"},
		{"ec2:StopInstances", "*", tag("c1"), "allowed"},
		{"ec2:StopInstances", "*", tag("c2"), "implicitDeny"},
		{"ec2:StopInstances", "*", nil, "implicitDeny"},
		{"ec2:TerminateInstances", "*", nil, "explicitDeny"},
	} {
		o, err := l.root.IAM.SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: aws.String(roleARN("r")), ActionNames: []string{tc.action}, ResourceArns: []string{tc.resource}, ContextEntries: tc.context})
		must(t, err)
		if len(o.EvaluationResults) != 1 || o.EvaluationResults[0].EvalDecision != tc.want {
			t.Errorf("%s on %s: %+v, want %s", tc.action, tc.resource, o.EvaluationResults, tc.want)
		}
	}
}
