package sts_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/sts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const role = "arn:aws:iam::" + world.DefaultAccount + ":role/r"

// roles remembers what was asked for.
type roles struct{ asked world.RoleSession }

func (r *roles) AssumeRole(caller wire.Caller, want world.RoleSession) (world.Credentials, string, string, error) {
	r.asked = want
	if want.RoleARN != role {
		return world.Credentials{}, "", "", wire.Errorf("AccessDenied", "%s may not", caller.ARN).WithStatus(403)
	}
	return world.Credentials{AccessKey: "ASIA1", SecretKey: "secret", SessionToken: "token", Expiration: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
		"arn:aws:sts::" + world.DefaultAccount + ":assumed-role/r/" + want.Name, "AROA1:" + want.Name, nil
}

func client(t *testing.T, r *roles) *api.Client {
	t.Helper()
	server := wire.NewServer(wire.Options{Account: world.DefaultAccount})
	server.Register(sts.New(r).Service())
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	return api.New(api.Options{Region: "eu-west-1", BaseEndpoint: &h.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
}

func TestGetCallerIdentity(t *testing.T) {
	o, err := client(t, &roles{}).GetCallerIdentity(t.Context(), &api.GetCallerIdentityInput{})
	if err != nil {
		t.Fatal(err)
	}
	if *o.Account != world.DefaultAccount || *o.Arn != "arn:aws:iam::"+world.DefaultAccount+":root" || *o.UserId != world.DefaultAccount {
		t.Errorf("caller is %s %s %s", *o.Account, *o.Arn, *o.UserId)
	}
}

func TestAssumeRole(t *testing.T) {
	r := &roles{}
	o, err := client(t, r).AssumeRole(t.Context(), &api.AssumeRoleInput{
		RoleArn: aws.String(role), RoleSessionName: aws.String("deploy@ci"), ExternalId: aws.String("x:1"), DurationSeconds: aws.Int32(900), Policy: aws.String("{}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := world.RoleSession{RoleARN: role, Name: "deploy@ci", ExternalID: "x:1", Policy: "{}", Duration: 15 * time.Minute}
	if diff := cmp.Diff(want, r.asked); diff != "" {
		t.Error(diff)
	}
	if c := o.Credentials; *c.AccessKeyId != "ASIA1" || *c.SecretAccessKey != "secret" || *c.SessionToken != "token" || c.Expiration.Hour() != 12 {
		t.Errorf("credentials are %+v", c)
	}
	if !strings.HasSuffix(*o.AssumedRoleUser.Arn, ":assumed-role/r/deploy@ci") || *o.AssumedRoleUser.AssumedRoleId != "AROA1:deploy@ci" {
		t.Errorf("user is %+v", o.AssumedRoleUser)
	}
}

func TestAssumeRoleRefuses(t *testing.T) {
	c := client(t, &roles{})
	for name, tc := range map[string]struct {
		change func(*api.AssumeRoleInput)
		code   string
	}{
		"another role":              {func(in *api.AssumeRoleInput) { in.RoleArn = aws.String(role + "2") }, "AccessDenied"},
		"no ARN":                    {func(in *api.AssumeRoleInput) { in.RoleArn = aws.String("r") }, "ValidationError"},
		"a session name of one":     {func(in *api.AssumeRoleInput) { in.RoleSessionName = aws.String("x") }, "ValidationError"},
		"a session name of 65":      {func(in *api.AssumeRoleInput) { in.RoleSessionName = aws.String(strings.Repeat("x", 65)) }, "ValidationError"},
		"a session name with blank": {func(in *api.AssumeRoleInput) { in.RoleSessionName = aws.String("a b") }, "ValidationError"},
		"an external ID with blank": {func(in *api.AssumeRoleInput) { in.ExternalId = aws.String("a b") }, "ValidationError"},
		"less than 15 minutes":      {func(in *api.AssumeRoleInput) { in.DurationSeconds = aws.Int32(899) }, "ValidationError"},
		"more than 12 hours":        {func(in *api.AssumeRoleInput) { in.DurationSeconds = aws.Int32(43201) }, "ValidationError"},
	} {
		in := &api.AssumeRoleInput{RoleArn: aws.String(role), RoleSessionName: aws.String("session")}
		tc.change(in)
		var e smithy.APIError
		if _, err := c.AssumeRole(t.Context(), in); !errors.As(err, &e) || e.ErrorCode() != tc.code {
			t.Errorf("%s: %v, want %s", name, err, tc.code)
		}
	}
}
