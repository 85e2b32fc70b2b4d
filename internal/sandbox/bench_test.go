package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// benchmark is a sandbox on a socket, with a landscape, and what is called in
// it.
type benchmark struct {
	*sandbox.Sandbox
	calls map[string]func(n int) error
}

func newBenchmark(b *testing.B) *benchmark {
	b.Helper()
	s, err := sandbox.Start(b.Context(), sandbox.Options{Dir: b.TempDir(), Listen: "127.0.0.1:0", Clock: clock.NewScaled(time.Now(), 60)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	cfg := s.Config("eu-central-1")
	ctx := context.Background()
	instances, tables, metrics, commands := ec2.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), cloudwatch.NewFromConfig(cfg), ssm.NewFromConfig(cfg)
	l, err := landscape.Builder{EC2: instances, IAM: iamapi.NewFromConfig(cfg), Clock: s.World.Clock, Region: "eu-central-1"}.Build(ctx)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tables.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("groups"), BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}}, KeySchema: []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	}); err != nil {
		b.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(tables).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("groups")}, time.Minute); err != nil {
		b.Fatal(err)
	}
	return &benchmark{s, map[string]func(int) error{
		"UpdateItem": func(n int) error {
			_, err := tables.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("groups"), Key: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "GROUP#" + strconv.Itoa(n%10)}},
				UpdateExpression: aws.String("SET #c = if_not_exists(#c, :zero) + :one"), ConditionExpression: aws.String("attribute_not_exists(sealed)"),
				ExpressionAttributeNames: map[string]string{"#c": "counter"}, ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":one": &ddbtypes.AttributeValueMemberN{Value: "1"}, ":zero": &ddbtypes.AttributeValueMemberN{Value: "0"}}})
			return err
		},
		"DescribeInstances": func(int) error { _, err := instances.DescribeInstances(ctx, nil); return err },
		"PutMetricData": func(n int) error {
			_, err := metrics.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("HADR"), MetricData: []cwtypes.MetricDatum{{
				MetricName: aws.String("SQLLatency"), Value: aws.Float64(float64(n)), Unit: cwtypes.StandardUnitMilliseconds,
				Dimensions: []cwtypes.Dimension{{Name: aws.String("Group"), Value: aws.String("orders")}, {Name: aws.String("Node"), Value: aws.String("a")}}}}})
			return err
		},
		"SendCommand": func(int) error {
			_, err := commands.SendCommand(ctx, &ssm.SendCommandInput{InstanceIds: []string{l.Databases["a"].InstanceID}, DocumentName: aws.String("AWS-RunShellScript"),
				Parameters: map[string][]string{"commands": {"echo done"}}})
			return err
		},
	}}
}

// BenchmarkCall measures one call over loopback HTTP, with the SDK's client.
func BenchmarkCall(b *testing.B) {
	x := newBenchmark(b)
	for _, name := range []string{"UpdateItem", "DescribeInstances", "PutMetricData"} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				if err := x.calls[name](n); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
		})
	}
}

// BenchmarkStart measures from nothing to the first answer.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s, err := sandbox.Start(b.Context(), sandbox.Options{Dir: b.TempDir(), Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := dynamodb.NewFromConfig(s.Config("eu-central-1")).ListTables(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkMemory measures what is resident after 100,000 calls of several
// kinds, those of this benchmark's clients and of the Go tests included, and
// what one more such round adds.
func BenchmarkMemory(b *testing.B) {
	const round = 100_000
	x := newBenchmark(b)
	for b.Loop() {
		start := resident(b)
		x.rounds(b, round)
		after := resident(b)
		x.rounds(b, round)
		b.ReportMetric(start, "start-MB")
		b.ReportMetric(after, "resident-MB")
		b.ReportMetric(resident(b)-after, "growth-MB")
	}
}

func (x *benchmark) rounds(b *testing.B, calls int) {
	for n := range calls {
		name := []string{"UpdateItem", "PutMetricData", "DescribeInstances", "PutMetricData"}[n%4]
		if n%100 == 0 {
			name = "SendCommand"
		}
		if err := x.calls[name](n); err != nil {
			b.Fatalf("call %d, %s: %v", n, name, err)
		}
	}
}

// resident returns the resident memory of this process in MB (Linux).
func resident(b *testing.B) float64 {
	b.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("resident memory is read from /proc:", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	b.Skip("/proc/self/status has no VmRSS")
	return 0
}
