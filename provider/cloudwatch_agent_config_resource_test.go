package provider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
)

const agentConfigAddress = "hadr_cloudwatch_agent_config.this"

func agentConfig(rest string) string {
	return sprintf(`
resource "hadr_cloudwatch_agent_config" "this" {
  name = "AmazonCloudWatch-hadr-orders"
  %s
}`, rest)
}

func agentConfigIs(attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(agentConfigAddress, tfjsonpath.New(attribute), want)
}

// The life of a configuration: made, imported, changed in place, set right when
// somebody changes or deletes it by hand, and gone at the end.
func TestCloudWatchAgentConfig(t *testing.T) {
	a := startAWS(t)
	name := aws.String("AmazonCloudWatch-hadr-orders")
	byHand := func(value string) func() {
		return func() {
			_, err := a.ssm.PutParameter(t.Context(), &ssm.PutParameterInput{Name: name, Value: &value, Overwrite: aws.Bool(true)})
			must(t, err)
		}
	}
	config := func(processes ...string) string { // as the CloudWatch agent reads it
		text := `{"metrics":{"namespace":"CWAgent","append_dimensions":{"InstanceId":"${aws:InstanceId}"},"aggregation_dimensions":[["InstanceId"]],"force_flush_interval":5,"metrics_collected":{"procstat":[`
		for i, p := range processes {
			text += strings.Repeat(",", min(i, 1)) + `{"exe":"` + p + `","measurement":["pid_count"],"metrics_collection_interval":10}`
		}
		return text + `]}}}`
	}
	slow := strings.Replace(config("^db2sysc$"), `"force_flush_interval":5`, `"force_flush_interval":60`, 1)
	two := agentConfig(`processes = ["^db2sysc$", "^db2fmp$"]` + "\n  tags = { app = \"orders\" }")
	version := func(n int64) statecheck.StateCheck {
		return agentConfigIs("parameter_version", knownvalue.Int64Exact(n))
	}
	value := func(text string) statecheck.StateCheck { return agentConfigIs("value", knownvalue.StringExact(text)) }
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{Config: agentConfig(""), ConfigStateChecks: []statecheck.StateCheck{
				value(config("^db2sysc$")), version(1),
				agentConfigIs("arn", knownvalue.StringExact("arn:aws:ssm:eu-central-1:123456789012:parameter/AmazonCloudWatch-hadr-orders")),
				agentConfigIs("metric_name", knownvalue.StringExact("procstat_lookup_pid_count")),
			}},
			{PreConfig: byHand(slow), Config: agentConfig(""), ConfigPlanChecks: updates(agentConfigAddress), ConfigStateChecks: []statecheck.StateCheck{
				agentConfigIs("flush_interval_seconds", knownvalue.Int64Exact(5)), version(3)}},
			{PreConfig: byHand(`{"metrics":{}}`), Config: two, ConfigPlanChecks: updates(agentConfigAddress), ConfigStateChecks: []statecheck.StateCheck{
				value(config("^db2fmp$", "^db2sysc$")), version(5), agentConfigIs("tags_all", knownvalue.MapSizeExact(1))}},
			{ResourceName: agentConfigAddress, ImportState: true, ImportStateVerify: true},
			{PreConfig: func() {
				_, err := a.ssm.DeleteParameter(t.Context(), &ssm.DeleteParameterInput{Name: name})
				must(t, err)
			}, Config: two, ConfigStateChecks: []statecheck.StateCheck{version(1)}},
		},
	})
	left, err := a.ssm.DescribeParameters(t.Context(), &ssm.DescribeParametersInput{})
	must(t, err)
	if len(left.Parameters) > 0 {
		t.Errorf("%d parameters are left", len(left.Parameters))
	}
}

func TestCloudWatchAgentConfigIsChecked(t *testing.T) {
	a := startAWS(t)
	_, err := a.ssm.PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String("theirs"), Value: aws.String("x"), Type: "String"})
	must(t, err)
	tests := map[string]struct{ config, says string }{
		"more than a parameter holds": {agentConfig(`processes = [for i in range(60) : "^a-rather-long-name-of-a-process-${i}$"]`),
			`(?s)has\s+\d{4}\s+bytes.*4096.*parameter-store-advanced-parameters.html`},
		"a parameter that somebody has": {strings.Replace(agentConfig(""), "AmazonCloudWatch-hadr-orders", "theirs", 1), `(?s)ParameterAlreadyExists.*terraform import`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{{Config: tt.config, ExpectError: regexp.MustCompile(tt.says)}}})
		})
	}
	kept, err := a.ssm.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("theirs")})
	must(t, err)
	if aws.ToString(kept.Parameter.Value) != "x" {
		t.Error("somebody else's parameter was overwritten")
	}
}

// What the host policy lets a host do for its CloudWatch agent: to read this
// configuration and no other, and to publish where its alarm looks.
func TestHostMayRunTheCloudWatchAgent(t *testing.T) {
	a := startAWS(t)
	role := aws.String("db2-hosts")
	_, err := a.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"}]}`)})
	must(t, err)
	_, err = a.ssm.PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String("AmazonCloudWatch-other"), Value: aws.String("x"), Type: "String"})
	must(t, err)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config: agentConfig("") + hostPolicyConfig("db2-hosts", `groups = ["orders"]
  cloudwatch_agent_config_arn = hadr_cloudwatch_agent_config.this.arn`),
			Check: func(*terraform.State) error {
				host := a.as(t, "db2-hosts")
				for name, want := range map[string]string{"AmazonCloudWatch-hadr-orders": "", "AmazonCloudWatch-other": "AccessDeniedException"} {
					_, err := ssm.NewFromConfig(host).GetParameter(t.Context(), &ssm.GetParameterInput{Name: &name, WithDecryption: aws.Bool(true)})
					wantCode(t, "reading "+name, err, want)
				}
				for namespace, want := range map[string]string{"CWAgent": "", "HADR": "", "AWS/Other": "AccessDenied"} {
					_, err := cloudwatch.NewFromConfig(host).PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: &namespace,
						MetricData: []cw.MetricDatum{{MetricName: aws.String("procstat_lookup_pid_count"), Value: aws.Float64(1)}}})
					wantCode(t, "publishing in "+namespace, err, want)
				}
				return nil
			},
		}},
	})
}

// as returns the configuration of a client that has taken a role.
func (a *testAWS) as(t *testing.T, role string) aws.Config {
	t.Helper()
	out, err := a.sts.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/" + role), RoleSessionName: aws.String("test")})
	must(t, err)
	c := out.Credentials
	return aws.Config{Region: testRegion, BaseEndpoint: &a.url,
		Credentials: credentials.NewStaticCredentialsProvider(aws.ToString(c.AccessKeyId), aws.ToString(c.SecretAccessKey), aws.ToString(c.SessionToken))}
}

// wantCode checks the code of an error, "" for none.
func wantCode(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := awsclient.Code(err); got != want || want == "" && err != nil {
		t.Errorf("%s: error is %v, want code %q", what, err, want)
	}
}
