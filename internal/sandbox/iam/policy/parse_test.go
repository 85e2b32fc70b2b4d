package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := Parse(Resource, `{"Version":"2012-10-17","Id":"default","Statement":{
		"Sid":"alarm-1","Effect":"Allow","Principal":{"Service":"lambda.alarms.cloudwatch.amazonaws.com","AWS":["111122223333","arn:aws:iam::111122223333:role/r"]},
		"Action":"lambda:InvokeFunction","Resource":["arn:aws:lambda:eu-west-1:111122223333:function:f"],
		"Condition":{"NumericLessThan":{"aws:MultiFactorAuthAge":3600},"ForAnyValue:StringLikeIfExists":{"aws:TagKeys":["a*"]},"Bool":{"aws:SecureTransport":true}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &Document{Version: "2012-10-17", ID: "default", Statements: []Statement{{
		Sid: "alarm-1", Effect: Allow,
		Principal: &Principals{Service: []string{"lambda.alarms.cloudwatch.amazonaws.com"}, AWS: []string{"111122223333", "arn:aws:iam::111122223333:role/r"}},
		Action:    []string{"lambda:InvokeFunction"},
		Resource:  []string{"arn:aws:lambda:eu-west-1:111122223333:function:f"},
		Condition: []Condition{
			{Operator: Operator{Name: "Bool"}, Key: "aws:SecureTransport", Values: []string{"true"}},
			{Operator: Operator{Set: "ForAnyValue", Name: "StringLike", IfExists: true}, Key: "aws:TagKeys", Values: []string{"a*"}},
			{Operator: Operator{Name: "NumericLessThan"}, Key: "aws:MultiFactorAuthAge", Values: []string{"3600"}},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	const (
		head     = `{"Version":"2012-10-17","Statement":[`
		identity = `{"Effect":"Allow","Action":"s3:Get*","Resource":"*"`
	)
	for _, tc := range []struct {
		name string
		kind Kind
		text string
		want string
	}{
		{"no JSON", Identity, `{`, "Syntax errors"},
		{"a list", Identity, `[]`, "Syntax errors"},
		{"text after it", Identity, head + identity + `}]} x`, "Syntax errors"},
		{"a repeated key", Identity, `{"Version":"2012-10-17","Version":"2012-10-17","Statement":[` + identity + `}]}`, "Syntax errors"},
		{"an unknown field", Identity, head + identity + `,"Resources":"*"}]}`, "unknown field Resources"},
		{"another version", Identity, `{"Version":"2012-10-18","Statement":[` + identity + `}]}`, "version 2012-10-17"},
		{"no statement", Identity, head + `]}`, "Statement is missing"},
		{"an unknown effect", Identity, head + `{"Effect":"allow","Action":"s3:Get*","Resource":"*"}]}`, "must be Allow or Deny"},
		{"no action", Identity, head + `{"Effect":"Allow","Resource":"*"}]}`, "required field Action"},
		{"an action without vendor", Identity, head + `{"Effect":"Allow","Action":"GetItem","Resource":"*"}]}`, "prefaced by a vendor"},
		{"a vendor with a wildcard", Identity, head + `{"Effect":"Allow","Action":"dyn*:GetItem","Resource":"*"}]}`, "prefaced by a vendor"},
		{"action and its negation", Identity, head + identity + `,"NotAction":"s3:*"}]}`, "both Action and NotAction"},
		{"no resource", Identity, head + `{"Effect":"Allow","Action":"s3:Get*"}]}`, "must contain resources"},
		{"resource and its negation", Identity, head + identity + `,"NotResource":"*"}]}`, "both Resource and NotResource"},
		{"a resource that is no ARN", Identity, head + `{"Effect":"Allow","Action":"s3:Get*","Resource":"my-table"}]}`, `Resource my-table must be in ARN format or "*"`},
		{"an unknown operator", Identity, head + identity + `,"Condition":{"StringIs":{"a:b":"c"}}}]}`, "Invalid Condition type : StringIs"},
		{"a principal in an identity policy", Identity, head + identity + `,"Principal":"*"}]}`, "should not specify a principal"},
		{"the same Sid twice", Identity, head + identity + `,"Sid":"A"},` + identity + `,"Sid":"A"}]}`, "must be unique"},
		{"a Sid with a dash", Identity, head + identity + `,"Sid":"a-b"}]}`, "alpha-numeric"},
		{"no principal in a trust policy", Trust, head + `{"Effect":"Allow","Action":"sts:AssumeRole"}]}`, "required field Principal"},
		{"a resource in a trust policy", Trust, head + `{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole","Resource":"*"}]}`, "prohibited field Resource"},
		{"another service's action in a trust policy", Trust, head + `{"Effect":"Allow","Principal":"*","Action":"s3:GetObject"}]}`, "STS AssumeRole actions"},
		{"a principal that is no ARN", Trust, head + `{"Effect":"Allow","Principal":{"AWS":"bob"},"Action":"sts:AssumeRole"}]}`, "Invalid principal in policy"},
		{"a service without domain", Trust, head + `{"Effect":"Allow","Principal":{"Service":"lambda"},"Action":"sts:AssumeRole"}]}`, "Invalid principal in policy"},
		{"an unknown kind of principal", Trust, head + `{"Effect":"Allow","Principal":{"Service1":"x"},"Action":"sts:AssumeRole"}]}`, "Invalid principal in policy"},
		{"too long", Identity, strings.Repeat(" ", maxSize+1), "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse(tc.kind, tc.text)
			var m *Malformed
			if !errors.As(err, &m) || !strings.Contains(m.Reason, tc.want) {
				t.Errorf("Parse = %v, want a Malformed with %q", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:Get*","Resource":"*"}]}`)
	f.Add(`{"Statement":{"Effect":"Deny","NotAction":["a:b"],"NotResource":"arn:aws:s3:::${aws:userid}/?*","Condition":{"ForAllValues:StringLike":{"k":["${x, 'y'}","${"]}}}}`)
	f.Add(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"sts:AssumeRole","Condition":{"Null":{"a":true},"IpAddress":{"b":"10.0.0.0/8"},"DateLessThan":{"c":1}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Identity, Resource, Trust} {
			d, err := Parse(kind, text)
			if err != nil {
				var m *Malformed
				if !errors.As(err, &m) || m.Reason == "" {
					t.Fatalf("error %v is no reasoned Malformed", err)
				}
				continue
			}
			if len(d.Statements) == 0 {
				t.Fatal("accepted without a statement")
			}
			ctx := Context{}
			ctx.Set("k", "v", "*")
			Evaluate(Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::b/k", Context: ctx}, d)
		}
	})
}
