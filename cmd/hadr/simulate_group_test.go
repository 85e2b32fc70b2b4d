package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cw "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

const simulatedRegion = "eu-central-1"

// startTable starts an AWS with an empty state table, and makes hadr use it.
func startTable(t *testing.T) (*sandbox.Sandbox, *statetable.Table) {
	t.Helper()
	box, err := sandbox.Start(t.Context(), sandbox.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL": box.Endpoint, "AWS_REGION": simulatedRegion, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	client := dynamodb.NewFromConfig(box.Config(simulatedRegion))
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("hadr"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	err = dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("hadr")}, time.Minute,
		func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Millisecond, 10*time.Millisecond
		})
	if err != nil {
		t.Fatal(err)
	}
	return box, statetable.New(client, "hadr", clock.System())
}

// A group is simulated with its own alarms, its probe of 10 s and its lease.
func TestSimulateAGroup(t *testing.T) {
	box, table := startTable(t)
	if _, err := simulated(t, "", "--group", "orders"); err == nil || !strings.Contains(err.Error(), "no failure alarm is bound") {
		t.Fatalf("a group without alarms: %v", err)
	}
	client := cloudwatch.NewFromConfig(box.Config(simulatedRegion))
	if _, err := client.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("orders-a-silent"), Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"), Statistic: cw.StatisticSampleCount,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), ComparisonOperator: cw.ComparisonOperatorLessThanThreshold, Threshold: aws.Float64(2),
		TreatMissingData: aws.String("breaching"),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutCompositeAlarm(t.Context(), &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String("orders-a-failed"), AlarmRule: aws.String("ALARM(orders-a-silent)")}); err != nil {
		t.Fatal(err)
	}
	if err := table.BindAlarms(t.Context(), "orders", "a", []string{"arn:aws:cloudwatch:" + simulatedRegion + ":123456789012:alarm:orders-a-failed"}); err != nil {
		t.Fatal(err)
	}
	got := simulatedSets(t, "", "--group", "orders", "--failure", "host", "--set", "reference")
	if len(got.Sets) != 2 || got.Sets[0].Name != "orders-a" || *got.Sets[0].Failures[0].Worst != 409.998 || !strings.Contains(strings.Join(got.Notes, " "), "node a has no probe on record") {
		t.Errorf("without a probe on record: %+v", got)
	}
	if err := table.PutProbe(t.Context(), statetable.Probe{
		Group: "orders", Node: "a", Namespace: "HADR", Metric: "SQLLatency", Interval: 10 * time.Second, Timeout: 9 * time.Second,
		Threshold: 5 * time.Second, Sentinel: 5001 * time.Millisecond, LeaseDuration: 6 * time.Second, LeaseInterval: 2 * time.Second,
	}); err != nil {
		t.Fatal(err)
	}
	got = simulatedSets(t, "", "--group", "orders", "--failure", "host,hang")
	if len(got.Sets) != 2 || got.Sets[1].Name != "orders-a+lease 6 s/2 s" || len(got.Notes) > 0 {
		t.Fatalf("with a probe and a lease: %+v", got)
	}
	// One sample of 10 s more may come in the minute of the failure. A lease is
	// looked at twice as often as it is renewed; a hung database is renewed three
	// times more.
	if alarms, lease := got.Sets[0].Failures, got.Sets[1].Failures; *alarms[0].Worst != 419.998 || alarms[1].Worst != nil || *lease[0].Worst != 7 || *lease[1].Worst != 13 {
		t.Errorf("worst cases %v, %v, %v, %v", *alarms[0].Worst, alarms[1].Worst, *lease[0].Worst, *lease[1].Worst)
	}
}
