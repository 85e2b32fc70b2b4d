package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	function = "arn:aws:lambda:eu-west-1:123456789012:function:f"
	queue    = "arn:aws:sqs:eu-west-1:123456789012:q"
	topic    = "arn:aws:sns:eu-west-1:123456789012:t"
	dead     = "arn:aws:sqs:eu-west-1:123456789012:dead"
	rule     = "arn:aws:events:eu-west-1:123456789012:rule/r"
	role     = "arn:aws:iam::123456789012:role/r"
)

// ports write down what they are asked, and refuse targets with an error.
type ports struct {
	log  []string
	fail map[string]error
}

func (p *ports) note(target, format string, args ...any) error {
	p.log = append(p.log, fmt.Sprintf(format, args...))
	return p.fail[target]
}

func (p *ports) InvokeAsync(arn string, body []byte, principal, source, account string) error {
	return p.note(arn, "%s invokes %s for %s of %s: %s", principal, arn, source, account, body)
}

func (p *ports) Enqueue(arn string, body []byte) error {
	return p.note(arn, "enqueue %s: %s", arn, body)
}

func (p *ports) Deliver(arn, _ string, body []byte) error {
	return p.note(arn, "deliver %s: %s", arn, body)
}

func (p *ports) Send(arn string, body []byte, principal, source string) error {
	return p.note(arn, "%s sends to %s for %s: %s", principal, arn, source, body)
}

func (p *ports) Assumable(roleARN, service, source string) error {
	return p.note(roleARN, "%s assumes %s for %s", service, roleARN, source)
}

func (p *ports) Permit(roleARN, service, source, action, resource string) error {
	return p.note(roleARN, "%s as %s for %s: %s on %s", service, roleARN, source, action, resource)
}

func parcel(target, roleARN string) delivery.Parcel {
	return delivery.Parcel{
		Target: target, Role: roleARN, Source: rule, Account: "123456789012", Retry: delivery.Retry{Attempts: 3, Age: time.Hour},
		Body: func(attempt int) []byte { return strconv.AppendInt(nil, int64(attempt), 10) },
	}
}

func TestPermissionsOfTargets(t *testing.T) {
	for _, tc := range []struct {
		target, role string
		want         []string
	}{
		{function, "", []string{"events.amazonaws.com invokes " + function + " for " + rule + " of 123456789012: 1"}},
		{queue, "", []string{"events.amazonaws.com sends to " + queue + " for " + rule + ": 1"}},
		{topic, "", []string{"events.amazonaws.com sends to " + topic + " for " + rule + ": 1"}},
		{function, role, []string{"events.amazonaws.com as " + role + " for " + rule + ": lambda:InvokeFunction on " + function, "enqueue " + function + ": 1"}},
		{queue, role, []string{"events.amazonaws.com as " + role + " for " + rule + ": sqs:SendMessage on " + queue, "deliver " + queue + ": 1"}},
		{topic, role, []string{"events.amazonaws.com as " + role + " for " + rule + ": sns:Publish on " + topic, "deliver " + topic + ": 1"}},
	} {
		p := &ports{}
		c := delivery.Courier{Clock: clock.System(), Ports: delivery.Ports{Functions: p, Messages: p, Roles: p}, Principal: "events.amazonaws.com"}
		if err := c.Deliver(t.Context(), parcel(tc.target, tc.role)); err != nil {
			t.Errorf("%s: %v", tc.target, err)
		}
		if diff := cmp.Diff(tc.want, p.log); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.target, diff)
		}
	}
}

func TestRetriesAndDeadLetters(t *testing.T) {
	busy := wire.Errorf("TooManyRequestsException", "busy").WithStatus(429)
	denied := wire.Errorf("AccessDeniedException", "no").WithStatus(403)
	for _, tc := range []struct {
		name     string
		err      error
		retry    delivery.Retry
		attempts int
		took     time.Duration
	}{
		{"a refusal is final", denied, delivery.Retry{Attempts: 3, Age: time.Hour}, 1, 0},
		{"an unknown error is final", errors.New("odd"), delivery.Retry{Attempts: 3, Age: time.Hour}, 1, 0},
		{"a busy target is tried again, later and later", busy, delivery.Retry{Attempts: 3, Age: time.Hour}, 4, 7 * time.Second},
		{"without retries there is one attempt", busy, delivery.Retry{Attempts: 0, Age: time.Hour}, 1, 0},
		{"an old event is given up", busy, delivery.Retry{Attempts: 185, Age: time.Minute}, 6, 31 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &ports{fail: map[string]error{queue: tc.err}}
				c := delivery.Courier{Clock: clock.System(), Ports: delivery.Ports{Functions: p, Messages: p, Roles: p}, Principal: "events.amazonaws.com"}
				x := parcel(queue, "")
				x.Retry, x.DeadLetter = tc.retry, dead
				begun := time.Now()
				if err := c.Deliver(t.Context(), x); !errors.Is(err, tc.err) {
					t.Errorf("error is %v, want %v", err, tc.err)
				}
				if took := time.Since(begun); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				want := fmt.Sprintf("events.amazonaws.com sends to %s for %s: %d", dead, rule, tc.attempts)
				if len(p.log) != tc.attempts+1 || p.log[tc.attempts] != want {
					t.Errorf("calls are %q, want %d attempts and then %q", p.log, tc.attempts, want)
				}
			})
		})
	}
}

func TestDeliveryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &ports{fail: map[string]error{queue: wire.Errorf("InternalFailure", "down").WithStatus(500)}}
		c := delivery.Courier{Clock: clock.System(), Ports: delivery.Ports{Messages: p}}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		x := parcel(queue, "")
		x.Retry.Attempts, x.DeadLetter = 100, dead
		if err := c.Deliver(ctx, x); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		if last := p.log[len(p.log)-1]; last != " sends to "+queue+" for "+rule+": 7" {
			t.Errorf("the last call is %q", last)
		}
	})
}

func TestTargetsAndRetries(t *testing.T) {
	for arn, want := range map[string]bool{
		function: true, function + ":live": true, function + ":$LATEST": true, queue: true, topic: true, queue + ".fifo": false,
		"arn:aws:states:eu-west-1:123456789012:stateMachine:x": false, "": false, "arn:aws:lambda:eu-west-1:1:function:f": false,
	} {
		if delivery.Reachable(arn) != want {
			t.Errorf("Reachable(%q) is %t", arn, !want)
		}
	}
	if !delivery.Queue(queue) || delivery.Queue(topic) || !delivery.Function(function) || delivery.Function(queue) || delivery.Function("x") {
		t.Error("queues and functions are mistaken")
	}
	for _, tc := range []struct {
		attempts, age *int32
		want          delivery.Retry
		ok            bool
	}{
		{nil, nil, delivery.Retry{Attempts: 185, Age: 24 * time.Hour}, true},
		{aws.Int32(0), aws.Int32(60), delivery.Retry{Attempts: 0, Age: time.Minute}, true},
		{aws.Int32(186), nil, delivery.Retry{}, false},
		{aws.Int32(-1), nil, delivery.Retry{}, false},
		{nil, aws.Int32(59), delivery.Retry{}, false},
		{nil, aws.Int32(86401), delivery.Retry{}, false},
	} {
		if got, err := delivery.NewRetry(tc.attempts, tc.age); (err == nil) != tc.ok || tc.ok && got != tc.want {
			t.Errorf("NewRetry = %v, %v", got, err)
		}
	}
}
