package iam_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	sandbox "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// withRoles calls the IAM API without a network, for tests in virtual time.
func withRoles(t *testing.T, trust map[string]string) *sandbox.IAM {
	t.Helper()
	i := sandbox.New(world.New(clock.System()))
	for name, policy := range trust {
		must(t, i.CreateRole(account, &api.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &policy}))
	}
	return i
}

func TestIdentify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := withRoles(t, map[string]string{"fn": lambdaTrust})
		creds, err := i.ServiceSession(roleARN("fn"), "lambda.amazonaws.com", "orders")
		must(t, err)
		who, denied := i.Identify(creds.AccessKey, creds.SessionToken)
		if denied != nil || who.ARN != "arn:aws:sts::"+account+":assumed-role/fn/orders" || who.RoleARN != roleARN("fn") || who.Root || !strings.HasSuffix(who.UserID, ":orders") {
			t.Errorf("caller is %+v, %v", who, denied)
		}
		for name, tc := range map[string]struct{ key, token, code string }{
			"another token":               {creds.AccessKey, "other", "InvalidClientTokenId"},
			"no token":                    {creds.AccessKey, "", "InvalidClientTokenId"},
			"a session of somewhere else": {"ASIAEXAMPLE", "token", "InvalidClientTokenId"},
		} {
			if _, denied := i.Identify(tc.key, tc.token); denied == nil || denied.Code != tc.code {
				t.Errorf("%s: %v, want %s", name, denied, tc.code)
			}
		}
		time.Sleep(time.Until(creds.Expiration) - time.Second)
		if _, denied := i.Identify(creds.AccessKey, creds.SessionToken); denied != nil {
			t.Errorf("refused in the last second: %v", denied)
		}
		time.Sleep(time.Second)
		if _, denied := i.Identify(creds.AccessKey, creds.SessionToken); denied == nil || denied.Code != "ExpiredToken" || denied.Status != 403 {
			t.Errorf("after its end: %v, want ExpiredToken", denied)
		}
	})
}

func TestKeysOfNobodyAreRoot(t *testing.T) {
	i := sandbox.New(world.New(clock.System()))
	for key, want := range map[string]string{"test": account, "AKIAIOSFODNN7EXAMPLE": account, "333333333333": "333333333333", "33333333333x": account} {
		who, denied := i.Identify(key, "")
		if denied != nil || !who.Root || who.Account != want || who.ARN != "arn:aws:iam::"+want+":root" {
			t.Errorf("%s is %+v, %v", key, who, denied)
		}
	}
}

func TestServiceSessionNeedsTrust(t *testing.T) {
	i := withRoles(t, map[string]string{"fn": lambdaTrust})
	if _, err := i.ServiceSession(roleARN("fn"), "ec2.amazonaws.com", "i-1"); err == nil || !strings.Contains(err.Error(), "trust policy") {
		t.Errorf("EC2 assumed a role for Lambda: %v", err)
	}
	if _, err := i.ServiceSession(roleARN("none"), "lambda.amazonaws.com", "f"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a missing role was assumed: %v", err)
	}
}

func TestAssumeRole(t *testing.T) {
	const (
		other      = "444444444444"
		external   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"x1"}}}]}`
		byFirst    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:role/first"},"Action":"sts:AssumeRole"}]}`
		notByFirst = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sts:AssumeRole"},{"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::` + account + `:role/first"},"Action":"sts:AssumeRole"}]}`
	)
	i := withRoles(t, map[string]string{"first": ownTrust, "own": ownTrust, "external": external, "byfirst": byFirst, "notbyfirst": notByFirst})
	root, _ := i.Identify("test", "")
	stranger, _ := i.Identify(other, "")
	creds, _, _, err := i.AssumeRole(root, world.RoleSession{RoleARN: roleARN("first"), Name: "s"})
	must(t, err)
	first, _ := i.Identify(creds.AccessKey, creds.SessionToken)
	for _, tc := range []struct {
		name   string
		caller wire.Caller
		want   world.RoleSession
		code   string // "" = allowed
	}{
		{"root, trusted by account", root, world.RoleSession{RoleARN: roleARN("own"), Name: "s"}, ""},
		{"root of another account", stranger, world.RoleSession{RoleARN: roleARN("own"), Name: "s"}, "AccessDenied"},
		{"a missing role", root, world.RoleSession{RoleARN: roleARN("none"), Name: "s"}, "AccessDenied"},
		{"without the external ID", root, world.RoleSession{RoleARN: roleARN("external"), Name: "s"}, "AccessDenied"},
		{"with another external ID", root, world.RoleSession{RoleARN: roleARN("external"), Name: "s", ExternalID: "x2"}, "AccessDenied"},
		{"with the external ID", root, world.RoleSession{RoleARN: roleARN("external"), Name: "s", ExternalID: "x1"}, ""},
		{"a session trusted by account needs a policy of its own", first, world.RoleSession{RoleARN: roleARN("own"), Name: "s"}, "AccessDenied"},
		{"a session trusted by name needs none", first, world.RoleSession{RoleARN: roleARN("byfirst"), Name: "s"}, ""},
		{"a session that is denied by name", first, world.RoleSession{RoleARN: roleARN("notbyfirst"), Name: "s"}, "AccessDenied"},
		{"longer than the role allows", root, world.RoleSession{RoleARN: roleARN("own"), Name: "s", Duration: 2 * time.Hour}, "ValidationError"},
		{"chaining for more than an hour", first, world.RoleSession{RoleARN: roleARN("byfirst"), Name: "s", Duration: 61 * time.Minute}, "ValidationError"},
		{"a session policy that is broken", root, world.RoleSession{RoleARN: roleARN("own"), Name: "s", Policy: "{"}, "MalformedPolicyDocument"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, arn, _, err := i.AssumeRole(tc.caller, tc.want)
			switch {
			case tc.code == "" && (err != nil || !strings.Contains(arn, ":assumed-role/")):
				t.Errorf("refused: %v", err)
			case tc.code != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.code)):
				t.Errorf("error is %v, want %s", err, tc.code)
			}
		})
	}
}

func TestRoleChaining(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "first", "")
	l.role(t, "forbidden", statement("Deny", "sts:*", "*"))
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["` + account + `","` + roleARN("first") + `","` + roleARN("forbidden") + `"]},"Action":"sts:AssumeRole"}]}`
	must(t, l.iam.CreateRole(account, &api.CreateRoleInput{RoleName: str("second"), AssumeRolePolicyDocument: &trust, MaxSessionDuration: seconds(7200)}))
	for _, tc := range []struct {
		name, role string // "" = root
		length     time.Duration
		code       string
	}{
		{"the role's maximum", "", 2 * time.Hour, ""},
		{"an hour for a session", "first", time.Hour, ""},
		{"more than an hour for a session", "first", time.Hour + time.Second, "ValidationError"},
		{"the session's own deny wins over the trust", "forbidden", time.Hour, "AccessDenied"},
	} {
		caller, _ := l.iam.Identify("test", "")
		if tc.role != "" {
			caller = l.request(t, tc.role, world.RoleSession{}, "sts", "AssumeRole").Caller
		}
		_, _, _, err := l.iam.AssumeRole(caller, world.RoleSession{RoleARN: roleARN("second"), Name: "s", Duration: tc.length})
		if (tc.code == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), tc.code) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.code)
		}
	}
}

func str(s string) *string { return &s }

func seconds(n int32) *int32 { return &n }

func TestCheckPassRole(t *testing.T) {
	l := newLandscape(t)
	l.role(t, "deployer", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:PassRole","Resource":"`+roleARN("fn")+`","Condition":{"StringEquals":{"iam:PassedToService":"lambda.amazonaws.com"}}}]}`)
	session := "arn:aws:sts::" + account + ":assumed-role/deployer/s1"
	for _, tc := range []struct {
		caller, role, service string
		ok                    bool
	}{
		{"arn:aws:iam::" + account + ":root", roleARN("any"), "ec2.amazonaws.com", true},
		{session, roleARN("fn"), "lambda.amazonaws.com", true},
		{session, roleARN("fn"), "ec2.amazonaws.com", false},
		{session, roleARN("other"), "lambda.amazonaws.com", false},
		{"arn:aws:sts::" + account + ":assumed-role/nobody/s1", roleARN("fn"), "lambda.amazonaws.com", false},
	} {
		if err := l.iam.CheckPassRole(tc.caller, tc.role, tc.service); (err == nil) != tc.ok {
			t.Errorf("%s passes %s to %s: %v", tc.caller, tc.role, tc.service, err)
		}
	}
}
