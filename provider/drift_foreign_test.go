package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// foreignChanges are those that people make in the console.
func (d *drifted) foreignChanges(t *testing.T) []foreign {
	ctx := t.Context()
	emptyPolicy := document(allow("Nothing", []string{"arn:aws:s3:::nothing"}, "s3:GetObject")).String()
	record := d.record("hadr-orders")
	return []foreign{
		{`hadr_metric_alarm.latency["a"]`, "threshold", "raised to 60 s", func() {
			d.alarm(t, "orders-a-latency", func(in *cloudwatch.PutMetricAlarmInput) { in.Threshold = aws.Float64(60000) })
		}},
		{`hadr_metric_alarm.silent["a"]`, "actions_enabled", "switched off", func() {
			_, err := d.cloudwatch.DisableAlarmActions(ctx, &cloudwatch.DisableAlarmActionsInput{AlarmNames: []string{"orders-a-silent"}})
			must(t, err)
		}},
		{`hadr_metric_alarm.process["b"]`, "treat_missing_data", "set to breaching", func() {
			d.alarm(t, "orders-b-process", func(in *cloudwatch.PutMetricAlarmInput) { in.TreatMissingData = aws.String("breaching") })
		}},
		{`hadr_metric_alarm.status["b"]`, "(object)", "deleted", func() {
			must(t, d.deleteAlarm(ctx, "orders-b-failed"))
			must(t, d.deleteAlarm(ctx, "orders-b-status"))
		}},
		{`hadr_composite_alarm.failed["b"]`, "(object)", "deleted", func() {}}, // with the one before, as it watches that
		{`hadr_composite_alarm.failed["a"]`, "alarm_actions", "removed", func() {
			found, err := d.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{"orders-a-failed"}, AlarmTypes: []cw.AlarmType{cw.AlarmTypeCompositeAlarm}})
			must(t, err)
			_, err = d.cloudwatch.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String("orders-a-failed"), AlarmRule: found.CompositeAlarms[0].AlarmRule})
			must(t, err)
		}},
		{"hadr_function.takeover", "timeout_seconds", "lowered to 60", func() {
			d.function(t, "orders-takeover", func(in *lambda.UpdateFunctionConfigurationInput) { in.Timeout = aws.Int32(60) })
		}},
		{"hadr_function.takeover", "policy", "emptied", func() {
			must(t, functionParts{d.clients}.role("orders-takeover").allow(ctx, emptyPolicy))
		}},
		{"hadr_function.takeover", "alarm_names", "permission removed", func() {
			_, err := d.lambda.RemovePermission(ctx, &lambda.RemovePermissionInput{FunctionName: aws.String("orders-takeover"), StatementId: aws.String(statementID("orders-a-failed"))})
			must(t, err)
		}},
		{"hadr_function.takeover", "log_retention_days", "set to a day", func() {
			_, err := d.logs.PutRetentionPolicy(ctx, &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: aws.String("/aws/lambda/orders-takeover"), RetentionInDays: aws.Int32(1)})
			must(t, err)
		}},
		{"hadr_function.takeover", "maximum_retry_attempts", "set to 0", func() {
			_, err := d.lambda.PutFunctionEventInvokeConfig(ctx, &lambda.PutFunctionEventInvokeConfigInput{FunctionName: aws.String("orders-takeover"), MaximumRetryAttempts: aws.Int32(0)})
			must(t, err)
		}},
		{"hadr_function.takeover", "source_code_hash", "other code uploaded", func() {
			must(t, d.afterUpdates(t, func() error {
				_, err := d.lambda.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: aws.String("orders-takeover"), ZipFile: testZip("other")})
				return err
			}))
		}},
		{"hadr_function.watch[0]", "environment", "a variable added", func() {
			d.function(t, "orders-watch", func(in *lambda.UpdateFunctionConfigurationInput) { in.Environment.Variables["GODEBUG"] = "x" })
		}},
		{"hadr_function.watch[0]", "groups", "another group named", func() {
			d.function(t, "orders-watch", func(in *lambda.UpdateFunctionConfigurationInput) { in.Environment.Variables[envGroups] = "stock" })
		}},
		{"hadr_function.watch[0]", "tags_all", "a tag removed", func() {
			_, err := d.lambda.UntagResource(ctx, &lambda.UntagResourceInput{Resource: aws.String("arn:aws:lambda:" + testRegion + ":123456789012:function:orders-watch"), TagKeys: []string{"vpc"}})
			must(t, err)
		}},
		{"hadr_function.watch[0]", "policy", "role trusts nobody of Lambda", func() {
			_, err := d.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("orders-watch"),
				PolicyDocument: aws.String(assumeByScheduler("123456789012").String())})
			must(t, err)
		}},
		{"hadr_schedule.watch[0]", "enabled", "switched off", func() {
			s, err := d.scheduler.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String("orders-watch")})
			must(t, err)
			_, err = d.scheduler.UpdateSchedule(ctx, &scheduler.UpdateScheduleInput{Name: s.Name, ScheduleExpression: s.ScheduleExpression,
				FlexibleTimeWindow: s.FlexibleTimeWindow, Target: s.Target, State: schedulertypes.ScheduleStateDisabled})
			must(t, err)
		}},
		{"hadr_schedule.watch[0]", "policy", "emptied", func() {
			must(t, ownRole{clients: d.clients, name: "orders-watch" + ownScheduleRole, policyName: ownSchedulePolicy}.allow(ctx, emptyPolicy))
		}},
		{`hadr_command_document.this["db2_status"]`, "content", "another script", func() {
			out, err := d.ssm.UpdateDocument(ctx, &ssm.UpdateDocumentInput{Name: aws.String("orders-status"), DocumentVersion: aws.String("$LATEST"), Content: aws.String(
				`{"schemaVersion":"2.2","description":"other","mainSteps":[{"action":"aws:runShellScript","name":"x","inputs":{"runCommand":["true"]}}]}`)})
			must(t, err)
			_, err = d.ssm.UpdateDocumentDefaultVersion(ctx, &ssm.UpdateDocumentDefaultVersionInput{Name: aws.String("orders-status"), DocumentVersion: out.DocumentDescription.DocumentVersion})
			must(t, err)
		}},
		{"hadr_state_table.this", "deletion_protection", "switched on", func() {
			_, err := d.dynamodb.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("hadr-orders"), DeletionProtectionEnabled: aws.Bool(true)})
			must(t, err)
		}},
		{`hadr_sql_latency_metric.this["a"]`, "interval_seconds", "set to a minute", func() {
			p, err := record.ReadProbe(ctx, "orders", "a")
			must(t, err)
			p.Interval = time.Minute
			must(t, record.PutProbe(ctx, p))
		}},
		{`hadr_sql_latency_metric.this["b"]`, "(object)", "deleted", func() { must(t, record.DeleteProbe(ctx, "orders", "b")) }},
		{"hadr_host_policy.this", "policy", "emptied", func() {
			must(t, ownRole{clients: d.clients, name: landscape.Role, policyName: "hadr-orders"}.allow(ctx, emptyPolicy))
		}},
		{"hadr_cloudwatch_agent_config.this", "value", "flushed once a minute", func() {
			name := aws.String("AmazonCloudWatch-hadr-orders")
			p, err := d.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: name})
			must(t, err)
			value := strings.Replace(aws.ToString(p.Parameter.Value), `"force_flush_interval":5`, `"force_flush_interval":60`, 1)
			_, err = d.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: name, Value: &value, Overwrite: aws.Bool(true)})
			must(t, err)
		}},
		{"hadr_group.this", "policy", "set to observe", func() {
			c, err := record.ReadConfig(ctx, "orders")
			must(t, err)
			c.Policy = failover.Observe
			must(t, record.PutConfig(ctx, "orders", c))
		}},
		{"hadr_group.this", "nodes", "an alarm unbound", func() {
			must(t, record.UnbindAlarms(ctx, "orders", []string{"arn:aws:cloudwatch:" + testRegion + ":123456789012:alarm:orders-a-failed"}))
		}},
		{"hadr_group.this", "nodes", "tags of an instance removed", func() {
			_, err := d.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{d.nodes["b"].instance}, Tags: []ec2types.Tag{{Key: aws.String(tagTable)}, {Key: aws.String(tagGroup)}}})
			must(t, err)
		}},
		{"hadr_vip_route.this", "network_interface_ids", "source/destination check on", func() {
			_, err := d.ec2.ModifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
				NetworkInterfaceId: aws.String(d.nodes["b"].eni), SourceDestCheck: &ec2types.AttributeBooleanValue{Value: aws.Bool(true)}})
			must(t, err)
		}},
		{"hadr_vip_route.this", "route_table_ids", "a route deleted", func() {
			_, err := d.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &d.tables[0], DestinationCidrBlock: aws.String("192.168.77.10/32")})
			must(t, err)
		}},
	}
}

// alarm changes a metric alarm and leaves the rest of it as it is.
func (d *drifted) alarm(t *testing.T, name string, change func(*cloudwatch.PutMetricAlarmInput)) {
	found, err := d.cloudwatch.DescribeAlarms(t.Context(), &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	must(t, err)
	a := found.MetricAlarms[0]
	in := &cloudwatch.PutMetricAlarmInput{AlarmName: a.AlarmName, AlarmDescription: a.AlarmDescription, ActionsEnabled: a.ActionsEnabled,
		Namespace: a.Namespace, MetricName: a.MetricName, Dimensions: a.Dimensions, Statistic: a.Statistic, Period: a.Period, Metrics: a.Metrics,
		ComparisonOperator: a.ComparisonOperator, Threshold: a.Threshold, EvaluationPeriods: a.EvaluationPeriods, DatapointsToAlarm: a.DatapointsToAlarm,
		TreatMissingData: a.TreatMissingData, AlarmActions: a.AlarmActions}
	change(in)
	_, err = d.cloudwatch.PutMetricAlarm(t.Context(), in)
	must(t, err)
}

// function changes the configuration of a function.
func (d *drifted) function(t *testing.T, name string, change func(*lambda.UpdateFunctionConfigurationInput)) {
	f, err := d.lambda.GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: &name})
	must(t, err)
	in := &lambda.UpdateFunctionConfigurationInput{FunctionName: &name, Environment: &lambdatypes.Environment{Variables: f.Environment.Variables}}
	change(in)
	must(t, d.afterUpdates(t, func() error {
		_, err := d.lambda.UpdateFunctionConfiguration(t.Context(), in)
		return err
	}))
}

// afterUpdates changes a function once its last update is through.
func (d *drifted) afterUpdates(t *testing.T, do func() error) error {
	return d.eventually(t.Context(), do, func(err error) bool { return hasCode(err, "ResourceConflictException") })
}
