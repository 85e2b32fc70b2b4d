package sandbox_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

// start runs a sandbox in process.
func start(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	o.Dir = t.TempDir()
	s, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// An operation without an IAM action is denied to every function and host.
func TestEveryServedOperationHasAnAction(t *testing.T) {
	services := start(t, sandbox.Options{}).Server.Services()
	if len(services) < 10 {
		t.Fatalf("only %d services are registered", len(services))
	}
	for _, service := range services {
		mapped := iam.Mapped(service.Name)
		if len(service.Operations()) == 0 {
			t.Errorf("%s serves nothing", service.Name)
		}
		for _, operation := range service.Operations() {
			if !slices.Contains(mapped, operation) {
				t.Errorf("%s: %s is served, but has no IAM action", service.Name, operation)
			}
		}
	}
}

const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com","AWS":"*"},"Action":"sts:AssumeRole"}]}`

// role makes a role that may do what policy says.
func role(t *testing.T, cfg aws.Config, name, policy string) string {
	t.Helper()
	c := iamapi.NewFromConfig(cfg)
	r := must[*iamapi.CreateRoleOutput](t)(c.CreateRole(t.Context(), &iamapi.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(trust)}))
	must[*iamapi.PutRolePolicyOutput](t)(c.PutRolePolicy(t.Context(), &iamapi.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("p"), PolicyDocument: &policy}))
	return *r.Role.Arn
}

// archive is the smallest deployment package that Lambda takes.
func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w := must[io.Writer](t)(z.Create("bootstrap"))
	must[int](t)(w.Write([]byte("#!/bin/sh\n")))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFunctionInProcess: a function that runs in process writes, with the
// credentials of its role, into a table of the same sandbox, and is called
// through its URL.
func TestFunctionInProcess(t *testing.T) { synctest.Test(t, testFunctionInProcess) }

func testFunctionInProcess(t *testing.T) {
	ctx := t.Context()
	var s *sandbox.Sandbox
	s = start(t, sandbox.Options{Functions: map[string]lambda.Handler{
		"writer": func(ctx context.Context, c lambda.Call) ([]byte, error) {
			cfg := s.Config(c.Env["AWS_REGION"])
			cfg.Credentials = credentials.NewStaticCredentialsProvider(c.Credentials.AccessKey, c.Credentials.SecretKey, c.Credentials.SessionToken)
			_, err := dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: map[string]ddbtypes.AttributeValue{
				"pk": &ddbtypes.AttributeValueMemberS{Value: "seen"}, "event": &ddbtypes.AttributeValueMemberS{Value: string(c.Event)}}})
			return []byte(`{"ok":true}`), err
		},
	}})
	cfg := s.Config("eu-central-1")
	tables := dynamodb.NewFromConfig(cfg)
	must[*dynamodb.CreateTableOutput](t)(tables.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("events"), BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}}, KeySchema: []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}}))
	arn := role(t, cfg, "writer", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"dynamodb:PutItem","Resource":"arn:aws:dynamodb:eu-central-1:*:table/events"}]}`)
	functions := lambdaapi.NewFromConfig(cfg)
	name := aws.String("writer")
	must[*lambdaapi.CreateFunctionOutput](t)(functions.CreateFunction(ctx, &lambdaapi.CreateFunctionInput{FunctionName: name, Role: &arn, Runtime: lambdatypes.RuntimeProvidedal2023,
		Handler: name, Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}}))
	if err := lambdaapi.NewFunctionActiveV2Waiter(functions).Wait(ctx, &lambdaapi.GetFunctionInput{FunctionName: name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	url := must[*lambdaapi.CreateFunctionUrlConfigOutput](t)(functions.CreateFunctionUrlConfig(ctx, &lambdaapi.CreateFunctionUrlConfigInput{FunctionName: name, AuthType: lambdatypes.FunctionUrlAuthTypeNone}))
	must[*lambdaapi.AddPermissionOutput](t)(functions.AddPermission(ctx, &lambdaapi.AddPermissionInput{FunctionName: name, StatementId: aws.String("all"), Action: aws.String("lambda:InvokeFunctionUrl"),
		Principal: aws.String("*"), FunctionUrlAuthType: lambdatypes.FunctionUrlAuthTypeNone}))
	must[*lambdaapi.AddPermissionOutput](t)(functions.AddPermission(ctx, &lambdaapi.AddPermissionInput{FunctionName: name, StatementId: aws.String("url"), Action: aws.String("lambda:InvokeFunction"),
		Principal: aws.String("*"), InvokedViaFunctionUrl: aws.Bool(true)}))

	request := must[*http.Request](t)(http.NewRequestWithContext(ctx, http.MethodGet, *url.FunctionUrl+"hello?a=1", nil))
	response := must[*http.Response](t)(cfg.HTTPClient.(*http.Client).Do(request))
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), "true") {
		t.Fatalf("the URL answers %d %s %v", response.StatusCode, body, err)
	}
	item := must[*dynamodb.GetItemOutput](t)(tables.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "seen"}}}))
	if event, ok := item.Item["event"].(*ddbtypes.AttributeValueMemberS); !ok || !strings.Contains(event.Value, `"rawPath":"/hello"`) {
		t.Errorf("the function stored %v", item.Item)
	}
}

// TestTagsDecide: conditions on tags see the tags of functions and instances.
func TestTagsDecide(t *testing.T) { synctest.Test(t, testTagsDecide) }

func testTagsDecide(t *testing.T) {
	ctx := t.Context()
	s := start(t, sandbox.Options{})
	cfg := s.Config("eu-central-1")
	arn := role(t, cfg, "tagged", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["lambda:GetFunction","ec2:StopInstances"],"Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"db"}}}]}`)
	session := must[*sts.AssumeRoleOutput](t)(sts.NewFromConfig(cfg).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: &arn, RoleSessionName: aws.String("tagged")}))
	as := s.Config("eu-central-1")
	as.Credentials = credentials.NewStaticCredentialsProvider(*session.Credentials.AccessKeyId, *session.Credentials.SecretAccessKey, *session.Credentials.SessionToken)

	network := ec2.NewFromConfig(cfg)
	vpc := must[*ec2.CreateVpcOutput](t)(network.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}))
	subnet := must[*ec2.CreateSubnetOutput](t)(network.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.0.0.0/24")}))
	for team, allowed := range map[string]bool{"db": true, "web": false} {
		must[*lambdaapi.CreateFunctionOutput](t)(lambdaapi.NewFromConfig(cfg).CreateFunction(ctx, &lambdaapi.CreateFunctionInput{FunctionName: &team, Role: &arn, Runtime: lambdatypes.RuntimeProvidedal2023,
			Handler: aws.String("h"), Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}, Tags: map[string]string{"team": team}}))
		if _, err := lambdaapi.NewFromConfig(as).GetFunction(ctx, &lambdaapi.GetFunctionInput{FunctionName: &team}); (err == nil) != allowed {
			t.Errorf("GetFunction of team %s: %v", team, err)
		}
		run := must[*ec2.RunInstancesOutput](t)(network.RunInstances(ctx, &ec2.RunInstancesInput{ImageId: aws.String("ami-0123456789abcdef0"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: subnet.Subnet.SubnetId,
			TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{{Key: aws.String("team"), Value: &team}}}}}))
		ids := []string{*run.Instances[0].InstanceId}
		if err := ec2.NewInstanceRunningWaiter(network, func(o *ec2.InstanceRunningWaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, time.Second }).Wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := ec2.NewFromConfig(as).StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids}); (err == nil) != allowed {
			t.Errorf("StopInstances of team %s: %v", team, err)
		}
	}
}

// TestAlarmMovesDNS: the data behind an alarm turns a health check, and the
// health check the answer for a name. The alarm's state itself does not.
func TestAlarmMovesDNS(t *testing.T) { synctest.Test(t, testAlarmMovesDNS) }

func testAlarmMovesDNS(t *testing.T) {
	ctx := t.Context()
	s := start(t, sandbox.Options{})
	metrics, zones := cloudwatch.NewFromConfig(s.Config("eu-west-1")), route53.NewFromConfig(s.Config("us-east-1"))
	must[*cloudwatch.PutMetricAlarmOutput](t)(metrics.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("slow"), Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"),
		Statistic: cwtypes.StatisticMaximum, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(2), Threshold: aws.Float64(100), ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold}))
	check := must[*route53.CreateHealthCheckOutput](t)(zones.CreateHealthCheck(ctx, &route53.CreateHealthCheckInput{CallerReference: aws.String("slow"), HealthCheckConfig: &r53types.HealthCheckConfig{
		Type: r53types.HealthCheckTypeCloudwatchMetric, InsufficientDataHealthStatus: r53types.InsufficientDataHealthStatusHealthy, AlarmIdentifier: &r53types.AlarmIdentifier{Name: aws.String("slow"), Region: r53types.CloudWatchRegionEuWest1}}}))
	zone := must[*route53.CreateHostedZoneOutput](t)(zones.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{Name: aws.String("example.com"), CallerReference: aws.String("z")}))
	var changes []r53types.Change
	for ip, role := range map[string]r53types.ResourceRecordSetFailover{"10.0.0.1": r53types.ResourceRecordSetFailoverPrimary, "10.0.0.2": r53types.ResourceRecordSetFailoverSecondary} {
		set := &r53types.ResourceRecordSet{Name: aws.String("db.example.com"), Type: r53types.RRTypeA, TTL: aws.Int64(5), Failover: role, SetIdentifier: aws.String(string(role)), ResourceRecords: []r53types.ResourceRecord{{Value: aws.String(ip)}}}
		if role == r53types.ResourceRecordSetFailoverPrimary {
			set.HealthCheckId = check.HealthCheck.Id
		}
		changes = append(changes, r53types.Change{Action: r53types.ChangeActionCreate, ResourceRecordSet: set})
	}
	must[*route53.ChangeResourceRecordSetsOutput](t)(zones.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: zone.HostedZone.Id, ChangeBatch: &r53types.ChangeBatch{Changes: changes}}))

	publish := func(latency float64) {
		t.Helper()
		for range 5 {
			must[*cloudwatch.PutMetricDataOutput](t)(metrics.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("HADR"), MetricData: []cwtypes.MetricDatum{{MetricName: aws.String("SQLLatency"), Value: &latency}}}))
			time.Sleep(time.Minute)
		}
	}
	answers := func(want, when string) {
		t.Helper()
		a := must[*route53.TestDNSAnswerOutput](t)(zones.TestDNSAnswer(ctx, &route53.TestDNSAnswerInput{HostedZoneId: zone.HostedZone.Id, RecordName: aws.String("db.example.com"), RecordType: r53types.RRTypeA}))
		if !slices.Equal(a.RecordData, []string{want}) {
			t.Errorf("%s the answer is %v, want %s", when, a.RecordData, want)
		}
	}
	publish(5)
	answers("10.0.0.1", "while the primary is fast")
	must[*cloudwatch.SetAlarmStateOutput](t)(metrics.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{AlarmName: aws.String("slow"), StateValue: cwtypes.StateValueAlarm, StateReason: aws.String("drill")}))
	answers("10.0.0.1", "while the alarm is red by hand")
	publish(500)
	answers("10.0.0.2", "while the primary is slow")
	publish(5)
	answers("10.0.0.1", "after the primary recovered")
}
