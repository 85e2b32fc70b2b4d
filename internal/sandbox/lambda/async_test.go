package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
)

// run is one run of a function in this process.
type run struct {
	at    time.Duration // since the start of the test
	id    string
	event string
}

// runs records the runs of a function that does what its event says.
type runs struct {
	start time.Time

	mu    sync.Mutex
	all   []run
	calls []lambda.Call
}

func (r *runs) list() []run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// last is the newest call.
func (r *runs) last() lambda.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

func (r *runs) handle(ctx context.Context, c lambda.Call) ([]byte, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	r.mu.Lock()
	r.calls = append(r.calls, c)
	r.all = append(r.all, run{time.Since(r.start), lc.AwsRequestID, string(c.Event)})
	r.mu.Unlock()
	switch {
	case strings.Contains(string(c.Event), "fail"):
		return nil, errors.New("told to fail")
	case strings.Contains(string(c.Event), "panic"):
		panic("told to panic")
	case strings.Contains(string(c.Event), "hang"):
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c.Log("handled")
	return []byte(`{"ok":true}`), nil
}

// virtual runs a test in a bubble with a function "f" that is active.
func virtual(t *testing.T, test func(t *testing.T, c *client, r *runs)) {
	synctest.Test(t, func(t *testing.T) {
		r := &runs{}
		c := newClient(t, clock.System(), lambda.NewInProcess(map[string]lambda.Handler{"bootstrap": r.handle}))
		c.create(t, "f", nil)
		r.start = time.Now()
		test(t, c, r)
		c.lambda.Close()
	})
}

func (c *client) send(t *testing.T, event string) {
	t.Helper()
	out, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f"), InvocationType: "Event", Payload: []byte(event)})
	noError(t, err)
	if out.StatusCode != 202 || len(out.Payload) != 0 {
		t.Errorf("status %d with %q, want 202 without", out.StatusCode, out.Payload)
	}
}

func (c *client) settings(t *testing.T, in api.PutFunctionEventInvokeConfigInput) {
	t.Helper()
	in.FunctionName = aws.String("f")
	_, err := c.PutFunctionEventInvokeConfig(t.Context(), &in)
	noError(t, err)
}

const queue = "arn:aws:sqs:eu-central-1:123456789012:failed"

func onFailure(arn string) *types.DestinationConfig {
	return &types.DestinationConfig{OnFailure: &types.OnFailure{Destination: &arn}}
}

func TestSynchronousInvocation(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		out := c.invoke(t, "f", `{"x":1}`)
		if string(out.Payload) != `{"ok":true}` || out.FunctionError != nil || r.last().Env["TAG"] != "one" || r.last().Credentials.AccessKey != "ASIAf" || r.list()[0].id != r.last().RequestID {
			t.Errorf("payload %s, error %q, call %+v", out.Payload, aws.ToString(out.FunctionError), r.last())
		}
		for event, want := range map[string]string{`{"do":"fail"}`: `{"errorMessage":"told to fail","errorType":"errorString"}`, `{"do":"panic"}`: "exit status 2", `{"do":"hang"}`: "Task timed out after 20.00 seconds"} {
			start := time.Now()
			out := c.invoke(t, "f", event)
			if aws.ToString(out.FunctionError) != "Unhandled" || !strings.Contains(string(out.Payload), want) {
				t.Errorf("%s: error %q, payload %s, want %s", event, aws.ToString(out.FunctionError), out.Payload, want)
			}
			if d := time.Since(start); strings.Contains(event, "hang") && d != 20*time.Second {
				t.Errorf("ended after %v, want 20s", d)
			}
		}
		n := len(r.list())
		dry, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f"), InvocationType: "DryRun"})
		noError(t, err)
		if dry.StatusCode != 204 || len(r.list()) != n {
			t.Errorf("DryRun: status %d, %d runs", dry.StatusCode, len(r.list())-n)
		}
		_, err = c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f"), Payload: []byte("{")})
		wantCode(t, err, "InvalidRequestContentException")
		_, err = c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("f"), Payload: []byte(`"` + strings.Repeat("x", 6<<20) + `"`)})
		wantCode(t, err, "RequestTooLargeException")
	})
}

// A failed event runs after 1 and after 2 more minutes with the same ID, and
// then goes to the destination.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name      string
		settings  api.PutFunctionEventInvokeConfigInput
		event     string
		want      []time.Duration
		condition string
		reported  time.Duration
	}{
		{"defaults", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue)}, `{"do":"fail"}`, []time.Duration{0, time.Minute, 3 * time.Minute}, "RetriesExhausted", 3 * time.Minute},
		{"success", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue)}, `{}`, []time.Duration{0}, "", 0},
		{"no retries", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue), MaximumRetryAttempts: aws.Int32(0)}, `{"do":"fail"}`, []time.Duration{0}, "RetriesExhausted", 0},
		{"one retry", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue), MaximumRetryAttempts: aws.Int32(1)}, `{"do":"fail"}`, []time.Duration{0, time.Minute}, "RetriesExhausted", time.Minute},
		{"too old", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue), MaximumEventAgeInSeconds: aws.Int32(90)}, `{"do":"fail"}`, []time.Duration{0, time.Minute}, "EventAgeExceeded", 90 * time.Second},
		{"timeouts count", api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue), MaximumRetryAttempts: aws.Int32(1)}, `{"do":"hang"}`, []time.Duration{0, 80 * time.Second}, "RetriesExhausted", 100 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, c *client, r *runs) {
				c.settings(t, tt.settings)
				c.send(t, tt.event)
				time.Sleep(time.Hour)
				var at []time.Duration
				for _, one := range r.list() {
					at = append(at, one.at)
					if one.id != r.list()[0].id || one.event != tt.event {
						t.Errorf("run %+v, want request %s with %s", one, r.list()[0].id, tt.event)
					}
				}
				if diff := cmp.Diff(tt.want, at); diff != "" {
					t.Errorf("runs (-want +got):\n%s", diff)
				}
				sent := c.sent.got()
				if tt.condition == "" {
					if len(sent) != 0 {
						t.Errorf("the destination got %s", sent[0].body)
					}
					return
				}
				if len(sent) != 1 || sent[0].target != queue || sent[0].at.Sub(r.start) != tt.reported {
					t.Fatalf("the destination got %+v, want one record after %v", sent, tt.reported)
				}
				checkRecord(t, sent[0].body, tt.event, tt.condition, r)
			})
		})
	}
}

func checkRecord(t *testing.T, body []byte, event, condition string, r *runs) {
	t.Helper()
	var got struct {
		Version        string
		RequestContext struct {
			RequestID, FunctionArn, Condition string
			ApproximateInvokeCount            int
		}
		RequestPayload  json.RawMessage
		ResponseContext struct {
			StatusCode                     int
			ExecutedVersion, FunctionError string
		}
		ResponsePayload struct{ ErrorMessage string }
	}
	noError(t, json.Unmarshal(body, &got))
	c := got.RequestContext
	if got.Version != "1.0" || c.RequestID != r.list()[0].id || c.FunctionArn != "arn:aws:lambda:eu-central-1:123456789012:function:f:$LATEST" ||
		c.Condition != condition || c.ApproximateInvokeCount != len(r.list()) || string(got.RequestPayload) != event ||
		got.ResponseContext.FunctionError != "Unhandled" || got.ResponseContext.ExecutedVersion != "$LATEST" || got.ResponsePayload.ErrorMessage == "" {
		t.Errorf("record is %s", body)
	}
}

// While a function is throttled its events wait, doubling from 1 s to 5 min,
// and a try does not count.
func TestThrottledEventsWait(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		reserve := func(n int32) {
			_, err := c.PutFunctionConcurrency(t.Context(), &api.PutFunctionConcurrencyInput{FunctionName: aws.String("f"), ReservedConcurrentExecutions: &n})
			noError(t, err)
		}
		reserve(0)
		c.send(t, `{}`)
		time.Sleep(10 * time.Second)
		reserve(1)
		time.Sleep(time.Hour)
		if len(r.list()) != 1 || r.list()[0].at != 15*time.Second { // 1 + 2 + 4 + 8
			t.Errorf("runs %+v, want one after 15s", r.list())
		}
		reserve(0)
		c.settings(t, api.PutFunctionEventInvokeConfigInput{DestinationConfig: onFailure(queue), MaximumEventAgeInSeconds: aws.Int32(60)})
		c.send(t, `{}`)
		time.Sleep(time.Hour)
		if sent := c.sent.got(); len(sent) != 1 || !strings.Contains(string(sent[0].body), `"condition":"EventAgeExceeded","approximateInvokeCount":0`) || len(r.list()) != 1 {
			t.Errorf("sent %+v after %d runs", sent, len(r.list()))
		}
	})
}

// Destinations can be functions, for success too; the dead letter queue gets
// the event itself.
func TestOtherDestinations(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		c.create(t, "next", func(in *api.CreateFunctionInput) {
			in.DeadLetterConfig = &types.DeadLetterConfig{TargetArn: aws.String(queue)}
		})
		c.settings(t, api.PutFunctionEventInvokeConfigInput{DestinationConfig: &types.DestinationConfig{OnSuccess: &types.OnSuccess{Destination: aws.String("arn:aws:lambda:eu-central-1:123456789012:function:next")}}})
		c.send(t, `{"n":"one"}`)
		synctest.Wait()
		if len(r.list()) != 2 || !strings.Contains(r.list()[1].event, `"condition":"Success"`) || !strings.Contains(r.list()[1].event, `"responsePayload":{"ok":true}`) {
			t.Fatalf("runs are %+v", r.list())
		}
		_, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: aws.String("next"), InvocationType: "Event", Payload: []byte(`{"do":"fail"}`)})
		noError(t, err)
		time.Sleep(time.Hour)
		if sent := c.sent.got(); len(sent) != 1 || string(sent[0].body) != `{"do":"fail"}` {
			t.Errorf("the dead letter queue got %+v", sent)
		}
	})
}

func TestDeletedFunctionForgetsItsEvents(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		c.send(t, `{"do":"fail"}`)
		time.Sleep(time.Second)
		_, err := c.DeleteFunction(t.Context(), &api.DeleteFunctionInput{FunctionName: aws.String("f")})
		noError(t, err)
		time.Sleep(time.Hour)
		if len(r.list()) != 1 {
			t.Errorf("%d runs, want 1", len(r.list()))
		}
	})
}

// Another service may invoke only what the resource policy lets it.
func TestInvokeAsyncAsksThePolicy(t *testing.T) {
	const (
		alarms  = "lambda.alarms.cloudwatch.amazonaws.com"
		alarm   = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:db/primary"
		account = "123456789012"
		arn     = "arn:aws:lambda:eu-central-1:123456789012:function:f"
	)
	for _, tt := range []struct {
		name       string
		permission *api.AddPermissionInput
		arn        string
		code       string
	}{
		{"no policy", nil, arn, "AccessDeniedException"},
		{"service", &api.AddPermissionInput{Principal: aws.String(alarms)}, arn, ""},
		{"everybody", &api.AddPermissionInput{Principal: aws.String("*")}, arn, ""},
		{"other service", &api.AddPermissionInput{Principal: aws.String("events.amazonaws.com")}, arn, "AccessDeniedException"},
		{"an account", &api.AddPermissionInput{Principal: aws.String(account)}, arn, "AccessDeniedException"},
		{"this alarm", &api.AddPermissionInput{Principal: aws.String(alarms), SourceArn: aws.String(alarm), SourceAccount: aws.String(account)}, arn, ""},
		{"alarms like it", &api.AddPermissionInput{Principal: aws.String(alarms), SourceArn: aws.String("arn:aws:cloudwatch:*:123456789012:alarm:db*")}, arn, ""},
		{"another alarm", &api.AddPermissionInput{Principal: aws.String(alarms), SourceArn: aws.String("arn:aws:cloudwatch:eu-central-1:123456789012:alarm:web")}, arn, "AccessDeniedException"},
		{"a star stays in its part", &api.AddPermissionInput{Principal: aws.String(alarms), SourceArn: aws.String("arn:aws:cloudwatch:*:alarm:db/primary")}, arn, "AccessDeniedException"},
		{"another account", &api.AddPermissionInput{Principal: aws.String(alarms), SourceAccount: aws.String("999999999999")}, arn, "AccessDeniedException"},
		{"another action", &api.AddPermissionInput{Principal: aws.String(alarms), Action: aws.String("lambda:GetFunction")}, arn, "AccessDeniedException"},
		{"alias with its own policy", &api.AddPermissionInput{Principal: aws.String(alarms), Qualifier: aws.String("live")}, arn + ":live", ""},
		{"alias with the function's policy", &api.AddPermissionInput{Principal: aws.String(alarms)}, arn + ":live", "AccessDeniedException"},
		{"function with the alias's policy", &api.AddPermissionInput{Principal: aws.String(alarms), Qualifier: aws.String("live")}, arn, "AccessDeniedException"},
		{"missing function", nil, arn + "2", "ResourceNotFoundException"},
		{"missing version", nil, arn + ":7", "ResourceNotFoundException"},
		{"no function at all", nil, queue, "InvalidParameterValueException"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, c *client, r *runs) {
				_, err := c.PublishVersion(t.Context(), &api.PublishVersionInput{FunctionName: aws.String("f")})
				noError(t, err)
				_, err = c.CreateAlias(t.Context(), &api.CreateAliasInput{FunctionName: aws.String("f"), Name: aws.String("live"), FunctionVersion: aws.String("1")})
				noError(t, err)
				if p := tt.permission; p != nil {
					in := *p
					in.FunctionName, in.StatementId = aws.String("f"), aws.String("s")
					if in.Action == nil {
						in.Action = aws.String("lambda:InvokeFunction")
					}
					_, err = c.AddPermission(t.Context(), &in)
					noError(t, err)
				}
				err = c.lambda.InvokeAsync(tt.arn, []byte(`{"alarm":1}`), alarms, alarm, account)
				synctest.Wait()
				want := 0
				if tt.code != "" {
					wantCode(t, err, tt.code)
				} else {
					noError(t, err)
					want = 1
				}
				if len(r.list()) != want {
					t.Errorf("%d runs, want %d", len(r.list()), want)
				}
			})
		})
	}
}

// A handler that is running when the sandbox closes ends with its context.
func TestCloseEndsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		c := newClient(t, clock.System(), lambda.NewInProcess(map[string]lambda.Handler{"bootstrap": func(ctx context.Context, _ lambda.Call) ([]byte, error) {
			<-ctx.Done()
			ended.Store(true)
			return nil, ctx.Err()
		}}))
		c.create(t, "f", nil)
		c.send(t, `{}`)
		time.Sleep(time.Second)
		c.lambda.Close()
		if !ended.Load() {
			t.Error("the handler goes on after Close")
		}
	})
}
