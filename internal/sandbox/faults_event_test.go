package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	snsapi "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

// post is a sandbox with a function that notes what arrives when, and one way
// for events to reach it.
type post struct {
	*sandbox.Sandbox
	cfg      aws.Config
	function string
	began    time.Time

	mu   sync.Mutex
	seen []string
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{}
	p.Sandbox = start(t, sandbox.Options{Functions: map[string]lambda.Handler{
		"note": func(_ context.Context, c lambda.Call) ([]byte, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.seen = append(p.seen, fmt.Sprintf("%s %s", word(c.Event), time.Since(p.began)))
			return []byte("{}"), nil
		},
	}})
	p.cfg = p.Config("eu-central-1")
	arn := role(t, p.cfg, "note", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}`)
	functions := lambdaapi.NewFromConfig(p.cfg)
	f := must[*lambdaapi.CreateFunctionOutput](t)(functions.CreateFunction(t.Context(), &lambdaapi.CreateFunctionInput{FunctionName: aws.String("note"), Role: &arn,
		Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("note"), Code: &lambdatypes.FunctionCode{ZipFile: archive(t)}}))
	p.function = *f.FunctionArn
	for _, principal := range []string{"sns.amazonaws.com", "events.amazonaws.com", "lambda.alarms.cloudwatch.amazonaws.com"} {
		must[*lambdaapi.AddPermissionOutput](t)(functions.AddPermission(t.Context(), &lambdaapi.AddPermissionInput{FunctionName: aws.String("note"), StatementId: aws.String(principal[:3]),
			Action: aws.String("lambda:InvokeFunction"), Principal: &principal}))
	}
	time.Sleep(time.Minute) // the function becomes active
	return p
}

// word finds one, two or three in an event, in whatever envelope.
func word(event []byte) string {
	for _, w := range []string{"one", "two", "three"} {
		if strings.Contains(string(event), w) {
			return w
		}
	}
	return string(event)
}

// ways are how an event reaches the function; each returns what sends one.
var ways = map[string]func(*testing.T, *post) func(word string) error{
	"lambda": func(t *testing.T, p *post) func(string) error {
		functions := lambdaapi.NewFromConfig(p.cfg)
		return func(word string) error {
			payload, err := json.Marshal(word)
			if err != nil {
				return err
			}
			_, err = functions.Invoke(t.Context(), &lambdaapi.InvokeInput{FunctionName: &p.function, InvocationType: lambdatypes.InvocationTypeEvent, Payload: payload})
			return err
		}
	},
	"sns": func(t *testing.T, p *post) func(string) error {
		topics := snsapi.NewFromConfig(p.cfg)
		topic := must[*snsapi.CreateTopicOutput](t)(topics.CreateTopic(t.Context(), &snsapi.CreateTopicInput{Name: aws.String("news")}))
		must[*snsapi.SubscribeOutput](t)(topics.Subscribe(t.Context(), &snsapi.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("lambda"), Endpoint: &p.function}))
		return func(word string) error {
			_, err := topics.Publish(t.Context(), &snsapi.PublishInput{TopicArn: topic.TopicArn, Message: &word})
			return err
		}
	},
	"eventbridge": func(t *testing.T, p *post) func(string) error {
		rules := eventbridge.NewFromConfig(p.cfg)
		must[*eventbridge.PutRuleOutput](t)(rules.PutRule(t.Context(), &eventbridge.PutRuleInput{Name: aws.String("all"), EventPattern: aws.String(`{"source":["test"]}`)}))
		must[*eventbridge.PutTargetsOutput](t)(rules.PutTargets(t.Context(), &eventbridge.PutTargetsInput{Rule: aws.String("all"), Targets: []ebtypes.Target{{Id: aws.String("f"), Arn: &p.function}}}))
		return func(word string) error {
			_, err := rules.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{Source: aws.String("test"), DetailType: &word, Detail: aws.String("{}")}}})
			return err
		}
	},
	"cloudwatch": func(t *testing.T, p *post) func(string) error {
		alarms := cloudwatch.NewFromConfig(p.cfg)
		for _, name := range []string{"one", "two", "three"} {
			must[*cloudwatch.PutMetricAlarmOutput](t)(alarms.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{AlarmName: &name, MetricName: aws.String("m"), Namespace: aws.String("n"),
				Statistic: cwtypes.StatisticSum, Period: aws.Int32(86400), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1), ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold,
				AlarmActions: []string{p.function}}))
		}
		return func(word string) error {
			_, err := alarms.SetAlarmState(t.Context(), &cloudwatch.SetAlarmStateInput{AlarmName: &word, StateValue: cwtypes.StateValueAlarm, StateReason: aws.String("test")})
			return err
		}
	},
}

// TestFaultsOfEvents: on every way, events come late, more than once, or in
// another order than they were sent, one second apart.
func TestFaultsOfEvents(t *testing.T) {
	d := func(d time.Duration) fault.Duration { return fault.Duration(d) }
	for _, tt := range []struct {
		name  string
		fault *fault.Fault
		want  []string
	}{
		{"no fault", nil, []string{"one 0s", "two 1s", "three 2s"}},
		{"all late", &fault.Fault{Kind: fault.Late, Effect: fault.Effect{Delay: d(time.Minute)}}, []string{"one 1m0s", "two 1m1s", "three 1m2s"}},
		{"the first one late", &fault.Fault{Kind: fault.Late, Effect: fault.Effect{Delay: d(1500 * time.Millisecond)}, Limits: fault.Limits{Count: 1}}, []string{"two 1s", "one 1.5s", "three 2s"}},
		{"the first one twice", &fault.Fault{Kind: fault.Duplicate, Limits: fault.Limits{Count: 1}}, []string{"one 0s", "one 0s", "two 1s", "three 2s"}},
		{"the first one three times, later", &fault.Fault{Kind: fault.Duplicate, Effect: fault.Effect{Copies: 3, Delay: d(10 * time.Second)}, Limits: fault.Limits{Count: 1}},
			[]string{"one 0s", "two 1s", "three 2s", "one 10s", "one 10s"}},
		{"overtaken", &fault.Fault{Kind: fault.Reorder, Limits: fault.Limits{Count: 1}}, []string{"two 1s", "one 1.1s", "three 2s"}},
		{"the last one waits for nothing", &fault.Fault{Kind: fault.Reorder, Effect: fault.Effect{Delay: d(5 * time.Second)}}, []string{"two 1s", "one 1.1s", "three 7s"}},
		{"to another target", &fault.Fault{Kind: fault.Late, Selector: fault.Selector{Resource: "function:other"}, Effect: fault.Effect{Delay: d(time.Minute)}}, []string{"one 0s", "two 1s", "three 2s"}},
		{"to this target", &fault.Fault{Kind: fault.Late, Selector: fault.Selector{Resource: "note", Region: "eu-central-1"}, Effect: fault.Effect{Delay: d(time.Minute)}}, []string{"one 1m0s", "two 1m1s", "three 1m2s"}},
	} {
		for way, open := range ways {
			t.Run(tt.name+" by "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPost(t)
					send := open(t, p)
					if tt.fault != nil {
						f := *tt.fault
						f.Service = way
						inject(t, p.Sandbox, f)
					}
					p.began = time.Now()
					for _, w := range []string{"one", "two", "three"} {
						if err := send(w); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
						time.Sleep(time.Second)
					}
					time.Sleep(2 * time.Minute)
					p.mu.Lock()
					defer p.mu.Unlock()
					if diff := cmp.Diff(tt.want, p.seen); diff != "" {
						t.Error(diff)
					}
				})
			})
		}
	}
}

// TestAnEndedFaultHoldsNothingBack: removing a fault delivers what waits for an
// overtaking event, and closing the sandbox does not wait for late ones.
func TestAnEndedFaultHoldsNothingBack(t *testing.T) { synctest.Test(t, testAnEndedFault) }

func testAnEndedFault(t *testing.T) {
	p := newPost(t)
	send := ways["lambda"](t, p)
	p.began = time.Now()
	f := inject(t, p.Sandbox, fault.Fault{Kind: fault.Reorder})
	if err := send("one"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := p.Faults.Remove(f.ID); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	inject(t, p.Sandbox, fault.Fault{Kind: fault.Late, Effect: fault.Effect{Delay: fault.Duration(24 * time.Hour)}})
	if err := send("two"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one 1s"}, p.seen); diff != "" {
		t.Error(diff)
	}
	closed := time.Now()
	p.Close()
	if took := time.Since(closed); took != 0 {
		t.Errorf("the sandbox took %s to close", took)
	}
}
