package lambda

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// The sizes of events in bytes.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const (
	maxSyncPayload  = 6 << 20
	maxAsyncPayload = 1 << 20
)

// unhandled is the only FunctionError of functions with a runtime of their own.
const unhandled = "Unhandled"

// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func (l *Lambda) invoke(r *wire.Request, in *api.InvokeInput) (*api.InvokeOutput, error) {
	event := in.Payload
	if len(event) == 0 {
		event = []byte("{}")
	}
	kind, limit := in.InvocationType, maxSyncPayload
	if kind == types.InvocationTypeEvent {
		limit = maxAsyncPayload
	}
	clientContext, err := base64.StdEncoding.DecodeString(deref(in.ClientContext))
	switch {
	case len(event) > limit:
		return nil, wire.Errorf("RequestTooLargeException", "Request must be smaller than %d bytes for the InvokeFunction operation", limit)
	case !json.Valid(event):
		return nil, wire.Errorf("InvalidRequestContentException", "Could not parse request body into json: Could not parse payload into json")
	case err != nil || len(clientContext) > 0 && !json.Valid(clientContext):
		return nil, wire.Errorf("InvalidRequestContentException", "Client context must be a valid Base64-encoded JSON object.")
	}
	key, qualifier, err := parseName(r, in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	if err := l.invocable(key, qualifier); err != nil {
		return nil, err
	}
	c := invocation{key: key, qualifier: qualifier, id: r.RequestID, event: event, clientContext: clientContext}
	switch kind {
	case types.InvocationTypeDryRun:
		return &api.InvokeOutput{StatusCode: http.StatusNoContent}, nil
	case types.InvocationTypeEvent:
		if err := l.enqueue(c); err != nil {
			return nil, err
		}
		return &api.InvokeOutput{StatusCode: http.StatusAccepted}, nil
	case types.InvocationTypeRequestResponse, "":
	default:
		return nil, invalid("Value %s at 'invocationType' failed to satisfy constraint: Member must satisfy enum value set: [Event, RequestResponse, DryRun]", kind)
	}
	res, err := l.run(c)
	if err != nil {
		return nil, err
	}
	out := &api.InvokeOutput{StatusCode: http.StatusOK, Payload: res.payload, ExecutedVersion: aws.String(res.version)}
	if res.failed {
		out.FunctionError = aws.String(unhandled)
	}
	if in.LogType == types.LogTypeTail {
		out.LogResult = res.log
	}
	return out, nil
}

// Enqueue queues an event for a function (ARN, with or without qualifier),
// whose caller is known to be allowed to invoke it.
func (l *Lambda) Enqueue(functionARN string, payload []byte) error {
	in, err := l.accept(functionARN, payload)
	if err != nil {
		return err
	}
	return l.enqueue(in)
}

// accept checks an asynchronous invocation, but for its permissions.
func (l *Lambda) accept(functionARN string, payload []byte) (invocation, error) {
	key, qualifier, ok := parseARN(functionARN)
	if !ok {
		return invocation{}, invalid("%q is not the ARN of a function.", functionARN)
	}
	if len(payload) > maxAsyncPayload || !json.Valid(payload) {
		return invocation{}, wire.Errorf("InvalidRequestContentException", "The event for %s is no JSON of at most %d bytes.", functionARN, maxAsyncPayload)
	}
	if err := l.invocable(key, qualifier); err != nil {
		return invocation{}, err
	}
	return invocation{key: key, qualifier: qualifier, id: l.world.UUID(), event: payload}, nil
}

// InvokeAsync implements world.Functions.
func (l *Lambda) InvokeAsync(functionARN string, payload []byte, principal, sourceARN, sourceAccount string) error {
	in, err := l.accept(functionARN, payload)
	if err != nil {
		return err
	}
	l.mu.Lock()
	allowed := l.functions[in.key] != nil && l.functions[in.key].policies[in.qualifier].allows(principal, sourceARN, sourceAccount)
	l.mu.Unlock()
	if !allowed {
		return wire.Errorf("AccessDeniedException", "%s is not authorized to perform: lambda:InvokeFunction on resource: %s for source %s because no resource-based policy allows the lambda:InvokeFunction action", principal, functionARN, sourceARN).
			WithStatus(http.StatusForbidden)
	}
	return l.enqueue(in)
}

// invocable reports why a function cannot be invoked now.
func (l *Lambda) invocable(key functionKey, qualifier string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, v, err := l.lookup(key, qualifier)
	if err != nil {
		return err
	}
	if v.pending(l.world.Clock.Now()) {
		return conflict("The operation cannot be performed at this time. The function is currently in the following state: Pending")
	}
	return nil
}

// invocation is one event for a function.
type invocation struct {
	key           functionKey
	qualifier     string
	id            string
	event         []byte
	clientContext []byte
}

// result is how a run ended.
type result struct {
	payload []byte
	failed  bool
	version string
	log     *string
}

// run runs one event and waits for its end. An error means that the code did
// not run at all. The code runs to its end even if the caller goes away, but not
// longer than the sandbox.
func (l *Lambda) run(in invocation) (*result, error) {
	f, v, err := l.reserve(in)
	if err != nil {
		return nil, err
	}
	defer func() {
		l.mu.Lock()
		f.running--
		l.mu.Unlock()
	}()
	timeout := time.Duration(*v.config.Timeout) * time.Second
	w := v.pool.take(l.world.Clock.Now().Add(timeout))
	var initialised time.Duration
	if w == nil {
		began := l.world.Clock.Now()
		w, err = l.start(f, v)
		initialised = l.world.Clock.Now().Sub(began)
	}
	if err != nil {
		return l.failedStart(f, v, in, err)
	}
	return l.runIn(w, f, v, in, timeout, initialised), nil
}

// reserve finds the version to run and counts the run against the function's
// concurrency.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
func (l *Lambda) reserve(in invocation) (*function, *version, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, v, err := l.lookup(in.key, in.qualifier)
	if err != nil {
		return nil, nil, err
	}
	if l.closed {
		return nil, nil, wire.Errorf("ServiceException", "The sandbox is closing.").WithStatus(http.StatusInternalServerError)
	}
	if f.reserved != nil && f.running >= int(*f.reserved) {
		e := wire.Errorf("TooManyRequestsException", "Rate Exceeded.").WithStatus(http.StatusTooManyRequests)
		e.Fields = map[string]any{"Reason": types.ThrottleReasonReservedFunctionConcurrentInvocationLimitExceeded}
		return nil, nil, e
	}
	f.running++
	return f, v, nil
}

// failedStart reports an environment that could not be made.
func (l *Lambda) failedStart(f *function, v *version, in invocation, err error) (*result, error) {
	var failure *Failure
	if !errors.As(err, &failure) {
		return nil, err
	}
	failure = failure.forRequest(in.id)
	log := l.newStream(f, v)
	log.begin(in.id, *v.config.Version)
	log.line("%s %s", failure.Message, failure.Type)
	log.end(in.id, 0, 0, &v.config, "error")
	return &result{payload: failure.payload(), failed: true, version: *v.config.Version, log: log.result()}, nil
}

func (l *Lambda) runIn(w *warm, f *function, v *version, in invocation, timeout, initialised time.Duration) *result {
	w.log.begin(in.id, *v.config.Version)
	began := l.world.Clock.Now()
	limited, cancel := clock.WithTimeout(l.ctx, l.world.Clock, timeout)
	defer cancel()
	payload, err := w.env.Invoke(limited, Invocation{
		RequestID: in.id, FunctionARN: f.qualifiedARN(in.qualifier), Event: in.event, ClientContext: in.clientContext, Deadline: began.Add(timeout),
	})
	took := l.world.Clock.Now().Sub(began)
	res := &result{payload: payload, version: *v.config.Version}
	status := ""
	if err != nil {
		failure := failureOf(err, in.id, timeout)
		if failure.Fatal {
			w.log.line("%s %s", in.id, failure.Message)
			status = "error"
			if failure.Type == "Sandbox.Timedout" {
				status, took = "timeout", timeout
			}
		}
		res.payload, res.failed = failure.payload(), true
		if failure.Fatal {
			w.env.Stop()
		} else {
			v.pool.put(w)
		}
	}
	w.log.end(in.id, took, initialised, &v.config, status)
	res.log = w.log.result()
	if err == nil {
		v.pool.put(w)
	}
	return res
}

func failureOf(err error, requestID string, timeout time.Duration) *Failure {
	var f *Failure
	switch {
	case errors.As(err, &f):
		if f.Fatal {
			return f.forRequest(requestID)
		}
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut(requestID, timeout)
	default:
		return &Failure{Type: "Sandbox.Failure", Message: "RequestId: " + requestID + " Error: " + err.Error(), Fatal: true}
	}
}
