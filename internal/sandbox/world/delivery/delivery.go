// Package delivery brings events to their targets, for EventBridge and the
// EventBridge Scheduler: Lambda functions, SQS queues and SNS topics, with
// permissions, retries and dead-letter queues.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Functions are the Lambda functions that events go to; Lambda implements it.
type Functions interface {
	world.Functions
	// Enqueue queues an event for a function (ARN, with or without qualifier),
	// whose caller is known to be allowed to invoke it.
	Enqueue(functionARN string, payload []byte) error
}

// Messages are the topics and queues that events go to; SNS implements it.
type Messages interface {
	world.Messages
	// Send delivers for a service principal acting for sourceARN, if the
	// policy of the topic or queue allows it.
	Send(targetARN string, body []byte, principal, sourceARN string) error
}

// Roles are the execution roles of schedules and rules; IAM implements it.
type Roles interface {
	// Assumable fails unless the role trusts a service that acts for sourceARN.
	Assumable(roleARN, service, sourceARN string) error
	// Permit fails unless the role is Assumable and its policies allow action
	// on resource.
	Permit(roleARN, service, sourceARN, action, resource string) error
}

// Ports are where events go and who may send them there.
type Ports struct {
	Functions Functions
	Messages  Messages
	Roles     Roles
}

// Retry bounds the attempts after the first, in number and time.
type Retry struct {
	Attempts int           // 0 to MostAttempts
	Age      time.Duration // ShortestAge to LongestAge
}

// The limits of Retry, and its values where none are given.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html
// https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_RetryPolicy.html
const (
	MostAttempts = 185
	ShortestAge  = time.Minute
	LongestAge   = 24 * time.Hour
)

// NewRetry checks what a caller asks for; nil means the limit.
func NewRetry(attempts, ageSeconds *int32) (Retry, error) {
	r := Retry{Attempts: MostAttempts, Age: LongestAge}
	if attempts != nil {
		if *attempts < 0 || *attempts > MostAttempts {
			return r, fmt.Errorf("MaximumRetryAttempts is %d, it must be between 0 and %d", *attempts, MostAttempts)
		}
		r.Attempts = int(*attempts)
	}
	if ageSeconds != nil {
		r.Age = time.Duration(*ageSeconds) * time.Second
		if r.Age < ShortestAge || r.Age > LongestAge {
			return r, fmt.Errorf("MaximumEventAgeInSeconds is %d, it must be between %d and %d", *ageSeconds, int(ShortestAge.Seconds()), int(LongestAge.Seconds()))
		}
	}
	return r, nil
}

// Parcel is an event on its way to one target.
type Parcel struct {
	Target string
	// Role is whose permissions count; with "" the target's own policy does.
	Role       string
	Source     string // ARN of what sends it: a rule, a schedule group
	Account    string
	Body       func(attempt int) []byte // attempts count from 1
	Retry      Retry
	DeadLetter string // ARN of a queue, "" for none
}

// Courier delivers for one service.
type Courier struct {
	Clock     clock.Clock
	Ports     Ports
	Principal string // the service, such as "events.amazonaws.com"
}

// Waiting times between attempts. AWS documents an exponential backoff with
// jitter and not its numbers.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html
const (
	firstWait = time.Second
	lastWait  = 10 * time.Minute
)

// Deliver tries until the target accepts, a try fails for good or Retry is
// exhausted; then the event goes to the dead-letter queue. It returns the last
// error of the target, with that of the dead-letter queue, or nil. It returns
// early when ctx ends.
func (c *Courier) Deliver(ctx context.Context, p Parcel) error {
	begun, wait := c.Clock.Now(), firstWait
	for attempt := 1; ; attempt++ {
		body := p.Body(attempt)
		err := c.hand(p, p.Target, body)
		if err == nil {
			return nil
		}
		late := c.Clock.Now().Add(wait).Sub(begun) > p.Retry.Age
		if attempt > p.Retry.Attempts || late || !transient(err) {
			return c.bury(p, body, fmt.Errorf("delivering from %s to %s, attempt %d: %w", p.Source, p.Target, attempt, err))
		}
		if c.Clock.Sleep(ctx, wait) != nil {
			return fmt.Errorf("delivering from %s to %s: %w (last error: %w)", p.Source, p.Target, context.Cause(ctx), err)
		}
		wait = min(2*wait, lastWait)
	}
}

// bury puts what could not be delivered into the dead-letter queue.
func (c *Courier) bury(p Parcel, body []byte, failed error) error {
	if p.DeadLetter == "" {
		return failed
	}
	if err := c.hand(p, p.DeadLetter, body); err != nil {
		return fmt.Errorf("%w; dead-letter queue %s: %w", failed, p.DeadLetter, err)
	}
	return failed
}

// hand gives a body to a target once.
func (c *Courier) hand(p Parcel, target string, body []byte) error {
	service := serviceOf(target)
	if p.Role != "" {
		if err := c.Ports.Roles.Permit(p.Role, c.Principal, p.Source, actions[service], target); err != nil {
			return err
		}
		if service == "lambda" {
			return c.Ports.Functions.Enqueue(target, body)
		}
		return c.Ports.Messages.Deliver(target, "", body)
	}
	if service == "lambda" {
		return c.Ports.Functions.InvokeAsync(target, body, c.Principal, p.Source, p.Account)
	}
	return c.Ports.Messages.Send(target, body, c.Principal, p.Source)
}

// actions are what a role must be allowed to do, by service.
var actions = map[string]string{"lambda": "lambda:InvokeFunction", "sqs": "sqs:SendMessage", "sns": "sns:Publish"}

var (
	targetARN = regexp.MustCompile(`^arn:aws:(lambda:[a-z0-9-]+:\d{12}:function:[A-Za-z0-9_-]+(:[A-Za-z0-9_$-]+)?|(sqs|sns):[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]+)$`)
	queueARN  = regexp.MustCompile(`^arn:aws:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]+$`)
)

// Reachable reports whether the sandbox can deliver to a target: a function, a
// standard queue or a standard topic.
func Reachable(arn string) bool { return targetARN.MatchString(arn) }

// Queue reports whether arn is that of a standard queue, as a dead-letter
// queue must be.
func Queue(arn string) bool { return queueARN.MatchString(arn) }

// Function reports whether arn is that of a Lambda function.
func Function(arn string) bool { return serviceOf(arn) == "lambda" }

func serviceOf(arn string) string {
	f := strings.SplitN(arn, ":", 4)
	if len(f) < 4 {
		return ""
	}
	return f[2]
}

// transient reports whether a target may accept the same event later. Missing
// permissions and targets are not tried again.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html
func transient(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests)
}
