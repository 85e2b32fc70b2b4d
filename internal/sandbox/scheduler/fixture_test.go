package scheduler_test

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
	api "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/scheduler"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world/delivery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base     = "arn:aws:scheduler:eu-west-1:123456789012:"
	function = "arn:aws:lambda:eu-west-1:123456789012:function:watch"
	queue    = "arn:aws:sqs:eu-west-1:123456789012:q"
	dead     = "arn:aws:sqs:eu-west-1:123456789012:dead"
	role     = "arn:aws:iam::123456789012:role/run"
	stranger = "arn:aws:iam::123456789012:role/stranger"
)

// arrival is one event at a target.
type arrival struct {
	after  time.Duration // since the start of the test
	target string
	body   string
}

// landscape records what targets receive. The role run is trusted, for some
// targets.
type landscape struct {
	*api.Client
	t       *testing.T
	begun   time.Time
	refuse  func(target string) error // nil: all accept
	forbid  string                    // an action on a resource
	service *scheduler.Scheduler
	http    *http.Client // for calls that no SDK makes

	mu  sync.Mutex
	got []arrival
}

func (l *landscape) take(target string, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		if err := l.refuse(target); err != nil {
			return err
		}
	}
	l.got = append(l.got, arrival{time.Since(l.begun), target, string(body)})
	return nil
}

func (l *landscape) arrivals() []arrival {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	return got
}

// when are the times of the arrivals since the last call.
func (l *landscape) when() string {
	var times []time.Duration
	for _, a := range l.arrivals() {
		times = append(times, a.after)
	}
	return fmt.Sprint(times)
}

func (l *landscape) InvokeAsync(string, []byte, string, string, string) error {
	return errors.New("a schedule has a role: the function's policy is not asked")
}
func (l *landscape) Enqueue(arn string, body []byte) error { return l.take(arn, body) }
func (l *landscape) Send(string, []byte, string, string) error {
	return errors.New("a schedule has a role: the policy of the queue is not asked")
}
func (l *landscape) Deliver(arn, _ string, body []byte) error { return l.take(arn, body) }

func (l *landscape) Assumable(roleARN, service, source string) error {
	if roleARN != role || service != "scheduler.amazonaws.com" {
		return fmt.Errorf("%s does not trust %s", roleARN, service)
	}
	return nil
}

func (l *landscape) Permit(roleARN, service, source, action, resource string) error {
	if l.forbid == action+" on "+resource {
		return wire.Errorf("AccessDeniedException", "%s is forbidden", l.forbid).WithStatus(403)
	}
	if source != base+"schedule-group/default" && source != base+"schedule-group/g" {
		return fmt.Errorf("the source is %s", source)
	}
	return l.Assumable(roleARN, service, source)
}

// run gives f a scheduler in virtual time, which begins at 2000-01-01 00:00.
func run(t *testing.T, f func(l *landscape)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &landscape{t: t, begun: time.Now()}
		w := world.New(clock.System())
		l.service = scheduler.New(w, delivery.Ports{Functions: l, Messages: l, Roles: l}, slog.New(slog.DiscardHandler))
		l.service.Start()
		defer l.service.Close()
		server := wire.NewServer(wire.Options{Account: world.DefaultAccount, RequestID: w.UUID})
		server.Register(l.service.Service())
		l.http = &http.Client{Transport: server.RoundTripper()}
		l.Client = api.New(api.Options{
			Region: "eu-west-1", BaseEndpoint: aws.String("http://sandbox.invalid"), Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			HTTPClient: l.http, Retryer: aws.NopRetryer{},
		})
		f(l)
	})
}

// input is a schedule of the function watch.
func input(name, expression string, change ...func(*api.CreateScheduleInput)) *api.CreateScheduleInput {
	in := &api.CreateScheduleInput{
		Name: &name, ScheduleExpression: &expression, FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		Target: &types.Target{Arn: aws.String(function), RoleArn: aws.String(role)},
	}
	for _, c := range change {
		c(in)
	}
	return in
}

func (l *landscape) create(name, expression string, change ...func(*api.CreateScheduleInput)) {
	l.t.Helper()
	if _, err := l.CreateSchedule(l.t.Context(), input(name, expression, change...)); err != nil {
		l.t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

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
