package iam_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	api "github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// TestExecutionRoles: a schedule may do what its role may, if the role trusts
// the scheduler.
func TestExecutionRoles(t *testing.T) {
	const (
		scheduler = "scheduler.amazonaws.com"
		group     = "arn:aws:scheduler:eu-west-1:" + account + ":schedule-group/g"
		function  = "arn:aws:lambda:eu-west-1:" + account + ":function:f"
		trust     = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"scheduler.amazonaws.com"},"Action":"sts:AssumeRole","Condition":{"ArnLike":{"aws:SourceArn":"` + group + `"},"StringEquals":{"aws:SourceAccount":"` + account + `"}}}]}`
	)
	l := newLandscape(t)
	for name, doc := range map[string]string{"run": trust, "fn": lambdaTrust} {
		_, err := l.root.IAM.CreateRole(t.Context(), &api.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &doc})
		must(t, err)
	}
	_, err := l.root.IAM.PutRolePolicy(t.Context(), &api.PutRolePolicyInput{RoleName: aws.String("run"), PolicyName: aws.String("p"), PolicyDocument: aws.String(statement("Allow", "lambda:InvokeFunction", function))})
	must(t, err)
	for _, tc := range []struct {
		role, service, source string
		assumable             bool
	}{
		{"run", scheduler, group, true},
		{"run", scheduler, group + "2", false},
		{"run", "events.amazonaws.com", group, false},
		{"fn", scheduler, group, false},
		{"none", scheduler, group, false},
	} {
		if err := l.iam.Assumable(roleARN(tc.role), tc.service, tc.source); (err == nil) != tc.assumable {
			t.Errorf("%s assumes %s for %s: %v", tc.service, tc.role, tc.source, err)
		}
		if err := l.iam.Permit(roleARN(tc.role), tc.service, tc.source, "lambda:InvokeFunction", function); (err == nil) != tc.assumable {
			t.Errorf("%s invokes as %s for %s: %v", tc.service, tc.role, tc.source, err)
		}
	}
	for action, resource := range map[string]string{"lambda:InvokeFunction": function + "2", "lambda:DeleteFunction": function} {
		if err := l.iam.Permit(roleARN("run"), scheduler, group, action, resource); err == nil {
			t.Errorf("%s on %s is permitted", action, resource)
		}
	}
}

// TestAuthorizeEventBridge: what a rule, a target and an event need.
func TestAuthorizeEventBridge(t *testing.T) {
	const base = "arn:aws:events:eu-west-1:" + account + ":"
	l := newLandscape(t)
	l.role(t, "r", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["events:PutRule","events:PutTargets"],"Resource":["`+base+`rule/own*","`+base+`rule/bus/own"]},
		{"Effect":"Allow","Action":"events:PutEvents","Resource":"`+base+`event-bus/bus"},
		{"Effect":"Allow","Action":"iam:PassRole","Resource":"`+roleARN("target")+`","Condition":{"StringEquals":{"iam:PassedToService":"events.amazonaws.com"}}}]}`)
	target := func(role string) []ebtypes.Target {
		return []ebtypes.Target{{Id: aws.String("1"), Arn: aws.String("a"), RoleArn: aws.String(role)}}
	}
	for _, tc := range []struct {
		name, operation string
		input           any
		ok              bool
	}{
		{"its rule", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own1")}, true},
		{"another's rule", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("other")}, false},
		{"a rule of a bus", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own"), EventBusName: aws.String("bus")}, true},
		{"a bus by its ARN", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own"), EventBusName: aws.String(base + "event-bus/bus")}, true},
		{"a rule of another bus", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own"), EventBusName: aws.String("bus2")}, false},
		{"the default bus by name", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own"), EventBusName: aws.String("default")}, true},
		{"tags without permission", "PutRule", &eventbridge.PutRuleInput{Name: aws.String("own"), Tags: []ebtypes.Tag{{Key: aws.String("k"), Value: aws.String("v")}}}, false},
		{"a target with a role to pass", "PutTargets", &eventbridge.PutTargetsInput{Rule: aws.String("own"), Targets: target(roleARN("target"))}, true},
		{"a target with another role", "PutTargets", &eventbridge.PutTargetsInput{Rule: aws.String("own"), Targets: target(roleARN("admin"))}, false},
		{"an event for its bus", "PutEvents", &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{Source: aws.String("s"), EventBusName: aws.String("bus")}}}, true},
		{"an event for the default bus", "PutEvents", &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{Source: aws.String("s"), EventBusName: aws.String("bus")}, {Source: aws.String("s")}}}, false},
		{"an operation on nothing it may", "DescribeEventBus", &eventbridge.DescribeEventBusInput{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			denied := l.auth.Authorize(l.request(t, "r", world.RoleSession{}, "events", tc.operation), tc.input)
			if (denied == nil) != tc.ok {
				t.Errorf("denied: %v, want allowed %t", denied, tc.ok)
			}
		})
	}
}
