package sandbox_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

var night = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

// alarmAfter puts an alarm and one bad datum at a time, and returns the first
// step of a second after which the alarm is red.
func alarmAfter(t *testing.T, cfg aws.Config, advance func(time.Duration)) int {
	t.Helper()
	c := cloudwatch.NewFromConfig(cfg)
	must[*cloudwatch.PutMetricAlarmOutput](t)(c.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("latency"), Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"),
		Statistic: cwtypes.StatisticMaximum, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(20000), ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold}))
	must[*cloudwatch.PutMetricDataOutput](t)(c.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: aws.String("HADR"),
		MetricData: []cwtypes.MetricDatum{{MetricName: aws.String("SQLLatency"), Value: aws.Float64(30000)}}}))
	for second := 1; second <= 300; second++ {
		advance(time.Second)
		o := must[*cloudwatch.DescribeAlarmsOutput](t)(c.DescribeAlarms(t.Context(), &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{"latency"}}))
		if o.MetricAlarms[0].StateValue == cwtypes.StateValueAlarm {
			if at := *o.MetricAlarms[0].StateTransitionedTimestamp; at.Sub(night) > time.Duration(second)*time.Second || at.Sub(night) <= time.Duration(second-1)*time.Second {
				t.Errorf("the alarm says that it changed at %s, seen after %d s", at, second)
			}
			return second
		}
	}
	t.Fatal("the alarm stays calm")
	return 0
}

// TestAnAlarmByTheManualClock: an alarm changes at one certain advance, the same
// in a bubble, where it is exact by itself, and on a socket, where the sandbox
// must know when everything has happened; however far each step goes.
func TestAnAlarmByTheManualClock(t *testing.T) {
	var want int
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewManual(night, func(context.Context) error { synctest.Wait(); return nil })
		s := start(t, sandbox.Options{Clock: c})
		want = alarmAfter(t, s.Config("eu-central-1"), func(d time.Duration) {
			if err := c.Advance(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	})
	if want < 60 || want > 130 {
		t.Fatalf("the alarm is red after %d s", want)
	}
	for range 2 {
		s := start(t, sandbox.Options{Manual: night, Listen: "127.0.0.1:0"})
		got := alarmAfter(t, s.Config("eu-central-1"), func(d time.Duration) { advance(t, s, d) })
		if got != want {
			t.Errorf("on a socket the alarm is red after %d s, in a bubble after %d s", got, want)
		}
	}
}

// advance moves the clock as a program outside does.
func advance(t *testing.T, s *sandbox.Sandbox, d time.Duration) time.Time {
	t.Helper()
	r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint+"/_sandbox/clock", strings.NewReader(`{"advance":"`+d.String()+`"}`)))
	resp := must[*http.Response](t)(http.DefaultClient.Do(r))
	defer resp.Body.Close()
	var state struct {
		Now   time.Time
		Error string
	}
	if err := json.NewDecoder(resp.Body).Decode(&state); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("advancing by %s: %s %s %v", d, resp.Status, state.Error, err)
	}
	return state.Now
}

// TestEverythingDueHasHappened: one step over minutes answers when the alarm has
// invoked its function, the function has failed, and Lambda has tried again
// after one and after two minutes.
func TestEverythingDueHasHappened(t *testing.T) {
	var tries []time.Time
	var s *sandbox.Sandbox
	s = start(t, sandbox.Options{Manual: night, Listen: "127.0.0.1:0", Functions: map[string]lambda.Handler{
		"fail": func(ctx context.Context, _ lambda.Call) ([]byte, error) {
			tries = append(tries, s.World.Clock.Now())
			if err := s.World.Clock.Sleep(ctx, time.Second); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("try %d failed", len(tries))
		},
	}})
	cfg := s.Config("eu-central-1")
	arn := role(t, cfg, "fail", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}`)
	functions := lambdaapi.NewFromConfig(cfg)
	f := must[*lambdaapi.CreateFunctionOutput](t)(functions.CreateFunction(t.Context(), &lambdaapi.CreateFunctionInput{FunctionName: aws.String("fail"), Role: &arn,
		Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("fail"), Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}}))
	must[*lambdaapi.AddPermissionOutput](t)(functions.AddPermission(t.Context(), &lambdaapi.AddPermissionInput{FunctionName: aws.String("fail"), StatementId: aws.String("alarms"),
		Action: aws.String("lambda:InvokeFunction"), Principal: aws.String("lambda.alarms.cloudwatch.amazonaws.com")}))
	advance(t, s, time.Minute)
	alarms := cloudwatch.NewFromConfig(cfg)
	must[*cloudwatch.PutMetricAlarmOutput](t)(alarms.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("silent"), Namespace: aws.String("HADR"), MetricName: aws.String("SQLLatency"),
		Statistic: cwtypes.StatisticSampleCount, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1), ComparisonOperator: cwtypes.ComparisonOperatorLessThanThreshold,
		TreatMissingData: aws.String("breaching"), AlarmActions: []string{*f.FunctionArn}}))
	now := advance(t, s, 30*time.Minute)
	if want := night.Add(31 * time.Minute); !now.Equal(want) {
		t.Errorf("the clock reads %s, want %s", now, want)
	}
	if len(tries) != 3 || tries[1].Sub(tries[0]) != time.Minute+time.Second || tries[2].Sub(tries[1]) != 2*time.Minute+time.Second {
		t.Errorf("the function ran at %v", tries)
	}
}

// TestFunctionsInProcessesFollowTheManualClock: the code of a function in a
// process of its own sleeps by the sandbox's clock, and an advance answers when
// it has done what is due.
func TestFunctionsInProcessesFollowTheManualClock(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	s := start(t, sandbox.Options{Manual: night, Listen: "127.0.0.1:0", FunctionProcesses: true})
	cfg := s.Config("eu-central-1")
	ctx := t.Context()
	arn := role(t, cfg, "sleeper", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}`)
	functions := lambdaapi.NewFromConfig(cfg)
	architecture := lambdatypes.ArchitectureX8664
	if runtime.GOARCH == "arm64" {
		architecture = lambdatypes.ArchitectureArm64
	}
	must[*lambdaapi.CreateFunctionOutput](t)(functions.CreateFunction(ctx, &lambdaapi.CreateFunctionInput{FunctionName: aws.String("sleeper"), Role: &arn, Timeout: aws.Int32(60),
		Architectures: []lambdatypes.Architecture{architecture}, Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("x"), Code: &lambdatypes.FunctionCode{ZipFile: program(t, "./testdata/sleeper")}}))
	advance(t, s, time.Minute)
	must[*lambdaapi.InvokeOutput](t)(functions.Invoke(ctx, &lambdaapi.InvokeInput{FunctionName: aws.String("sleeper"), InvocationType: lambdatypes.InvocationTypeEvent}))
	printed := func() (lines []string) {
		o, err := cloudwatchlogs.NewFromConfig(cfg).FilterLogEvents(ctx, &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("/aws/lambda/sleeper"), FilterPattern: aws.String("slept")})
		if err != nil {
			return []string{err.Error()}
		}
		for _, e := range o.Events {
			lines = append(lines, strings.TrimSpace(*e.Message))
		}
		return lines
	}
	advance(t, s, 19999*time.Millisecond)
	if got := printed(); len(got) != 0 {
		t.Errorf("before the time the function printed %q", got)
	}
	advance(t, s, time.Millisecond)
	if got := printed(); len(got) != 1 || got[0] != "slept from 03:01:00 to 03:01:20" {
		t.Errorf("the function printed %q", got)
	}
}

// program builds the code of a function and packs it.
func program(t *testing.T, dir string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-o", binary, dir).CombinedOutput(); err != nil {
		t.Fatalf("building a function: %v\n%s", err, out)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(must[[]byte](t)(os.ReadFile(binary))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
