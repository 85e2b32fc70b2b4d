package events_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/events"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base     = "arn:aws:events:eu-west-1:123456789012:"
	function = "arn:aws:lambda:eu-west-1:123456789012:function:f"
	queue    = "arn:aws:sqs:eu-west-1:123456789012:q"
	dead     = "arn:aws:sqs:eu-west-1:123456789012:dead"
	topic    = "arn:aws:sns:eu-west-1:123456789012:t"
	role     = "arn:aws:iam::123456789012:role/run"
)

// arrival is one event at a target.
type arrival struct {
	after       time.Duration // since the start of the test
	target, how string
	body        string
}

// landscape records what targets receive.
type landscape struct {
	*api.Client
	t       *testing.T
	begun   time.Time
	service *events.Events
	refuse  map[string]error // by target

	mu  sync.Mutex
	got []arrival
}

func (l *landscape) take(target, how string, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuse[target]; err != nil {
		return err
	}
	l.got = append(l.got, arrival{time.Since(l.begun), target, how, string(body)})
	return nil
}

// arrivals are those since the last call.
func (l *landscape) arrivals() []arrival {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	return got
}

func (l *landscape) when() string {
	var times []time.Duration
	for _, a := range l.arrivals() {
		times = append(times, a.after)
	}
	return fmt.Sprint(times)
}

func (l *landscape) InvokeAsync(arn string, body []byte, principal, source, account string) error {
	return l.take(arn, fmt.Sprintf("%s for %s of %s", principal, source, account), body)
}
func (l *landscape) Enqueue(arn string, body []byte) error { return l.take(arn, "by role", body) }
func (l *landscape) Send(arn string, body []byte, principal, source string) error {
	return l.take(arn, fmt.Sprintf("%s for %s", principal, source), body)
}
func (l *landscape) Deliver(arn, _ string, body []byte) error { return l.take(arn, "by role", body) }
func (l *landscape) Assumable(string, string, string) error   { return nil }
func (l *landscape) Permit(roleARN, service, _, _, _ string) error {
	if roleARN != role || service != "events.amazonaws.com" {
		return fmt.Errorf("%s as %s", service, roleARN)
	}
	return nil
}

// run gives f an EventBridge in virtual time, which begins at 2000-01-01 00:00.
func run(t *testing.T, f func(l *landscape)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &landscape{t: t, begun: time.Now(), refuse: map[string]error{}}
		w := world.New(clock.System())
		l.service = events.New(w, delivery.Ports{Functions: l, Messages: l, Roles: l}, slog.New(slog.DiscardHandler))
		l.service.Start()
		defer l.service.Close()
		server := wire.NewServer(wire.Options{Account: world.DefaultAccount, RequestID: w.UUID})
		server.Register(l.service.Service())
		l.Client = api.New(api.Options{
			Region: "eu-west-1", BaseEndpoint: aws.String("http://sandbox.invalid"), Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			HTTPClient: &http.Client{Transport: server.RoundTripper()}, Retryer: aws.NopRetryer{},
		})
		f(l)
	})
}

// rule makes a rule with a pattern or a schedule, and targets.
func (l *landscape) rule(name, text string, targets ...types.Target) {
	l.t.Helper()
	in := &api.PutRuleInput{Name: &name}
	if text[0] == '{' {
		in.EventPattern = &text
	} else {
		in.ScheduleExpression = &text
	}
	must(l.PutRule(l.t.Context(), in))
	if len(targets) > 0 {
		must(l.PutTargets(l.t.Context(), &api.PutTargetsInput{Rule: &name, Targets: targets}))
	}
}

func to(arn string, change ...func(*types.Target)) types.Target {
	t := types.Target{Id: aws.String(arn[len(arn)-1:]), Arn: &arn}
	for _, c := range change {
		c(&t)
	}
	return t
}

// put sends an event of a source and returns its ID.
func (l *landscape) put(source, detail string) string {
	l.t.Helper()
	o := must(l.PutEvents(l.t.Context(), &api.PutEventsInput{Entries: []types.PutEventsRequestEntry{{Source: &source, DetailType: aws.String("test"), Detail: &detail, Resources: []string{"r1"}}}}))
	if o.FailedEntryCount != 0 {
		l.t.Fatalf("event refused: %s", aws.ToString(o.Entries[0].ErrorMessage))
	}
	return *o.Entries[0].EventId
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func code(err error) string {
	var e smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.ErrorCode()
	}
	return err.Error()
}
