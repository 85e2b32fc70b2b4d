package provider

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var update = flag.Bool("update", false, "write the golden files")

func policies(t *testing.T) map[string]policy {
	t.Helper()
	scope := functionScope{
		Partition: "aws", Region: "eu-central-1", Account: "123456789012",
		TableARN:    "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr",
		LogGroupARN: "arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/hadr-takeover",
		Instances:   []string{"i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb"},
		Checkers:    []string{"i-0cccccccccccccccc"},
		RouteTables: []string{"rtb-0aaaaaaaaaaaaaaaa", "rtb-0bbbbbbbbbbbbbbbb"},
		Documents:   []string{"hadr-status", "hadr-takeover"},
	}
	isolating := scope
	isolating.IsolationGroup, isolating.Interfaces = "sg-0aaaaaaaaaaaaaaaa", []string{"eni-0aaaaaaaaaaaaaaaa", "eni-0bbbbbbbbbbbbbbbb"}
	encrypted := scope
	encrypted.TableKey = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"
	encrypted.VolumeKeys = []string{"arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000002"}
	withQueue := scope
	withQueue.FailureDestination = "arn:aws:sqs:eu-central-1:123456789012:lost"
	telling := scope
	telling.Topics = []string{"arn:aws:sns:eu-central-1:123456789012:on-call", "arn:aws:sns:eu-west-1:123456789012:managers"}
	var diags diag.Diagnostics
	host := hostPolicyModel{
		TableARN: types.StringValue(scope.TableARN), Namespace: types.StringValue("HADR"), Groups: tfSet([]string{"orders", "stock"}),
		FunctionARN: types.StringValue("arn:aws:lambda:eu-central-1:123456789012:function:hadr-takeover"),
	}.document(t.Context(), &diags)
	agent := hostPolicyModel{
		TableARN: types.StringValue(scope.TableARN), Namespace: types.StringValue("HADR"), Groups: tfSet([]string{"orders"}),
		AgentConfig: types.StringValue("arn:aws:ssm:eu-central-1:123456789012:parameter/AmazonCloudWatch-hadr-orders"), AgentSpace: types.StringValue("CWAgent"),
	}.document(t.Context(), &diags)
	keyed := hostPolicyModel{
		TableARN: types.StringValue(scope.TableARN), TableKeyARN: types.StringValue(encrypted.TableKey), Namespace: types.StringValue("HADR"), Groups: tfSet([]string{"orders"}),
	}.document(t.Context(), &diags)
	if diags.HasError() {
		t.Fatal(diags)
	}
	return map[string]policy{
		"takeover": takeoverPolicy(scope), "takeover-with-queue": takeoverPolicy(withQueue), "takeover-with-isolation": takeoverPolicy(isolating), "takeover-with-topics": takeoverPolicy(telling), "watch": watchPolicy(scope),
		"schedule": schedulePolicy("arn:aws:lambda:eu-central-1:123456789012:function:hadr-watch"),
		"trust":    assumeByLambda(), "schedule-trust": assumeByScheduler("123456789012"), "host": host,
		"host-with-cloudwatch-agent": agent, "takeover-with-kms-keys": takeoverPolicy(encrypted), "host-with-kms-key": keyed,
	}
}

func TestPoliciesAreAsReviewed(t *testing.T) {
	for name, p := range policies(t) {
		got, err := json.MarshalIndent(p, "", "  ")
		must(t, err)
		file := filepath.Join("testdata", "policy-"+name+".json")
		if *update {
			must(t, os.WriteFile(file, append(got, '\n'), 0o600))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if d := cmp.Diff(strings.TrimSpace(string(want)), string(got)); d != "" {
			t.Errorf("%s differs from %s (-want +got):\n%s\nRun with -update if that is meant.", name, file, d)
		}
	}
}

// withoutResourceType are the actions for which AWS's service authorization
// reference lists no resource type. cloudwatch:DescribeAlarms has one, but
// composite alarms are described with "*" only.
var withoutResourceType = []string{
	"cloudwatch:DescribeAlarms", "cloudwatch:PutMetricData",
	"ec2:DescribeInstanceStatus", "ec2:DescribeInstances", "ec2:DescribeNetworkInterfaces", "ec2:DescribeRouteTables",
	"ssm:CancelCommand", "ssm:GetCommandInvocation", "ssm:ListCommands",
}

func TestPoliciesNameTheirResources(t *testing.T) {
	free := map[string]bool{}
	for _, a := range withoutResourceType {
		free[a] = true
	}
	for name, p := range policies(t) {
		for _, s := range p.Statement {
			for _, action := range s.Action {
				if strings.Contains(action, "*") {
					t.Errorf("%s/%s allows %s", name, s.Sid, action)
				}
				for _, r := range s.Resource {
					if r == "*" && !free[action] {
						t.Errorf("%s/%s allows %s on every resource", name, s.Sid, action)
					}
				}
			}
		}
	}
}

func TestStatementsWithoutResourcesAreDropped(t *testing.T) {
	p := takeoverPolicy(functionScope{Partition: "aws", Region: "r", Account: "1", TableARN: "t", LogGroupARN: "l"})
	for _, s := range p.Statement {
		if len(s.Resource) == 0 {
			t.Errorf("statement %q names no resource: IAM refuses the policy", s.Sid)
		}
	}
}

func TestParseInvokersReadsItsOwnStatementsOnly(t *testing.T) {
	text := `{"Version":"2012-10-17","Statement":[
	 {"Sid":"` + statementID("orders-a-failed") + `","Principal":{"Service":"lambda.alarms.cloudwatch.amazonaws.com"},"Condition":{"StringEquals":{"AWS:SourceAccount":"1"},"ArnLike":{"AWS:SourceArn":"arn:aws:cloudwatch:r:1:alarm:orders-a-failed"}}},
	 {"Sid":"by-hand","Principal":{"Service":"lambda.alarms.cloudwatch.amazonaws.com"},"Condition":{"ArnLike":{"AWS:SourceArn":"arn:aws:cloudwatch:r:1:alarm:other"}}},
	 {"Sid":"topic","Principal":{"Service":"sns.amazonaws.com"},"Condition":{"ArnLike":{"AWS:SourceArn":"arn:aws:sns:r:1:topic"}}}]}`
	got, err := parseInvokers(text)
	must(t, err)
	if d := cmp.Diff([]string{"orders-a-failed"}, got); d != "" {
		t.Error(d)
	}
}
