package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agent is SSM and one instance. Its answers to GetCommandInvocation come in
// order; the last one stays.
type agent struct {
	sendErrs []error // of SendCommand, in order; nil works
	accepts  bool    // a SendCommand that returns an error is accepted all the same
	answers  []any   // status details, or errors
	stdout   string
	code     int32

	sent      []*ssm.SendCommandInput
	listed    int
	cancelled []string
}

func (a *agent) SendCommand(_ context.Context, in *ssm.SendCommandInput, opts ...func(*ssm.Options)) (*ssm.SendCommandOutput, error) {
	var o ssm.Options
	for _, f := range opts {
		f(&o)
	}
	if o.RetryMaxAttempts != 1 {
		return nil, errors.New("the SDK may send this command twice")
	}
	var err error
	if len(a.sendErrs) > 0 {
		err, a.sendErrs = a.sendErrs[0], a.sendErrs[1:]
	}
	if err == nil || a.accepts {
		a.sent = append(a.sent, in)
	}
	return &ssm.SendCommandOutput{Command: &types.Command{CommandId: aws.String(fmt.Sprintf("cmd-%d", len(a.sent)))}}, err
}

func (a *agent) GetCommandInvocation(_ context.Context, in *ssm.GetCommandInvocationInput, _ ...func(*ssm.Options)) (*ssm.GetCommandInvocationOutput, error) {
	now := a.answers[0]
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
	if err, ok := now.(error); ok {
		return nil, err
	}
	return &ssm.GetCommandInvocationOutput{
		StatusDetails: aws.String(now.(string)), StandardOutputContent: &a.stdout, ResponseCode: a.code,
	}, nil
}

func (a *agent) ListCommands(_ context.Context, in *ssm.ListCommandsInput, _ ...func(*ssm.Options)) (*ssm.ListCommandsOutput, error) {
	a.listed++
	out := &ssm.ListCommandsOutput{Commands: []types.Command{{CommandId: aws.String("other"), Comment: aws.String("op/promote/0")}}}
	if in.NextToken == nil {
		out.NextToken = aws.String("page 2")
		return out, nil
	}
	out.Commands = nil
	for i, s := range a.sent {
		out.Commands = append(out.Commands, types.Command{CommandId: aws.String(fmt.Sprintf("cmd-%d", i+1)), Comment: s.Comment})
	}
	return out, nil
}

func (a *agent) CancelCommand(_ context.Context, in *ssm.CancelCommandInput, _ ...func(*ssm.Options)) (*ssm.CancelCommandOutput, error) {
	a.cancelled = append(a.cancelled, *in.CommandId)
	return &ssm.CancelCommandOutput{}, nil
}

var (
	errLost  = errors.New("connection reset")
	throttle = &smithy.GenericAPIError{Code: "ThrottlingException"}
	missing  = &types.InvocationDoesNotExist{}
)

func TestRun(t *testing.T) {
	tests := []struct {
		name    string
		agent   agent
		request func(*Request)
		want    Outcome
		sent    int
		id      string
	}{
		{name: "success", agent: agent{answers: []any{"Pending", "In Progress", "Success"}}, want: OK, sent: 1, id: "cmd-1"},
		{name: "not visible at first", agent: agent{answers: []any{missing, missing, "InProgress", "Success"}}, want: OK, sent: 1, id: "cmd-1"},
		{name: "exit code", agent: agent{answers: []any{"Failed"}, code: 4}, want: Failed, sent: 1, id: "cmd-1"},
		{name: "agent offline", agent: agent{answers: []any{"Delayed", "Delivery Timed Out"}}, want: Undeliverable, sent: 1, id: "cmd-1"},
		{name: "ran too long: may have worked", agent: agent{answers: []any{"Execution Timed Out"}}, want: Unknown, sent: 1, id: "cmd-1"},
		{name: "cancelled by somebody: may have worked", agent: agent{answers: []any{"Cancelled"}}, want: Unknown, sent: 1, id: "cmd-1"},
		{name: "an answer is lost while waiting", agent: agent{answers: []any{errLost, throttle, "Success"}}, want: OK, sent: 1, id: "cmd-1"},
		{name: "reading is denied", agent: agent{answers: []any{&smithy.GenericAPIError{Code: "AccessDeniedException"}}}, want: Unknown, sent: 1, id: "cmd-1"},
		{name: "never ends: unknown when time is up", agent: agent{answers: []any{"In Progress"}}, want: Unknown, sent: 1, id: "cmd-1"},
		{name: "instance is not registered", agent: agent{sendErrs: []error{&types.InvalidInstanceId{}}}, want: Undeliverable},
		{name: "sending is denied", agent: agent{sendErrs: []error{&smithy.GenericAPIError{Code: "AccessDeniedException"}}}, want: Failed},
		{name: "throttled, then sent", agent: agent{sendErrs: []error{throttle, throttle, nil}, answers: []any{"Success"}}, want: OK, sent: 1, id: "cmd-1"},
		{name: "throttled until time is up: certainly not sent", agent: agent{sendErrs: repeat(throttle, 1000)}, want: Failed},
		{name: "answer to sending is lost, the command is found", agent: agent{sendErrs: []error{errLost}, accepts: true, answers: []any{"Success"}}, want: OK, sent: 1, id: "cmd-1"},
		{name: "answer to sending is lost, no command is found", agent: agent{sendErrs: []error{errLost}}, want: Unknown},
		{name: "R21: resumed by its id", agent: agent{answers: []any{"Success"}}, request: func(q *Request) { q.CommandID = "known" }, want: OK, id: "known"},
		{name: "R21: resumed by its comment", agent: agent{answers: []any{"Success"}, sent: []*ssm.SendCommandInput{{Comment: aws.String("op/promote/1")}}},
			request: func(q *Request) { q.Resume = true }, want: OK, sent: 1, id: "cmd-1"},
		{name: "R21: nothing to resume", agent: agent{answers: []any{"Success"}, sent: []*ssm.SendCommandInput{{Comment: aws.String("op/promote/2")}}},
			request: func(q *Request) { q.Resume = true }, want: OK, sent: 2, id: "cmd-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clock.System()
				ctx, stop := clock.WithTimeout(t.Context(), c, time.Minute)
				defer stop()
				a := tt.agent
				var told string
				q := Request{Document: "doc", Instance: "i-1", Comment: "op/promote/1", Parameters: map[string]string{"group": "orders"}, Started: func(id string) { told = id }}
				if tt.request != nil {
					tt.request(&q)
				}
				got := NewRunner(&a, c).Run(ctx, q)
				if got.Outcome != tt.want || got.CommandID != tt.id || told != tt.id || len(a.sent) != tt.sent {
					t.Errorf("Run = %+v (told %q, sent %d), want %s of %q, sent %d", got, told, len(a.sent), tt.want, tt.id, tt.sent)
				}
				if got.Outcome != OK && got.Detail == "" {
					t.Error("no detail for people")
				}
				if tt.want == Failed && tt.agent.code != 0 && got.Code != int(tt.agent.code) {
					t.Errorf("exit code %d", got.Code)
				}
				if len(a.cancelled) > 0 {
					t.Errorf("cancelled %v, which nobody asked for", a.cancelled)
				}
			})
		})
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestRunCancelsWhatItGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.System()
		ctx, stop := clock.WithTimeout(t.Context(), c, 3*time.Second)
		defer stop()
		a := agent{answers: []any{"In Progress"}}
		begin := time.Now()
		got := NewRunner(&a, c).Run(ctx, Request{Document: "doc", Instance: "i-1", Cancel: true})
		if got.Outcome != Unknown || len(a.cancelled) != 1 || !strings.Contains(got.Detail, "InProgress") {
			t.Errorf("Run = %+v, cancelled %v", got, a.cancelled)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("gave up after %s, want 3s", took)
		}
	})
}

func TestSendCommandInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agent{answers: []any{"Success"}, stdout: "hello"}
		got := NewRunner(&a, clock.System()).Run(t.Context(), Request{Document: "doc", Instance: "i-1", Comment: "c", Parameters: map[string]string{"group": "orders"}})
		in := a.sent[0]
		if *in.DocumentName != "doc" || in.InstanceIds[0] != "i-1" || *in.Comment != "c" || in.Parameters["group"][0] != "orders" || *in.TimeoutSeconds != 30 {
			t.Errorf("sent %+v", in)
		}
		if got.Stdout != "hello" {
			t.Errorf("stdout %q", got.Stdout)
		}
	})
}
