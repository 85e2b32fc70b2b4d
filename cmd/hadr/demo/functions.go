package demo

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/lambda"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/takeover"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/watch"
)

// takeover is that function's code, as lambdas/bootstrap runs it.
func (s *Stage) takeover(ctx context.Context, c lambda.Call) ([]byte, error) {
	s.inbox.add(c.Event)
	return s.perform(ctx, c, func(ctx context.Context, runners *awsrunner.Factory, log *slog.Logger) (any, error) {
		h := &takeover.Handler{Store: runners.Table(), Runner: runners.Group, Clock: s.Clock, Log: log, NewID: awsrunner.OperationID}
		return h.Handle(ctx, c.Event)
	})
}

// watch is that function's code.
func (s *Stage) watch(ctx context.Context, c lambda.Call) ([]byte, error) {
	return s.perform(ctx, c, func(ctx context.Context, runners *awsrunner.Factory, log *slog.Logger) (any, error) {
		h := &watch.Handler{
			Groups: strings.Split(c.Env["HADR_GROUPS"], ","), Sweeper: runners.Table(), Runner: runners.Group,
			Clock: s.Clock, Log: log, NewID: awsrunner.OperationID,
		}
		return h.Handle(ctx)
	})
}

// perform runs a function with the credentials of its role.
func (s *Stage) perform(ctx context.Context, c lambda.Call, work func(context.Context, *awsrunner.Factory, *slog.Logger) (any, error)) ([]byte, error) {
	log := slog.New(slog.NewJSONHandler(lines(c.Log), nil))
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	network, died := s.enlist(c.Env["AWS_LAMBDA_FUNCTION_NAME"], kill, s.Server.RoundTripper())
	transport := s.killing.enlist(c.Credentials.AccessKey, kill, network)
	cfg := s.as(c.Credentials.AccessKey, c.Credentials.SecretKey, c.Credentials.SessionToken, transport)
	answer, err := work(ctx, awsrunner.New(cfg, c.Env["HADR_TABLE"], s.Clock, log), log)
	if died() || s.killing.killed(c.Credentials.AccessKey) {
		return nil, &lambda.Failure{Type: "Runtime.ExitError", Message: "Runtime exited with error: signal: killed", Fatal: true}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// lines is a writer that hands over whole lines.
type lines func(string)

func (l lines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l(strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}

// inbox keeps the events that came to the takeover function.
type inbox struct {
	mu     sync.Mutex
	events [][]byte
}

func (i *inbox) add(event []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.events = append(i.events, event)
}

// first returns the first event, or nil.
func (i *inbox) first() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.events) == 0 {
		return nil
	}
	return i.events[0]
}
