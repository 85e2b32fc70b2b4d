package iam

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
)

// str shortens the optional texts of inputs.
func str(s string) *string { return aws.String(s) }

// What the operations of a takeover, and their neighbours, must be allowed to
// do, by AWS's service authorization reference.
func TestPermissions(t *testing.T) {
	const (
		here  = "eu-west-1:111122223333:"
		role  = "arn:aws:iam::111122223333:role/fn"
		table = "arn:aws:dynamodb:" + here + "table/t"
	)
	for _, tc := range []struct {
		name, service string
		input         any
		want          []string
	}{
		{"an item operation", "dynamodb", &dynamodb.UpdateItemInput{TableName: str("t")}, []string{"dynamodb:UpdateItem " + table}},
		{"a table by its ARN", "dynamodb", &dynamodb.GetItemInput{TableName: str("arn:aws:dynamodb:us-east-1:999900001111:table/t")}, []string{"dynamodb:GetItem arn:aws:dynamodb:us-east-1:999900001111:table/t"}},
		{"an index is a resource of its own", "dynamodb", &dynamodb.QueryInput{TableName: str("t"), IndexName: str("i")}, []string{"dynamodb:Query " + table + "/index/i"}},
		{"a batch", "dynamodb", &dynamodb.BatchGetItemInput{RequestItems: map[string]ddbtypes.KeysAndAttributes{"t": {}}}, []string{"dynamodb:BatchGetItem " + table}},
		{"a transaction is its parts", "dynamodb", &dynamodb.TransactWriteItemsInput{TransactItems: []ddbtypes.TransactWriteItem{
			{Update: &ddbtypes.Update{TableName: str("t")}}, {ConditionCheck: &ddbtypes.ConditionCheck{TableName: str("u")}},
		}}, []string{"dynamodb:ConditionCheckItem " + strings.TrimSuffix(table, "t") + "u", "dynamodb:UpdateItem " + table}},
		{"a tagged table", "dynamodb", &dynamodb.CreateTableInput{TableName: str("t"), Tags: []ddbtypes.Tag{{Key: str("a"), Value: str("b")}}}, []string{"dynamodb:CreateTable " + table, "dynamodb:TagResource " + table}},
		{"a replica", "dynamodb", &dynamodb.UpdateTableInput{TableName: str("t"), ReplicaUpdates: []ddbtypes.ReplicationGroupUpdate{{Create: &ddbtypes.CreateReplicationGroupMemberAction{RegionName: str("eu-west-2")}}}},
			[]string{"dynamodb:UpdateTable " + table, "dynamodb:CreateTableReplica " + table, "dynamodb:CreateTableReplica " + strings.Replace(table, "eu-west-1", "eu-west-2", 1)}},

		{"a stream, by its ARN", "dynamodb", &dynamodbstreams.DescribeStreamInput{StreamArn: str(table + "/stream/l")}, []string{"dynamodb:DescribeStream " + table + "/stream/l"}},
		{"a zone belongs to no Region", "route53", &route53.ChangeResourceRecordSetsInput{HostedZoneId: str("/hostedzone/Z1")}, []string{"route53:ChangeResourceRecordSets arn:aws:route53:::hostedzone/Z1"}},
		{"a health check", "route53", &route53.UpdateHealthCheckInput{HealthCheckId: str("h")}, []string{"route53:UpdateHealthCheck arn:aws:route53:::healthcheck/h"}},
		{"a change", "route53", &route53.GetChangeInput{Id: str("/change/C1")}, []string{"route53:GetChange arn:aws:route53:::change/C1"}},
		{"tags of a health check", "route53", &route53.ListTagsForResourceInput{ResourceType: "healthcheck", ResourceId: str("h")}, []string{"route53:ListTagsForResource arn:aws:route53:::healthcheck/h"}},

		{"stopping asks for every instance", "ec2", &ec2.StopInstancesInput{InstanceIds: []string{"i-1", "i-2"}}, []string{"ec2:StopInstances arn:aws:ec2:" + here + "instance/i-1", "ec2:StopInstances arn:aws:ec2:" + here + "instance/i-2"}},
		{"a route belongs to its table", "ec2", &ec2.ReplaceRouteInput{RouteTableId: str("rtb-1"), DestinationCidrBlock: str("10.9.9.9/32"), NetworkInterfaceId: str("eni-1")}, []string{"ec2:ReplaceRoute arn:aws:ec2:" + here + "route-table/rtb-1"}},
		{"describing has no resource", "ec2", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}}, []string{"ec2:DescribeInstances *"}},
		{"an attribute of one instance has one", "ec2", &ec2.DescribeInstanceAttributeInput{InstanceId: str("i-1")}, []string{"ec2:DescribeInstanceAttribute arn:aws:ec2:" + here + "instance/i-1"}},
		{"isolating by security group", "ec2", &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: str("eni-1"), Groups: []string{"sg-1"}}, []string{"ec2:ModifyNetworkInterfaceAttribute arn:aws:ec2:" + here + "network-interface/eni-1", "ec2:ModifyNetworkInterfaceAttribute arn:aws:ec2:" + here + "security-group/sg-1"}},
		{"tags go by the kind of identifier", "ec2", &ec2.CreateTagsInput{Resources: []string{"i-1", "eni-1"}}, []string{"ec2:CreateTags arn:aws:ec2:" + here + "instance/i-1", "ec2:CreateTags arn:aws:ec2:" + here + "network-interface/eni-1"}},
		{"a thing created with tags is tagged", "ec2", &ec2.CreateSecurityGroupInput{VpcId: str("vpc-1"), TagSpecifications: []ec2types.TagSpecification{{ResourceType: "security-group", Tags: []ec2types.Tag{{Key: str("a"), Value: str("b")}}}}},
			[]string{"ec2:CreateSecurityGroup arn:aws:ec2:" + here + "security-group/*", "ec2:CreateSecurityGroup arn:aws:ec2:" + here + "vpc/vpc-1", "ec2:CreateTags arn:aws:ec2:" + here + "security-group/*"}},

		{"a command asks for document and instances", "ssm", &ssm.SendCommandInput{DocumentName: str("hadr-takeover"), InstanceIds: []string{"i-1", "mi-2"}},
			[]string{"ssm:SendCommand arn:aws:ssm:" + here + "document/hadr-takeover", "ssm:SendCommand arn:aws:ec2:" + here + "instance/i-1", "ssm:SendCommand arn:aws:ssm:" + here + "managed-instance/mi-2"}},
		{"a document of AWS has no account", "ssm", &ssm.SendCommandInput{DocumentName: str("AWS-RunShellScript"), InstanceIds: []string{"i-1"}},
			[]string{"ssm:SendCommand arn:aws:ssm:eu-west-1::document/AWS-RunShellScript", "ssm:SendCommand arn:aws:ec2:" + here + "instance/i-1"}},
		{"targets could be any instance", "ssm", &ssm.SendCommandInput{DocumentName: str("d"), Targets: []ssmtypes.Target{{Key: str("tag:a"), Values: []string{"b"}}}}, []string{"ssm:SendCommand arn:aws:ssm:" + here + "document/d", "ssm:SendCommand arn:aws:ec2:" + here + "instance/*"}},
		{"the result of a command has no resource", "ssm", &ssm.GetCommandInvocationInput{}, []string{"ssm:GetCommandInvocation *"}},
		{"a parameter with slashes", "ssm", &ssm.GetParameterInput{Name: str("/a/b:3")}, []string{"ssm:GetParameter arn:aws:ssm:" + here + "parameter/a/b"}},

		{"metrics have no resource", "monitoring", &cloudwatch.PutMetricDataInput{Namespace: str("HADR")}, []string{"cloudwatch:PutMetricData *"}},
		{"alarms by name", "monitoring", &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{"a"}}, []string{"cloudwatch:DescribeAlarms arn:aws:cloudwatch:" + here + "alarm:a"}},
		{"all alarms", "monitoring", &cloudwatch.DescribeAlarmsInput{}, []string{"cloudwatch:DescribeAlarms arn:aws:cloudwatch:" + here + "alarm:*"}},

		{"a log group ends in its streams", "logs", &cloudwatchlogs.CreateLogGroupInput{LogGroupName: str("/g")}, []string{"logs:CreateLogGroup arn:aws:logs:" + here + "log-group:/g:log-stream:"}},
		{"a log stream", "logs", &cloudwatchlogs.PutLogEventsInput{LogGroupName: str("/g"), LogStreamName: str("s")}, []string{"logs:PutLogEvents arn:aws:logs:" + here + "log-group:/g:log-stream:s"}},

		{"invoking an alias", "lambda", &lambda.InvokeInput{FunctionName: str("f:live")}, []string{"lambda:InvokeFunction arn:aws:lambda:" + here + "function:f:live"}},
		{"invoking by partial ARN", "lambda", &lambda.InvokeInput{FunctionName: str("111122223333:function:f"), Qualifier: str("1")}, []string{"lambda:InvokeFunction arn:aws:lambda:" + here + "function:f:1"}},
		{"invoking by ARN", "lambda", &lambda.InvokeInput{FunctionName: str("arn:aws:lambda:us-east-1:999900001111:function:f")}, []string{"lambda:InvokeFunction arn:aws:lambda:us-east-1:999900001111:function:f"}},
		{"a function gets a role", "lambda", &lambda.CreateFunctionInput{FunctionName: str("f"), Role: str(role), Tags: map[string]string{"a": "b"}},
			[]string{"lambda:CreateFunction arn:aws:lambda:" + here + "function:f", "iam:PassRole " + role, "lambda:TagResource arn:aws:lambda:" + here + "function:f"}},
		{"a function keeps its role", "lambda", &lambda.UpdateFunctionConfigurationInput{FunctionName: str("f")}, []string{"lambda:UpdateFunctionConfiguration arn:aws:lambda:" + here + "function:f"}},

		{"publishing", "sns", &sns.PublishInput{TopicArn: str("arn:aws:sns:" + here + "t")}, []string{"sns:Publish arn:aws:sns:" + here + "t"}},
		{"a subscription belongs to its topic", "sns", &sns.UnsubscribeInput{SubscriptionArn: str("arn:aws:sns:" + here + "t:1-2-3")}, []string{"sns:Unsubscribe arn:aws:sns:" + here + "t"}},
		{"a queue by its URL", "sqs", &sqs.SendMessageBatchInput{QueueUrl: str("http://127.0.0.1:4566/111122223333/q")}, []string{"sqs:SendMessage arn:aws:sqs:" + here + "q"}},
		{"a schedule passes its role", "scheduler", &scheduler.CreateScheduleInput{Name: str("s"), Target: &schedulertypes.Target{RoleArn: str(role)}}, []string{"scheduler:CreateSchedule arn:aws:scheduler:" + here + "schedule/default/s", "iam:PassRole " + role}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			operation := strings.TrimSuffix(reflect.TypeOf(tc.input).Elem().Name(), "Input")
			var got []string
			for _, p := range rules[tc.service][operation].permissions(newCall(t, tc.service, operation, tc.input)) {
				got = append(got, p.action+" "+p.resource)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConditionKeys(t *testing.T) {
	for _, tc := range []struct {
		name, service string
		input         any
		key           string
		want          []string
	}{
		{"the namespace of metrics", "monitoring", &cloudwatch.PutMetricDataInput{Namespace: str("HADR")}, "cloudwatch:namespace", []string{"HADR"}},
		{"the partition key of an item", "dynamodb", &dynamodb.UpdateItemInput{TableName: str("t"), Key: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "GROUP#a"}}}, "dynamodb:LeadingKeys", []string{"GROUP#a"}},
		{"the partition key of a query", "dynamodb", &dynamodb.QueryInput{TableName: str("t"), KeyConditionExpression: str("#p = :p AND begins_with(sk, :s)"),
			ExpressionAttributeNames: map[string]string{"#p": "pk"}, ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":p": &ddbtypes.AttributeValueMemberS{Value: "GROUP#a"}}}, "dynamodb:LeadingKeys", []string{"GROUP#a"}},
		{"another key of a query", "dynamodb", &dynamodb.QueryInput{TableName: str("t"), KeyConditionExpression: str("other = :p"),
			ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":p": &ddbtypes.AttributeValueMemberS{Value: "x"}}}, "dynamodb:LeadingKeys", nil},
		{"who may invoke", "lambda", &lambda.AddPermissionInput{FunctionName: str("f"), Principal: str("sns.amazonaws.com")}, "lambda:Principal", []string{"sns.amazonaws.com"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			operation := strings.TrimSuffix(reflect.TypeOf(tc.input).Elem().Name(), "Input")
			c := newCall(t, tc.service, operation, tc.input)
			c.auth.PartitionKey = func(region, account, table string) string {
				return map[string]string{"eu-west-1/111122223333/t": "pk"}[region+"/"+account+"/"+table]
			}
			for _, p := range rules[tc.service][operation].permissions(c) {
				if diff := cmp.Diff(tc.want, p.keys.Get(tc.key)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	t.Run("a passed role says to whom", func(t *testing.T) {
		var got policy.Context
		for _, p := range rules["lambda"]["CreateFunction"].permissions(newCall(t, "lambda", "CreateFunction", &lambda.CreateFunctionInput{Role: str("r")})) {
			if p.action == "iam:PassRole" {
				got = p.keys
			}
		}
		if v := got.Get("iam:PassedToService"); len(v) != 1 || v[0] != "lambda.amazonaws.com" {
			t.Errorf("iam:PassedToService is %v", v)
		}
	})
}

// The keys that let a role change one record and nothing else.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/specifying-conditions-route53.html
func TestKeysOfRecordChanges(t *testing.T) {
	change := func(action r53types.ChangeAction, name string) r53types.Change {
		return r53types.Change{Action: action, ResourceRecordSet: &r53types.ResourceRecordSet{Name: str(name), Type: r53types.RRTypeA}}
	}
	in := &route53.ChangeResourceRecordSetsInput{HostedZoneId: str("Z1"), ChangeBatch: &r53types.ChangeBatch{Changes: []r53types.Change{
		change(r53types.ChangeActionDelete, "DB.example.com."), change(r53types.ChangeActionCreate, "db.example.com"), change(r53types.ChangeActionUpsert, "a.example.com")}}}
	granted := route53Rules["ChangeResourceRecordSets"].permissions(newCall(t, "route53", "ChangeResourceRecordSets", in))
	want := policy.Context{}
	want.Set("route53:ChangeResourceRecordSetsNormalizedRecordNames", "a.example.com", "db.example.com")
	want.Set("route53:ChangeResourceRecordSetsRecordTypes", "A")
	want.Set("route53:ChangeResourceRecordSetsActions", "CREATE", "DELETE", "UPSERT")
	if diff := cmp.Diff(want, granted[0].keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
