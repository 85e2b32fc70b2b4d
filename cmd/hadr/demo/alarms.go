package demo

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
	"github.com/hadr-dev/terraform-provider-hadr/provider"
)

// Names of the functions, and of their roles.
const (
	takeoverFunction = coreGroup + "-takeover"
	watchFunction    = coreGroup + "-watch"
	scheduleRole     = watchFunction + "-schedule"
	functionPolicy   = "hadr-function"
)

// declareAll makes through the APIs of AWS what Terraform makes from
// modules/db2-hadr.
func (s *Stage) declareAll(ctx context.Context) (*statetable.Table, error) {
	table, err := s.declare(ctx)
	if err != nil {
		return nil, err
	}
	arn, err := s.declareFunction(ctx, takeoverFunction, "takeover", &lambda.PutFunctionEventInvokeConfigInput{
		MaximumEventAgeInSeconds: aws.Int32(360), MaximumRetryAttempts: aws.Int32(2),
	})
	if err != nil {
		return nil, fmt.Errorf("declaring the takeover function: %w", err)
	}
	for _, node := range s.nodes() {
		if err := s.declareAlarms(ctx, node, arn); err != nil {
			return nil, fmt.Errorf("declaring the alarms of node %s: %w", node, err)
		}
	}
	arn, err = s.declareFunction(ctx, watchFunction, "watch", &lambda.PutFunctionEventInvokeConfigInput{
		MaximumEventAgeInSeconds: aws.Int32(180), MaximumRetryAttempts: aws.Int32(0),
	})
	if err == nil {
		err = s.declareSchedule(ctx, arn)
	}
	if err != nil {
		return nil, fmt.Errorf("declaring the watch function: %w", err)
	}
	return table, s.configureAgents(ctx, coreTable, coreGroup)
}

func (s *Stage) nodes() []string { return slices.Sorted(maps.Keys(s.Landscape.Databases)) }

// policyOf is the policy of a function's role.
func (s *Stage) policyOf(kind, function string) (string, error) {
	scope := provider.FunctionScope{
		Partition: "aws", Region: Region, Account: s.World.Account,
		TableARN:    fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", Region, s.World.Account, coreTable),
		LogGroupARN: fmt.Sprintf("arn:aws:logs:%s:%s:log-group:/aws/lambda/%s", Region, s.World.Account, function),
		RouteTables: s.Landscape.RouteTables,
	}
	scope.IsolationGroup = s.isolation
	for _, node := range s.nodes() {
		scope.Interfaces = append(scope.Interfaces, s.Landscape.Databases[node].NetworkInterfaceID)
		scope.Instances = append(scope.Instances, s.Instance(node))
		scope.Checkers = append(scope.Checkers, s.Landscape.Applications[node].InstanceID)
	}
	for _, document := range db2.Kinds() {
		if document == "forced_takeover" || document == "switchover" { // for people
			continue
		}
		scope.Documents = append(scope.Documents, coreGroup+"-"+document)
	}
	return provider.FunctionPolicy(kind, scope)
}

func (s *Stage) declareFunction(ctx context.Context, name, kind string, async *lambda.PutFunctionEventInvokeConfigInput) (arn string, err error) {
	policy, err := s.policyOf(kind, name)
	if err != nil {
		return "", err
	}
	role, err := s.declareRole(ctx, name, "lambda.amazonaws.com", policy)
	if err != nil {
		return "", err
	}
	if _, err := cloudwatchlogs.NewFromConfig(s.Config(Region)).CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("/aws/lambda/" + name)}); err != nil {
		return "", err
	}
	code, err := emptyCode()
	if err != nil {
		return "", err
	}
	client := lambda.NewFromConfig(s.Config(Region))
	f, err := client.CreateFunction(ctx, &lambda.CreateFunctionInput{
		FunctionName: &name, Role: &role, Runtime: lambdatypes.RuntimeProvidedal2023, Handler: &kind,
		Code: &lambdatypes.FunctionCode{ZipFile: code}, Timeout: aws.Int32(900), MemorySize: aws.Int32(256),
		Environment: &lambdatypes.Environment{Variables: map[string]string{"HADR_TABLE": coreTable, "HADR_GROUPS": coreGroup}},
	})
	if err != nil {
		return "", err
	}
	async.FunctionName = &name
	if _, err := client.PutFunctionEventInvokeConfig(ctx, async); err != nil {
		return "", err
	}
	waiter := lambda.NewFunctionActiveV2Waiter(client, func(o *lambda.FunctionActiveV2WaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, time.Second })
	return *f.FunctionArn, waiter.Wait(ctx, &lambda.GetFunctionInput{FunctionName: &name}, time.Minute)
}

// declareRole makes a role for a service of AWS.
func (s *Stage) declareRole(ctx context.Context, name, service, policy string) (arn string, err error) {
	client := iam.NewFromConfig(s.Config(Region))
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":%q},"Action":"sts:AssumeRole"}]}`, service)
	role, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err != nil {
		return "", err
	}
	return *role.Role.Arn, s.putPolicy(ctx, client, name, functionPolicy, policy)
}

// emptyCode is a deployment package: functions of this process need none.
func emptyCode() ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("bootstrap"); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

func (s *Stage) declareSchedule(ctx context.Context, function string) error {
	role, err := s.declareRole(ctx, scheduleRole, "scheduler.amazonaws.com", provider.SchedulePolicy(function))
	if err != nil {
		return err
	}
	_, err = scheduler.NewFromConfig(s.Config(Region)).CreateSchedule(ctx, minutely(function, role))
	return err
}

func minutely(function, role string) *scheduler.CreateScheduleInput {
	return &scheduler.CreateScheduleInput{
		Name: aws.String(watchFunction), ScheduleExpression: aws.String("rate(1 minute)"), State: schedulertypes.ScheduleStateEnabled,
		FlexibleTimeWindow: &schedulertypes.FlexibleTimeWindow{Mode: schedulertypes.FlexibleTimeWindowModeOff},
		Target: &schedulertypes.Target{
			Arn: &function, RoleArn: &role,
			RetryPolicy: &schedulertypes.RetryPolicy{MaximumEventAgeInSeconds: aws.Int32(60), MaximumRetryAttempts: aws.Int32(0)},
		},
	}
}

// switchWatch enables or disables the schedule of the watch function.
func (s *Stage) switchWatch(ctx context.Context, on bool) error {
	client := scheduler.NewFromConfig(s.Config(Region))
	now, err := client.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: aws.String(watchFunction)})
	if err != nil {
		return err
	}
	in := scheduler.UpdateScheduleInput(*minutely(*now.Target.Arn, *now.Target.RoleArn))
	if !on {
		in.State = schedulertypes.ScheduleStateDisabled
	}
	_, err = client.UpdateSchedule(ctx, &in)
	return err
}

// declareAlarms makes the alarms of a node as modules/db2-hadr/alarms.tf says,
// and lets the composite one invoke the function.
func (s *Stage) declareAlarms(ctx context.Context, node, function string) error {
	client := cloudwatch.NewFromConfig(s.Config(Region))
	sql := dimensions("Group", coreGroup, "Node", node)
	instance := dimensions("InstanceId", s.Instance(node))
	name := func(what string) *string { return aws.String(coreGroup + "-" + node + "-" + what) }
	plain := func(what, namespace, metric string, d []cw.Dimension, statistic cw.Statistic, compare cw.ComparisonOperator, threshold float64) *cloudwatch.PutMetricAlarmInput {
		return &cloudwatch.PutMetricAlarmInput{
			AlarmName: name(what), Namespace: &namespace, MetricName: &metric, Dimensions: d, Statistic: statistic, Period: aws.Int32(60),
			ComparisonOperator: compare, Threshold: &threshold, EvaluationPeriods: aws.Int32(1), TreatMissingData: aws.String("notBreaching"),
		}
	}
	silent := &cloudwatch.PutMetricAlarmInput{
		AlarmName: name("silent"), ComparisonOperator: cw.ComparisonOperatorLessThanThreshold, Threshold: aws.Float64(2),
		EvaluationPeriods: aws.Int32(1), TreatMissingData: aws.String("breaching"),
		Metrics: []cw.MetricDataQuery{
			{Id: aws.String("m1"), ReturnData: aws.Bool(false), MetricStat: &cw.MetricStat{
				Metric: &cw.Metric{Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"), Dimensions: sql}, Period: aws.Int32(60), Stat: aws.String("SampleCount"),
			}},
			{Id: aws.String("e1"), Expression: aws.String("FILL(m1, 0)"), ReturnData: aws.Bool(true)},
		},
	}
	rule := ""
	for _, a := range []*cloudwatch.PutMetricAlarmInput{
		plain("latency", "HADR", "SQLLatency", sql, cw.StatisticMaximum, cw.ComparisonOperatorGreaterThanThreshold, 20000),
		silent,
		plain("process", "CWAgent", "procstat_lookup_pid_count", instance, cw.StatisticMinimum, cw.ComparisonOperatorLessThanThreshold, 1),
		plain("status", "AWS/EC2", "StatusCheckFailed", instance, cw.StatisticMaximum, cw.ComparisonOperatorGreaterThanOrEqualToThreshold, 1),
	} {
		if _, err := client.PutMetricAlarm(ctx, a); err != nil {
			return err
		}
		if rule != "" {
			rule += " OR "
		}
		rule += fmt.Sprintf("ALARM(%q)", *a.AlarmName)
	}
	if _, err := client.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String(failedAlarm(node)), AlarmRule: &rule, AlarmActions: []string{function}}); err != nil {
		return err
	}
	_, err := lambda.NewFromConfig(s.Config(Region)).AddPermission(ctx, &lambda.AddPermissionInput{
		FunctionName: aws.String(takeoverFunction), StatementId: aws.String("alarm-" + node), Action: aws.String("lambda:InvokeFunction"),
		Principal: aws.String("lambda.alarms.cloudwatch.amazonaws.com"), SourceAccount: &s.World.Account, SourceArn: aws.String(s.coreAlarm(node)),
	})
	return err
}

// dimensions makes dimensions of names and values.
func dimensions(pairs ...string) (d []cw.Dimension) {
	for p := range slices.Chunk(pairs, 2) {
		d = append(d, cw.Dimension{Name: &p[0], Value: &p[1]})
	}
	return d
}
