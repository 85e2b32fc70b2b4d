package policy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustParse(t interface{ Fatalf(string, ...any) }, kind Kind, text string) *Document {
	d, err := Parse(kind, text)
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return d
}

// doc wraps statements in an identity policy.
func doc(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

func TestEvaluate(t *testing.T) {
	const (
		table = "arn:aws:dynamodb:eu-west-1:111122223333:table/lock"
		allow = `{"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Update*"],"Resource":"arn:aws:dynamodb:*:*:table/lock"}`
		deny  = `{"Effect":"Deny","Action":"dynamodb:UpdateItem","Resource":"*"}`
	)
	for _, tc := range []struct {
		name             string
		policies         []string
		action, resource string
		want             Decision
	}{
		{"no policy denies", nil, "dynamodb:GetItem", table, ImplicitDeny},
		{"an allow allows", []string{doc(allow)}, "dynamodb:GetItem", table, Allowed},
		{"actions are compared without case", []string{doc(allow)}, "DynamoDB:getitem", table, Allowed},
		{"a wildcard in the action", []string{doc(allow)}, "dynamodb:UpdateTable", table, Allowed},
		{"another action", []string{doc(allow)}, "dynamodb:DeleteTable", table, ImplicitDeny},
		{"another resource", []string{doc(allow)}, "dynamodb:GetItem", table + "2", ImplicitDeny},
		{"resources are compared with case", []string{doc(allow)}, "dynamodb:GetItem", strings.Replace(table, "lock", "Lock", 1), ImplicitDeny},
		{"a deny wins inside a policy", []string{doc(allow, deny)}, "dynamodb:UpdateItem", table, ExplicitDeny},
		{"a deny wins whatever the order", []string{doc(deny), doc(allow)}, "dynamodb:UpdateItem", table, ExplicitDeny},
		{"a deny of something else does not matter", []string{doc(deny), doc(allow)}, "dynamodb:GetItem", table, Allowed},
		{"NotAction is everything else", []string{doc(`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`)}, "dynamodb:GetItem", table, Allowed},
		{"NotAction excludes", []string{doc(`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`)}, "iam:PassRole", table, ImplicitDeny},
		{"NotResource is everything else", []string{doc(`{"Effect":"Allow","Action":"*","NotResource":"arn:aws:dynamodb:*:*:table/other"}`)}, "dynamodb:GetItem", table, Allowed},
		{"NotResource excludes", []string{doc(`{"Effect":"Allow","Action":"*","NotResource":"arn:aws:dynamodb:*:*:table/l?ck"}`)}, "dynamodb:GetItem", table, ImplicitDeny},
		{"a wildcard stays in its part of the ARN", []string{doc(`{"Effect":"Allow","Action":"*","Resource":"arn:aws:*:table/lock:::"}`)}, "dynamodb:GetItem", table, ImplicitDeny},
		{"the last part of an ARN has colons of its own", []string{doc(`{"Effect":"Allow","Action":"*","Resource":"arn:aws:logs:*:*:*"}`)}, "logs:PutLogEvents", "arn:aws:logs:eu-west-1:111122223333:log-group:/g:log-stream:s", Allowed},
		{"an ARN with fewer parts", []string{doc(`{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::b"}`)}, "s3:GetObject", "arn:aws:s3", ImplicitDeny},
		{"a service that has no resource needs a star", []string{doc(`{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:instance/*"}`)}, "ec2:DescribeInstances", "*", ImplicitDeny},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var docs []*Document
			for _, p := range tc.policies {
				docs = append(docs, mustParse(t, Identity, p))
			}
			if got := Evaluate(Request{Action: tc.action, Resource: tc.resource}, docs...); got != tc.want {
				t.Errorf("decision is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	ctx := Context{}
	ctx.Set("aws:PrincipalTag/team", "db")
	ctx.Set("ec2:ResourceTag/team", "db")
	ctx.Set("aws:ResourceTag/star", "*")
	ctx.Set("aws:TagKeys", "a", "b")
	ctx.Set("aws:SourceIp", "10.1.2.3")
	ctx.Set("aws:CurrentTime", "2026-05-01T12:00:00Z")
	ctx.Set("n", "10")
	ctx.Set("aws:SecureTransport", "false")
	ctx.Set("aws:SourceArn", "arn:aws:cloudwatch:eu-west-1:111122223333:alarm:a:b")
	for condition, want := range map[string]bool{
		`"StringEquals":{"ec2:resourcetag/TEAM":"db"}`:                                 true, // keys have no case
		`"StringEquals":{"ec2:ResourceTag/team":["web","db"]}`:                         true, // values are alternatives
		`"StringEquals":{"ec2:ResourceTag/team":"DB"}`:                                 false,
		`"StringEquals":{"ec2:ResourceTag/team":"d*"}`:                                 false,
		`"StringEquals":{"ec2:ResourceTag/team":"db","n":"11"}`:                        false, // keys must all hold
		`"StringEquals":{"missing":"x"}`:                                               false,
		`"StringEqualsIfExists":{"missing":"x"}`:                                       true,
		`"StringEqualsIfExists":{"n":"x"}`:                                             false,
		`"StringNotEquals":{"aws:TagKeys":"a"}`:                                        false, // none of several values may match
		`"StringNotEquals":{"missing":"x"}`:                                            true,
		`"StringNotEquals":{"ec2:ResourceTag/team":["web","db"]}`:                      false,
		`"StringNotEquals":{"ec2:ResourceTag/team":["web","app"]}`:                     true,
		`"StringEqualsIgnoreCase":{"ec2:ResourceTag/team":"DB"}`:                       true,
		`"StringNotEqualsIgnoreCase":{"ec2:ResourceTag/team":"DB"}`:                    false,
		`"StringLike":{"ec2:ResourceTag/team":"?b"}`:                                   true,
		`"StringLike":{"ec2:ResourceTag/team":"?b?"}`:                                  false,
		`"StringNotLike":{"ec2:ResourceTag/team":"d*"}`:                                false,
		`"StringEquals":{"ec2:ResourceTag/team":"${aws:PrincipalTag/team}"}`:           true,
		`"StringEquals":{"ec2:ResourceTag/team":"${aws:PrincipalTag/none}"}`:           false,
		`"StringEquals":{"ec2:ResourceTag/team":"${aws:PrincipalTag/none, 'db'}"}`:     true,
		`"StringLike":{"ec2:ResourceTag/team":"${aws:ResourceTag/star}"}`:              false, // a value is no pattern
		`"StringLike":{"aws:ResourceTag/star":"${*}"}`:                                 true,
		`"StringLike":{"ec2:ResourceTag/team":"${*}"}`:                                 false,
		`"ForAllValues:StringEquals":{"aws:TagKeys":["a","b","c"]}`:                    true,
		`"ForAllValues:StringEquals":{"aws:TagKeys":["a"]}`:                            false,
		`"ForAllValues:StringEquals":{"missing":["a"]}`:                                true,
		`"ForAllValues:StringNotEquals":{"aws:TagKeys":["c"]}`:                         true,
		`"ForAllValues:StringNotEquals":{"aws:TagKeys":["b"]}`:                         false,
		`"ForAnyValue:StringEquals":{"aws:TagKeys":["b","c"]}`:                         true,
		`"ForAnyValue:StringEquals":{"aws:TagKeys":["c"]}`:                             false,
		`"ForAnyValue:StringEquals":{"missing":["c"]}`:                                 false,
		`"ForAnyValue:StringNotEquals":{"aws:TagKeys":["a"]}`:                          true,
		`"NumericEquals":{"n":"10.0"}`:                                                 true,
		`"NumericNotEquals":{"n":10}`:                                                  false,
		`"NumericLessThan":{"n":10}`:                                                   false,
		`"NumericLessThanEquals":{"n":10}`:                                             true,
		`"NumericGreaterThan":{"n":9}`:                                                 true,
		`"NumericGreaterThanEquals":{"n":11}`:                                          false,
		`"NumericEquals":{"aws:SourceIp":10}`:                                          false,
		`"DateLessThan":{"aws:CurrentTime":"2026-05-01T12:00:01Z"}`:                    true,
		`"DateGreaterThan":{"aws:CurrentTime":"2026-05-01T12:00:00Z"}`:                 false,
		`"DateGreaterThanEquals":{"aws:CurrentTime":"2026-05-01"}`:                     true,
		`"DateEquals":{"aws:CurrentTime":1777636800}`:                                  true,
		`"DateNotEquals":{"aws:CurrentTime":"2026-05-01T12:00Z"}`:                      false,
		`"DateLessThanEquals":{"aws:CurrentTime":"tomorrow"}`:                          false,
		`"Bool":{"aws:SecureTransport":false}`:                                         true,
		`"Bool":{"aws:SecureTransport":"true"}`:                                        false,
		`"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}`:                                    true,
		`"IpAddress":{"aws:SourceIp":["192.0.2.0/24","10.1.2.3"]}`:                     true,
		`"NotIpAddress":{"aws:SourceIp":"10.1.0.0/16"}`:                                false,
		`"ArnLike":{"aws:SourceArn":"arn:aws:cloudwatch:*:111122223333:alarm:a*"}`:     true,
		`"ArnEquals":{"aws:SourceArn":"arn:aws:cloudwatch:*:111122223333:alarm:a:b"}`:  true,
		`"ArnLike":{"aws:SourceArn":"arn:aws:*:111122223333:alarm:a:b"}`:               false,
		`"ArnNotLike":{"aws:SourceArn":"arn:aws:cloudwatch:*:111122223333:alarm:a:b"}`: false,
		`"ArnNotEquals":{"aws:SourceArn":"arn:aws:cloudwatch:*:*:alarm:c"}`:            true,
		`"Null":{"missing":true}`:                                                      true,
		`"Null":{"n":"true"}`:                                                          false,
		`"Null":{"n":false}`:                                                           true,
	} {
		t.Run(condition, func(t *testing.T) {
			d := mustParse(t, Identity, doc(`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{`+condition+`}}`))
			got := Evaluate(Request{Action: "a:B", Resource: "*", Context: ctx}, d) == Allowed
			if got != want {
				t.Errorf("holds: %v, want %v", got, want)
			}
		})
	}
}

func TestVariablesInResources(t *testing.T) {
	ctx := Context{}
	ctx.Set("aws:PrincipalTag/group", "orders")
	statement := `{"Effect":"Allow","Action":"*","Resource":"arn:aws:dynamodb:*:*:table/${aws:PrincipalTag/group}-*"}`
	r := Request{Action: "dynamodb:GetItem", Resource: "arn:aws:dynamodb:eu-west-1:111122223333:table/orders-1", Context: ctx}
	if got := Evaluate(r, mustParse(t, Identity, doc(statement))); got != Allowed {
		t.Errorf("decision is %v", got)
	}
	if got := Evaluate(r, mustParse(t, Identity, `{"Statement":[`+statement+`]}`)); got != ImplicitDeny {
		t.Errorf("version 2008-10-17 has no variables, yet the decision is %v", got)
	}
}

func TestPrincipals(t *testing.T) {
	const (
		account = "111122223333"
		role    = "arn:aws:iam::111122223333:role/r"
		session = "arn:aws:sts::111122223333:assumed-role/r/s"
	)
	for _, tc := range []struct {
		principal string
		who       Principal
		want      bool
	}{
		{`"Principal":"*"`, Principal{ARNs: []string{role}}, true},
		{`"Principal":{"AWS":"*"}`, Principal{Service: "lambda.amazonaws.com"}, true},
		{`"Principal":{"AWS":"` + role + `"}`, Principal{ARNs: []string{session, role}}, true},
		{`"Principal":{"AWS":"` + role + `2"}`, Principal{ARNs: []string{session, role}}, false},
		{`"Principal":{"AWS":"` + account + `"}`, Principal{ARNs: []string{role}, Account: account}, true},
		{`"Principal":{"AWS":"arn:aws:iam::` + account + `:root"}`, Principal{ARNs: []string{role}, Account: account}, true},
		{`"Principal":{"AWS":"` + account + `"}`, Principal{ARNs: []string{role}}, false}, // asked for direct mentions
		{`"Principal":{"Service":["ec2.amazonaws.com","lambda.amazonaws.com"]}`, Principal{Service: "lambda.amazonaws.com"}, true},
		{`"Principal":{"Service":"ec2.amazonaws.com"}`, Principal{Service: "lambda.amazonaws.com"}, false},
		{`"Principal":{"Federated":"cognito-identity.amazonaws.com"}`, Principal{ARNs: []string{role}, Account: account}, false},
		{`"NotPrincipal":{"AWS":"` + role + `"}`, Principal{ARNs: []string{role}}, false},
		{`"NotPrincipal":{"AWS":"` + role + `"}`, Principal{ARNs: []string{role + "2"}}, true},
	} {
		d := mustParse(t, Trust, doc(`{"Effect":"Allow",`+tc.principal+`,"Action":"sts:AssumeRole"}`))
		got := Evaluate(Request{Action: "sts:AssumeRole", Principal: tc.who}, d) == Allowed
		if got != tc.want {
			t.Errorf("%s for %+v: %v, want %v", tc.principal, tc.who, got, tc.want)
		}
	}
}

var (
	genAction   = rapid.SampledFrom([]string{"a:Get", "a:Put", "b:Get"})
	genResource = rapid.SampledFrom([]string{"arn:aws:a:r:1:x/1", "arn:aws:a:r:1:x/2", "arn:aws:b:r:1:y"})
)

func genStatement(effect string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		action := rapid.SampledFrom([]string{"*", "a:*", "a:Get", "a:P?t", "b:G?t"}).Draw(t, "action")
		resource := rapid.SampledFrom([]string{"*", "arn:aws:*:*:*:x/*", "arn:aws:a:r:1:x/?", "arn:aws:b:r:1:y"}).Draw(t, "resource")
		not := rapid.SampledFrom([]string{"", "Not"}).Draw(t, "not")
		return fmt.Sprintf(`{"Effect":%q,"%sAction":%q,"Resource":%q}`, effect, not, action, resource)
	})
}

func TestDenyAlwaysWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Request{Action: genAction.Draw(t, "action"), Resource: genResource.Draw(t, "resource")}
		statements := rapid.SliceOfN(genStatement("Allow"), 0, 4).Draw(t, "allows")
		at := rapid.IntRange(0, len(statements)).Draw(t, "at")
		deny := fmt.Sprintf(`{"Effect":"Deny","Action":%q,"Resource":%q}`, r.Action, r.Resource)
		statements = append(statements[:at:at], append([]string{deny}, statements[at:]...)...)
		if got := Evaluate(r, mustParse(t, Identity, doc(statements...))); got != ExplicitDeny {
			t.Fatalf("decision is %v", got)
		}
	})
}

func TestAnAllowNeverTakesAccessAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Request{Action: genAction.Draw(t, "action"), Resource: genResource.Draw(t, "resource")}
		base := []*Document{mustParse(t, Identity, doc(rapid.SliceOfN(rapid.OneOf(genStatement("Allow"), genStatement("Deny")), 1, 4).Draw(t, "statements")...))}
		before := Evaluate(r, base...)
		after := Evaluate(r, append(base, mustParse(t, Identity, doc(genStatement("Allow").Draw(t, "more"))))...)
		if before == Allowed && after != Allowed || before == ExplicitDeny && after != ExplicitDeny {
			t.Fatalf("%v became %v by an added allow", before, after)
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Request{Action: genAction.Draw(t, "action"), Resource: genResource.Draw(t, "resource")}
		statements := rapid.SliceOfN(rapid.OneOf(genStatement("Allow"), genStatement("Deny")), 1, 5).Draw(t, "statements")
		shuffled := rapid.Permutation(statements).Draw(t, "shuffled")
		if a, b := Evaluate(r, mustParse(t, Identity, doc(statements...))), Evaluate(r, mustParse(t, Identity, doc(shuffled...))); a != b {
			t.Fatalf("%v in one order, %v in another", a, b)
		}
	})
}
