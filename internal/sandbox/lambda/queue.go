package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Waiting times between the tries of an event: after errors of the function,
// and after errors of Lambda, such as throttling, where the wait doubles.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
var retryAfter = []time.Duration{time.Minute, 2 * time.Minute}

const (
	throttleWait    = time.Second
	maxThrottleWait = 5 * time.Minute
)

// The ends of an event that a destination is told.
const (
	success          = "Success"
	retriesExhausted = "RetriesExhausted"
	eventAgeExceeded = "EventAgeExceeded"
)

// enqueue accepts an asynchronous invocation.
func (l *Lambda) enqueue(in invocation) error {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return wire.Errorf("ServiceException", "The sandbox is closing.").WithStatus(500)
	}
	e := world.Event{Service: "lambda", Region: in.key.region, Account: in.key.account, Target: in.key.arn()}
	l.world.Faults.Carry(e, func() { l.begin(in) })
	return nil
}

// begin processes an event in the background, unless the sandbox has ended
// meanwhile.
func (l *Lambda) begin(in invocation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.events.Add(1)
	go func() {
		defer l.events.Done()
		l.process(in)
	}()
}

// process tries an event until it succeeds, fails for good or is too old. All
// tries have the same request ID.
func (l *Lambda) process(in invocation) {
	accepted := l.world.Clock.Now()
	throttled := throttleWait
	for tried := 0; ; {
		res, err := l.run(in)
		if err == nil {
			tried++
		}
		settings, alive := l.settingsOf(in)
		if !alive || l.ctx.Err() != nil {
			return // the function is gone, or the sandbox
		}
		var wait time.Duration
		switch {
		case err == nil && !res.failed:
			l.deliver(in, settings.onSuccess(), record{condition: success, tries: tried, result: res})
			return
		case err == nil && tried >= settings.tries():
			l.fail(in, settings, record{condition: retriesExhausted, tries: tried, result: res})
			return
		case err == nil:
			wait = retryAfter[tried-1]
		default: // the code did not run: that does not count as a try
			wait, throttled = throttled, min(2*throttled, maxThrottleWait)
		}
		left := accepted.Add(settings.lifetime()).Sub(l.world.Clock.Now())
		if err := l.world.Clock.Sleep(l.ctx, min(wait, left)); err != nil {
			return
		}
		if left < wait {
			l.fail(in, settings, record{condition: eventAgeExceeded, tries: tried, result: res})
			return
		}
	}
}

// settingsOf returns the settings of an event as they are now, and whether its
// function is still there.
func (l *Lambda) settingsOf(in invocation) (*eventSettings, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.functions[in.key]
	if f == nil {
		return nil, false
	}
	return f.events[settingsKey(in.qualifier)], true
}

// fail tells the destination for failures and the dead letter queue.
func (l *Lambda) fail(in invocation, settings *eventSettings, r record) {
	l.deliver(in, settings.onFailure(), r)
	if target := l.deadLetterTarget(in); target != "" && l.world.Messages != nil {
		l.report(in, target, l.world.Messages.Deliver(target, "", in.event))
	}
}

func (l *Lambda) deadLetterTarget(in invocation) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, v, err := l.lookup(in.key, in.qualifier)
	if err != nil || v.config.DeadLetterConfig == nil {
		return ""
	}
	return deref(v.config.DeadLetterConfig.TargetArn)
}

// record is what a destination learns.
type record struct {
	condition string
	tries     int
	result    *result // nil if the code never ran
}

// json writes a record.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
func (r record) json(arn string, in invocation, at time.Time) ([]byte, error) {
	type requestContext struct {
		RequestID              string `json:"requestId"`
		FunctionARN            string `json:"functionArn"`
		Condition              string `json:"condition"`
		ApproximateInvokeCount int    `json:"approximateInvokeCount"`
	}
	type responseContext struct {
		StatusCode      int    `json:"statusCode"`
		ExecutedVersion string `json:"executedVersion"`
		FunctionError   string `json:"functionError,omitempty"`
	}
	out := struct {
		Version         string           `json:"version"`
		Timestamp       string           `json:"timestamp"`
		RequestContext  requestContext   `json:"requestContext"`
		RequestPayload  json.RawMessage  `json:"requestPayload"`
		ResponseContext *responseContext `json:"responseContext,omitempty"`
		ResponsePayload json.RawMessage  `json:"responsePayload,omitempty"`
	}{
		Version:        "1.0",
		Timestamp:      at.UTC().Format("2006-01-02T15:04:05.000Z"),
		RequestContext: requestContext{in.id, arn, r.condition, r.tries},
		RequestPayload: in.event,
	}
	if r.result != nil {
		out.ResponseContext = &responseContext{StatusCode: 200, ExecutedVersion: r.result.version}
		if r.result.failed {
			out.ResponseContext.FunctionError = unhandled
		}
		if json.Valid(r.result.payload) {
			out.ResponsePayload = r.result.payload
		}
	}
	return json.Marshal(out)
}

// deliver sends a record to a destination, if there is one.
func (l *Lambda) deliver(in invocation, destination string, r record) {
	if destination == "" {
		return
	}
	arn := in.key.arn() + ":" + settingsKey(in.qualifier)
	body, err := r.json(arn, in, l.world.Clock.Now())
	if err == nil {
		err = l.send(destination, body)
	}
	l.report(in, destination, err)
}

// send reaches SNS and SQS through the world and functions directly: it is the
// function's role that may use a destination, not a resource policy.
func (l *Lambda) send(destination string, body []byte) error {
	if strings.HasPrefix(destination, "arn:aws:lambda:") {
		key, qualifier, ok := parseARN(destination)
		if !ok {
			return invalid("%q is not the ARN of a function.", destination)
		}
		if err := l.invocable(key, qualifier); err != nil {
			return err
		}
		return l.enqueue(invocation{key: key, qualifier: qualifier, id: l.world.UUID(), event: body})
	}
	if l.world.Messages == nil {
		return errors.New("the sandbox has neither SNS nor SQS")
	}
	return l.world.Messages.Deliver(destination, "", body)
}

// report writes a failed delivery into the function's log, where a user of the
// sandbox looks for it; Lambda itself only counts it in a metric.
func (l *Lambda) report(in invocation, target string, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	l.mu.Lock()
	f, v, lookupErr := l.lookup(in.key, in.qualifier)
	l.mu.Unlock()
	if lookupErr == nil {
		l.newStream(f, v).line("RequestId: %s Error: the record could not be delivered to %s: %v", in.id, target, err)
	}
}
