package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	iamapi "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/middleware"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// benchmark is a sandbox on a socket with a landscape, and what is called in
// it.
type benchmark map[string]func(n int) error

func newBenchmark(b *testing.B, cfg aws.Config, c clock.Clock) benchmark {
	b.Helper()
	ctx := context.Background()
	instances, tables, metrics, commands := ec2.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), cloudwatch.NewFromConfig(cfg), ssm.NewFromConfig(cfg)
	l, err := landscape.Builder{EC2: instances, IAM: iamapi.NewFromConfig(cfg), Clock: c, Region: "eu-central-1"}.Build(ctx)
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
	return benchmark{
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
	}
}

// BenchmarkCall measures one call over loopback HTTP, with the SDK's client.
func BenchmarkCall(b *testing.B) {
	s, err := sandbox.Start(b.Context(), sandbox.Options{Dir: b.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	calls := newBenchmark(b, s.Config("eu-central-1"), s.World.Clock)
	for _, name := range []string{"UpdateItem", "DescribeInstances", "PutMetricData"} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				if err := calls[name](n); err != nil {
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

// serving is set in the environment of a process that is a sandbox for
// BenchmarkMemory.
const serving = "HADR_TEST_SERVE_SANDBOX"

func TestMain(m *testing.M) {
	if os.Getenv(serving) == "" {
		os.Exit(m.Run())
	}
	s, err := sandbox.Start(context.Background(), sandbox.Options{Dir: os.Getenv(serving), Listen: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Endpoint)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	s.Close()
}

// BenchmarkMemory measures what is resident of a sandbox in a process of its own
// after 100,000 calls of several kinds, how much of that is its own data and
// not the program, and what a further fifth of the calls adds.
func BenchmarkMemory(b *testing.B) {
	const calls = 100_000
	for b.Loop() {
		endpoint, pid := serve(b)
		cfg := aws.Config{Region: "eu-central-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			APIOptions: []func(*middleware.Stack) error{awsclient.PlainBody}}
		x := newBenchmark(b, cfg, clock.System())
		x.round(b, calls)
		total, data := resident(b, pid)
		x.round(b, calls/5)
		_, later := resident(b, pid)
		b.ReportMetric(total, "resident-MB")
		b.ReportMetric(data, "data-MB")
		b.ReportMetric(later-data, "growth-MB")
	}
}

// serve starts a sandbox as a process of its own.
func serve(b *testing.B) (endpoint string, pid int) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serving+"="+b.TempDir())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	if _, err := fmt.Fscanln(stdout, &endpoint); err != nil || !strings.HasPrefix(endpoint, "http://") {
		b.Fatalf("the sandbox says %q: %v", endpoint, err)
	}
	return endpoint, cmd.Process.Pid
}

func (x benchmark) round(b *testing.B, calls int) {
	for n := range calls {
		name := []string{"UpdateItem", "PutMetricData", "UpdateItem", "DescribeInstances"}[n%4]
		if n%100 == 0 {
			name = "SendCommand"
		}
		if err := x[name](n); err != nil {
			b.Fatalf("call %d, %s: %v", n, name, err)
		}
	}
}

// resident returns the resident memory of a process in MB, and how much of it
// is no file (Linux).
func resident(b *testing.B, pid int) (total, data float64) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("resident memory is read from /proc:", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			total = kb / 1024
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %f kB", &kb); err == nil {
			data = kb / 1024
		}
	}
	return total, data
}
