package lambda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// Call is what a function in this process gets.
type Call struct {
	Event       []byte
	RequestID   string
	FunctionARN string
	Env         map[string]string // the variables that a process would have
	Credentials world.Credentials // of the function's role
	Log         func(line string)
}

// Handler is a function in this process. Its context carries the deadline of
// the run on the world's clock and the lambdacontext of aws-lambda-go. It must
// return when its context ends.
type Handler func(ctx context.Context, c Call) ([]byte, error)

// InProcess runs functions as Go functions, by the names of their handlers: the
// uploaded code is ignored. It is made for tests under testing/synctest, where
// a child process would stop virtual time.
type InProcess struct {
	mu       sync.Mutex
	handlers map[string]Handler
	running  sync.WaitGroup
}

// NewInProcess returns an executor for handlers by name.
func NewInProcess(handlers map[string]Handler) *InProcess {
	return &InProcess{handlers: maps.Clone(handlers)}
}

// Start implements Executor.
func (p *InProcess) Start(_ context.Context, s Spec) (Environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.handlers[s.Handler]
	if h == nil {
		return nil, &Failure{Type: "Runtime.InvalidEntrypoint", Message: "no handler " + s.Handler + " is registered", Fatal: true}
	}
	return &goEnvironment{executor: p, handler: h, spec: s}, nil
}

// Close waits for the handlers that are running.
func (p *InProcess) Close() { p.running.Wait() }

type goEnvironment struct {
	executor *InProcess
	handler  Handler
	spec     Spec
}

// Stop has nothing to end: a handler ends with its context.
func (e *goEnvironment) Stop() {}

// deadlineContext tells a deadline on the world's clock. The context inside
// ends when that clock reaches it.
type deadlineContext struct {
	context.Context
	deadline time.Time
}

func (c deadlineContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Invoke implements Environment.
func (e *goEnvironment) Invoke(ctx context.Context, in Invocation) ([]byte, error) {
	type answer struct {
		payload []byte
		err     error
	}
	done := make(chan answer, 1)
	run := lambdacontext.NewContext(deadlineContext{ctx, in.Deadline}, &lambdacontext.LambdaContext{AwsRequestID: in.RequestID, InvokedFunctionArn: in.FunctionARN})
	e.executor.running.Add(1)
	go func() {
		defer e.executor.running.Done()
		var a answer
		defer func() {
			if p := recover(); p != nil {
				e.spec.Log(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
				a = answer{err: &Failure{Type: "Runtime.ExitError", Message: "Runtime exited with error: exit status 2", Fatal: true}}
			}
			done <- a
		}()
		a.payload, a.err = e.handler(run, Call{Event: in.Event, RequestID: in.RequestID, FunctionARN: in.FunctionARN,
			Env: maps.Clone(e.spec.Env), Credentials: e.spec.Credentials, Log: e.spec.Log})
	}()
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() == nil {
			return nil, reported(a.err)
		}
		if ctx.Err() == nil {
			return a.payload, nil
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

// reported is the failure that the runtime makes of a handler's error.
func reported(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return &Failure{Type: t.Name(), Message: err.Error()}
}
