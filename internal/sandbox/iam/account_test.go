package iam_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	sqsapi "github.com/aws/aws-sdk-go-v2/service/sqs"
	stsapi "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	sandbox "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sns"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sqs"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const (
	account     = world.DefaultAccount
	lambdaTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	ownTrust    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:root"},"Action":"sts:AssumeRole"}]}`
	logsPolicy  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}`
)

// caller has clients that sign with one set of credentials.
type caller struct {
	IAM *iam.Client
	STS *stsapi.Client
	SQS *sqsapi.Client
}

// landscape is a sandbox of IAM, STS and SQS that enforces policies.
type landscape struct {
	iam  *sandbox.IAM
	auth *sandbox.Authorizer
	url  string
	root caller

	services []*wire.Service
}

func newLandscape(t *testing.T) *landscape {
	t.Helper()
	w := world.New(clock.System())
	i, q := sandbox.New(w), sqs.New(w)
	w.Identity = i
	auth := i.Authorizer()
	auth.ResourcePolicy = func(_, _, arn string) string { return q.Policy(arn) }
	server := wire.NewServer(wire.Options{Identify: i.Identify, Authorize: auth.Authorize})
	services := []*wire.Service{i.Service(), sts.New(i).Service(), q.Service(), sns.New(w, q).Service()}
	for _, s := range services {
		server.Register(s)
	}
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	l := &landscape{iam: i, auth: auth, url: h.URL, services: services}
	l.root = l.as("test", "")
	return l
}

// as returns clients for an access key.
func (l *landscape) as(key, token string) caller {
	c := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &l.url, Credentials: credentials.NewStaticCredentialsProvider(key, "secret", token),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }, APIOptions: []func(*middleware.Stack) error{awsclient.PlainBody},
	}
	return caller{IAM: iam.NewFromConfig(c), STS: stsapi.NewFromConfig(c), SQS: sqsapi.NewFromConfig(c)}
}

// role makes a role that the account may assume, with an inline policy.
func (l *landscape) role(t *testing.T, name, policy string) {
	t.Helper()
	_, err := l.root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(ownTrust)})
	must(t, err)
	if policy != "" {
		_, err = l.root.IAM.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("p"), PolicyDocument: &policy})
		must(t, err)
	}
}

// session assumes a role.
func (l *landscape) session(t *testing.T, role string) caller {
	t.Helper()
	o, err := l.root.STS.AssumeRole(t.Context(), &stsapi.AssumeRoleInput{RoleArn: aws.String(roleARN(role)), RoleSessionName: aws.String("s1")})
	must(t, err)
	return l.as(*o.Credentials.AccessKeyId, *o.Credentials.SessionToken)
}

func roleARN(name string) string { return "arn:aws:iam::" + account + ":role/" + name }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode requires an API error.
func wantCode(t *testing.T, err error, code string) smithy.APIError {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code {
		t.Fatalf("error is %v, want %s", err, code)
	}
	return e
}

// deniedTo requires one of the codes of a refusal.
func deniedTo(err error) bool {
	var e smithy.APIError
	return errors.As(err, &e) && (e.ErrorCode() == "AccessDenied" || e.ErrorCode() == "AccessDeniedException")
}
