package iam_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	api "github.com/aws/aws-sdk-go-v2/service/iam"
	sqsapi "github.com/aws/aws-sdk-go-v2/service/sqs"
	stsapi "github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// statement is an identity policy with one statement.
func statement(effect, action, resource string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"` + effect + `","Action":"` + action + `","Resource":"` + resource + `"}]}`
}

// request is what the wire server would ask the Authorizer about.
func (l *landscape) request(t *testing.T, role string, want world.RoleSession, service, operation string) *wire.Request {
	t.Helper()
	root, _ := l.iam.Identify("test", "")
	want.RoleARN, want.Name = roleARN(role), "s1"
	creds, _, _, err := l.iam.AssumeRole(root, want)
	must(t, err)
	who, denied := l.iam.Identify(creds.AccessKey, creds.SessionToken)
	if denied != nil {
		t.Fatal(denied)
	}
	return &wire.Request{Context: t.Context(), Service: service, Operation: operation, Region: "eu-west-1", Account: who.Account, Caller: who}
}

func TestAuthorize(t *testing.T) {
	const table = "arn:aws:dynamodb:eu-west-1:" + account + ":table/lock"
	l := newLandscape(t)
	l.role(t, "r", statement("Allow", "dynamodb:*Item", table))
	for _, tc := range []struct {
		name, operation, table string
		session                string // session policy
		want                   string // part of the refusal, "" = allowed
	}{
		{name: "what the policy allows", operation: "GetItem", table: "lock"},
		{name: "another action", operation: "DeleteTable", table: "lock", want: "because no identity-based policy allows the dynamodb:DeleteTable action"},
		{name: "another table", operation: "GetItem", table: "lock2", want: "on resource: " + table + "2 because no identity-based policy allows"},
		{name: "another Region", operation: "GetItem", table: strings.Replace(table, "eu-west-1", "us-east-1", 1), want: "no identity-based policy"},
		{name: "less than the role by session policy", operation: "GetItem", table: "lock", session: statement("Allow", "dynamodb:PutItem", "*"), want: "because no session policy allows the dynamodb:GetItem action"},
		{name: "denied by session policy", operation: "GetItem", table: "lock", session: statement("Deny", "*", "*"), want: "with an explicit deny in a session policy"},
		{name: "an operation that nobody mapped", operation: "ExecuteStatement", table: "lock", want: "knows no IAM action"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := l.request(t, "r", world.RoleSession{Policy: tc.session}, "dynamodb", tc.operation)
			got := l.auth.Authorize(r, &dynamodb.GetItemInput{TableName: &tc.table})
			switch {
			case tc.want == "" && got != nil:
				t.Errorf("refused: %v", got)
			case tc.want != "" && (got == nil || got.Code != "AccessDeniedException" || !strings.Contains(got.Message, tc.want)):
				t.Errorf("refusal is %v, want %q", got, tc.want)
			}
		})
	}
	t.Run("root may do everything", func(t *testing.T) {
		root, _ := l.iam.Identify("test", "")
		if got := l.auth.Authorize(&wire.Request{Service: "dynamodb", Operation: "ExecuteStatement", Caller: root}, nil); got != nil {
			t.Error(got)
		}
	})
	t.Run("a policy that is taken away is gone at once", func(t *testing.T) {
		r := l.request(t, "r", world.RoleSession{}, "dynamodb", "GetItem")
		_, err := l.root.IAM.DeleteRolePolicy(t.Context(), &api.DeleteRolePolicyInput{RoleName: aws.String("r"), PolicyName: aws.String("p")})
		must(t, err)
		if got := l.auth.Authorize(r, &dynamodb.GetItemInput{TableName: aws.String("lock")}); got == nil {
			t.Error("still allowed")
		}
	})
}

func TestBoundary(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "r", statement("Allow", "*", "*"))
	o, err := l.root.IAM.CreatePolicy(t.Context(), &api.CreatePolicyInput{PolicyName: aws.String("b"), PolicyDocument: aws.String(statement("Allow", "dynamodb:GetItem", "*"))})
	must(t, err)
	_, err = l.root.IAM.PutRolePermissionsBoundary(t.Context(), &api.PutRolePermissionsBoundaryInput{RoleName: aws.String("r"), PermissionsBoundary: o.Policy.Arn})
	must(t, err)
	in := &dynamodb.GetItemInput{TableName: aws.String("t")}
	if got := l.auth.Authorize(l.request(t, "r", world.RoleSession{}, "dynamodb", "GetItem"), in); got != nil {
		t.Errorf("refused inside the boundary: %v", got)
	}
	got := l.auth.Authorize(l.request(t, "r", world.RoleSession{}, "dynamodb", "PutItem"), in)
	if got == nil || !strings.Contains(got.Message, "because no permissions boundary allows the dynamodb:PutItem action") {
		t.Errorf("outside the boundary: %v", got)
	}
}

func TestTagsOfInstances(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "r", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:StopInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"StringEquals":{"ec2:ResourceTag/hadr:group":"orders"}}}]}`)
	l.auth.Tags = func(region, arn string) map[string]string {
		if region == "eu-west-1" && strings.HasSuffix(arn, ":instance/i-1") {
			return map[string]string{"hadr:group": "orders"}
		}
		return nil
	}
	r := l.request(t, "r", world.RoleSession{}, "ec2", "StopInstances")
	if got := l.auth.Authorize(r, &ec2.StopInstancesInput{InstanceIds: []string{"i-1"}}); got != nil {
		t.Errorf("the instance of the group: %v", got)
	}
	got := l.auth.Authorize(r, &ec2.StopInstancesInput{InstanceIds: []string{"i-1", "i-2"}})
	want := "You are not authorized to perform this operation. User: arn:aws:sts::" + account + ":assumed-role/r/s1 is not authorized to perform: ec2:StopInstances on resource: arn:aws:ec2:eu-west-1:" + account + ":instance/i-2 because no identity-based policy allows the ec2:StopInstances action"
	if got == nil || got.Code != "UnauthorizedOperation" || got.Status != 403 || got.Message != want {
		t.Errorf("one of them is foreign: %v\nwant %s", got, want)
	}
}

func TestResourcePolicies(t *testing.T) {
	l := newLandscape(t)
	ctx := t.Context()
	l.role(t, "r", "")
	l.role(t, "denied", statement("Deny", "sqs:*", "*"))
	l.role(t, "stranger", "")
	const arn = "arn:aws:sqs:eu-west-1:" + account + ":q"
	q, err := l.root.SQS.CreateQueue(ctx, &sqsapi.CreateQueueInput{QueueName: aws.String("q"), Attributes: map[string]string{"Policy": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Principal":{"AWS":["` + roleARN("r") + `","` + roleARN("denied") + `"]},"Action":"sqs:SendMessage","Resource":"` + arn + `"},
		{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sqs:*","Resource":"` + arn + `"}]}`}})
	must(t, err)
	send := func(role string) error {
		_, err := l.session(t, role).SQS.SendMessage(ctx, &sqsapi.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("x")})
		return err
	}
	if err := send("r"); err != nil {
		t.Errorf("the queue's policy names the role: %v", err)
	}
	if err := send("denied"); !deniedTo(err) {
		t.Errorf("the role's own deny does not win: %v", err)
	}
	if err := send("stranger"); !deniedTo(err) {
		t.Errorf("the account as principal is not its roles: %v", err)
	}
}

func TestRolesOverTheWire(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "r", statement("Allow", "iam:GetRole", roleARN("r")))
	c := l.session(t, "r")
	who, err := c.STS.GetCallerIdentity(t.Context(), &stsapi.GetCallerIdentityInput{}) // needs no permission
	must(t, err)
	if *who.Arn != "arn:aws:sts::"+account+":assumed-role/r/s1" {
		t.Errorf("caller is %s", *who.Arn)
	}
	_, err = c.IAM.GetRole(t.Context(), &api.GetRoleInput{RoleName: aws.String("r")})
	must(t, err)
	_, err = c.IAM.GetRole(t.Context(), &api.GetRoleInput{RoleName: aws.String("none")}) // not NoSuchEntity
	wantCode(t, err, "AccessDenied")
	_, err = l.as("ASIAX", "y").STS.GetCallerIdentity(t.Context(), &stsapi.GetCallerIdentityInput{})
	wantCode(t, err, "InvalidClientTokenId")
}

// Everything that the services of this package's landscape serve can be
// allowed to a role session.
func TestServedOperationsAreMapped(t *testing.T) {
	l := newLandscape(t)
	for _, s := range l.services {
		mapped := map[string]bool{}
		for _, op := range iam.Mapped(s.Name) {
			mapped[op] = true
		}
		for _, op := range s.Operations() {
			if !mapped[op] {
				t.Errorf("%s: %s is served, but has no IAM action", s.Name, op)
			}
		}
	}
}
