package lambda

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// runtimeAPI is the API through which a runtime gets events and answers them.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type runtimeAPI struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{} // closed when the server has ended

	next        chan *pending // events for the runtime
	ready       chan struct{} // closed when the runtime asks for its first event
	firstNext   sync.Once
	initFailure chan *Failure

	mu      sync.Mutex
	current *pending
}

// pending is an event whose answer is awaited.
type pending struct {
	Invocation
	deadline time.Time // on the host's clock
	done     chan answer
}

type answer struct {
	payload []byte
	failure *Failure
}

func (a answer) err() error {
	if a.failure != nil {
		return a.failure
	}
	return nil
}

func newRuntimeAPI() (*runtimeAPI, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &runtimeAPI{listener: l, served: make(chan struct{}), next: make(chan *pending), ready: make(chan struct{}), initFailure: make(chan *Failure, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", a.serveNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", a.serveResponse)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", a.serveError)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", a.serveInitError)
	ctx, cancel := context.WithCancel(context.Background())
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(a.served)
		defer cancel()
		_ = a.server.Serve(l) // ends when the API is closed
	}()
	return a, nil
}

func (a *runtimeAPI) address() string { return a.listener.Addr().String() }

func (a *runtimeAPI) close() {
	_ = a.server.Close() // the environment is gone: nobody is left to be told
	<-a.served
}

func (a *runtimeAPI) serveNext(w http.ResponseWriter, r *http.Request) {
	a.firstNext.Do(func() { close(a.ready) })
	var p *pending
	select {
	case p = <-a.next:
	case <-r.Context().Done():
		return
	}
	a.mu.Lock()
	a.current = p
	a.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", p.RequestID)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(p.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", p.FunctionARN)
	h.Set("Lambda-Runtime-Trace-Id", traceID(p.RequestID))
	if len(p.ClientContext) > 0 {
		h.Set("Lambda-Runtime-Client-Context", string(p.ClientContext))
	}
	_, _ = w.Write(p.Event) // a runtime that went away is noticed by its exit
}

// traceID makes an X-Ray header that is not sampled.
func traceID(requestID string) string {
	digits := strings.ReplaceAll(requestID, "-", "")
	if len(digits) != 32 {
		return ""
	}
	return "Root=1-" + digits[:8] + "-" + digits[8:] + ";Sampled=0"
}

// finish hands the answer to the event with an ID; false if it is not the one
// under way.
func (a *runtimeAPI) finish(id string, ans answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil || a.current.RequestID != id {
		return false
	}
	a.current.done <- ans
	a.current = nil
	return true
}

func (a *runtimeAPI) serveResponse(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSyncPayload+1))
	if err != nil {
		return
	}
	ans := answer{payload: body}
	if len(body) > maxSyncPayload {
		ans = answer{failure: &Failure{Type: "Function.ResponseSizeTooLarge", Message: "Response payload size exceeded maximum allowed payload size (6291556 bytes)."}}
	}
	reply(w, a.finish(r.PathValue("id"), ans))
}

func (a *runtimeAPI) serveError(w http.ResponseWriter, r *http.Request) {
	f, err := readFailure(r)
	if err != nil {
		return
	}
	reply(w, a.finish(r.PathValue("id"), answer{failure: f}))
}

func (a *runtimeAPI) serveInitError(w http.ResponseWriter, r *http.Request) {
	f, err := readFailure(r)
	if err != nil {
		return
	}
	f.Fatal = true
	select {
	case a.initFailure <- f:
		reply(w, true)
	default:
		reply(w, false)
	}
}

// readFailure reads an error report of a runtime.
func readFailure(r *http.Request) (*Failure, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSyncPayload+1))
	if err != nil {
		return nil, err
	}
	f := &Failure{Type: r.Header.Get("Lambda-Runtime-Function-Error-Type"), Payload: body}
	var told struct{ ErrorType, ErrorMessage string }
	if len(body) > maxSyncPayload || json.Unmarshal(body, &told) != nil {
		f.Payload = nil
		told.ErrorMessage = "the runtime reported an error that is no JSON"
	}
	f.Message = told.ErrorMessage
	if told.ErrorType != "" {
		f.Type = told.ErrorType
	}
	if f.Type == "" {
		f.Type = "Runtime.Unknown"
	}
	return f, nil
}

func reply(w http.ResponseWriter, ok bool) {
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}`)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}
