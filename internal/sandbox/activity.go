package sandbox

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/quiet"
)

// How long, in real time, a function in a process of its own must have asked
// nothing before the clock may move on: while it waits for the sandbox, and
// while it does something else, which may also be that it waits by a clock of
// its own.
const (
	waits    = 30 * time.Millisecond
	wanders  = 3 * time.Second
	lookWait = time.Millisecond
)

// activity knows the environments of functions by the access keys of their
// credentials: where they are, and whether they do something.
type activity struct {
	mu   sync.Mutex
	envs map[string]*environment
}

// environment runs the code of a function. It decorates that of an executor.
type environment struct {
	lambda.Environment
	of      *activity
	key     string
	region  string
	process bool // its goroutines are not those of this process

	running, asking int // invocations, requests to the sandbox
	asked           time.Time
}

func newActivity() *activity { return &activity{envs: map[string]*environment{}} }

// watched is an executor whose environments are known.
type watched struct {
	lambda.Executor
	activity *activity
	process  bool
}

func (a *activity) watch(e lambda.Executor, process bool) lambda.Executor {
	return watched{e, a, process}
}

// Start implements lambda.Executor.
func (w watched) Start(ctx context.Context, s lambda.Spec) (lambda.Environment, error) {
	e := &environment{of: w.activity, key: s.Credentials.AccessKey, region: s.Env["AWS_REGION"], process: w.process}
	w.activity.begin(e)
	defer w.activity.end(e)
	inner, err := w.Executor.Start(ctx, s)
	if err != nil {
		w.activity.forget(e)
		return nil, err
	}
	e.Environment = inner
	return e, nil
}

// Invoke implements lambda.Environment.
func (e *environment) Invoke(ctx context.Context, in lambda.Invocation) ([]byte, error) {
	e.of.begin(e)
	defer e.of.end(e)
	return e.Environment.Invoke(ctx, in)
}

// Stop implements lambda.Environment.
func (e *environment) Stop() {
	e.Environment.Stop()
	e.of.forget(e)
}

func (a *activity) begin(e *environment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.envs[e.key] = e
	e.running++
	e.asked = time.Now()
}

func (a *activity) end(e *environment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.running--
}

func (a *activity) forget(e *environment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.envs, e.key)
}

// region returns the Region of the function that has an access key, "" if none
// has.
func (a *activity) region(accessKey string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e := a.envs[accessKey]; e != nil {
		return e.region
	}
	return ""
}

// note lets a handler's requests count as those of their callers.
func (a *activity) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.ask(keyOf(r))()
		next.ServeHTTP(w, r)
	})
}

func (a *activity) ask(key string) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.envs[key]
	if e == nil {
		return func() {}
	}
	e.asking++
	e.asked = time.Now()
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		e.asking--
		e.asked = time.Now()
	}
}

// keyOf returns the access key of who sent a request.
func keyOf(r *http.Request) string {
	if key := r.Header.Get(clock.CallerHeader); key != "" {
		return key
	}
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(credential, "/")
	return key
}

// busy reports whether a function in a process of its own does something.
func (a *activity) busy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.envs {
		idle := time.Since(e.asked)
		if e.process && e.running > 0 && idle < wanders && (e.asking == 0 || idle < waits) {
			return true
		}
	}
	return false
}

// settle returns when nothing in the sandbox does anything but wait for its
// clock, or for somebody outside.
func (a *activity) settle(ctx context.Context) error {
	for {
		if err := quiet.Wait(ctx); err != nil {
			return err
		}
		if !a.busy() {
			return nil
		}
		select {
		case <-time.After(lookWait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
