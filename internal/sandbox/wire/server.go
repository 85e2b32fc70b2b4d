package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"
)

// maxBody bounds a request, also after decompression. The largest that AWS
// accepts of those served here is a Lambda zip of 50 MB in base64.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxBody = 72 << 20

// ErrLost is returned by an interceptor to close the connection without an
// answer, as when a response is lost on its way after the operation was done.
var ErrLost = errors.New("the answer is lost")

// Interceptor stands around an operation whose input is decoded, and around the
// authorization of its caller. It may delay it, replace its result or not call
// next.
type Interceptor func(r *Request, next func() (any, error)) (any, error)

// Options are the hooks of a Server. All are optional.
type Options struct {
	// Account owns callers while Identify is not set.
	Account string
	// RequestID makes the identifiers of requests.
	RequestID func() string
	// Identify tells who has an access key. sessionToken is "" for long-term
	// keys. Without it every caller is the account itself.
	Identify func(accessKey, sessionToken string) (Caller, *Error)
	// Authorize decides whether r.Caller may do r.Operation with input, a
	// pointer to the SDK's input type.
	Authorize func(r *Request, input any) *Error
	// Now dates the answers, as clients measure their own clock by them.
	Now func() time.Time
	// Log receives what the sandbox itself did wrong.
	Log *slog.Logger
}

// Server serves the operations of its services over HTTP.
type Server struct {
	opt Options

	mu         sync.RWMutex
	services   []*Service
	intercepts []Interceptor
}

// NewServer returns a server without services.
func NewServer(opt Options) *Server {
	if opt.Identify == nil {
		account := opt.Account
		opt.Identify = func(key, _ string) (Caller, *Error) {
			return Caller{AccessKey: key, Account: account, ARN: "arn:aws:iam::" + account + ":root", UserID: account, Root: true}, nil
		}
	}
	if opt.RequestID == nil {
		opt.RequestID = func() string { return "00000000-0000-4000-a000-000000000000" }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{opt: opt}
}

// Register adds a service. A service with several targets is registered once
// for each of them.
func (s *Server) Register(svc *Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.services = append(s.services, svc)
}

// Intercept adds i inside the interceptors that are there already.
func (s *Server) Intercept(i Interceptor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercepts = append(s.intercepts, i)
}

func (s *Server) all() []*Service {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.services)
}

func (s *Server) byTarget(target string) *Service {
	for _, svc := range s.all() {
		if svc.Target == target && target != "" {
			return svc
		}
	}
	return nil
}

// byName finds a service by its signing name and, where several share it or
// the request is not signed, its version.
func (s *Server) byName(name, version string) *Service {
	var found *Service
	for _, svc := range s.all() {
		if svc.Name != name && name != "" {
			continue
		}
		if svc.Version == version && version != "" {
			return svc
		}
		if found == nil && name != "" {
			found = svc
		}
	}
	return found
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := s.opt.RequestID()
	if s.opt.Now != nil {
		w.Header().Set("Date", s.opt.Now().UTC().Format(http.TimeFormat))
	}
	sc, signed := scopeOf(r)
	body, bodyErr := readBody(r)
	c := s.route(r, sc, body)
	c.requestID = id
	if bodyErr != nil {
		c.err = bodyErr
	}
	a, err := s.serve(c, sc, signed)
	if errors.Is(err, ErrLost) {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	if err != nil {
		a = c.refuse(err)
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("x-amzn-RequestId", id)
	if c.service != nil && c.service.Checksum {
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that went away needs no answer
}

// refuse returns err in the form of the call's protocol.
func (c *call) refuse(err error) *answer {
	f := c.service.faultOf(err)
	k, ok := codecs[c.protocol]
	if !ok || errors.Is(err, errNoProtocol) {
		return plainFault(f)
	}
	return k.fault(c, f)
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	var src io.Reader = r.Body
	if strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		z, err := gzip.NewReader(io.LimitReader(r.Body, maxBody))
		if err != nil {
			return nil, fmt.Errorf("Content-Encoding is gzip: %w", err)
		}
		src = z
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(src, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	if n > maxBody {
		return nil, Errorf("RequestEntityTooLargeException", "The request is larger than %d bytes.", maxBody).WithStatus(http.StatusRequestEntityTooLarge)
	}
	return buf.Bytes(), nil
}

func (s *Server) serve(c *call, sc scope, signed bool) (*answer, error) {
	var refused *Error
	switch {
	case errors.As(c.err, &refused):
		return nil, refused
	case c.err != nil && errors.Is(c.err, errNoProtocol):
		return nil, fmt.Errorf("%w: %w", c.err, unknownOperation("no service", c.operation))
	case c.err != nil:
		return nil, malformed(c.protocol, c.err)
	case !signed:
		return nil, missingToken(c.protocol)
	case c.service == nil:
		return nil, unknownOperation("an unknown service", c.operation)
	}
	caller, denied := s.opt.Identify(sc.accessKey, sc.token)
	if denied != nil {
		return nil, denied
	}
	if c.op == nil {
		return nil, unknownOperation(c.service.Name, c.operation)
	}
	k, ok := codecs[c.protocol]
	if !ok {
		return nil, unknownOperation(c.service.Name, c.operation)
	}
	in := reflect.New(c.op.input)
	if err := k.decode(c, in.Elem()); err != nil {
		return nil, malformed(c.protocol, err)
	}
	r := &Request{
		Context: c.http.Context(), Service: c.service.Name, Operation: c.operation,
		Region: sc.region, Account: caller.Account, Caller: caller, RequestID: c.requestID, HTTP: c.http,
		Input: in.Interface(),
	}
	out, err := s.run(c, r)
	if err != nil {
		return nil, err
	}
	a, err := k.encode(c, out)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer of %s: %w", c.operation, err)
	}
	return a, nil
}

// run authorizes and calls the operation inside the interceptors. A panic of an operation is
// an internal failure of the sandbox: the other callers go on.
func (s *Server) run(c *call, r *Request) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opt.Log.Error("operation panicked", "service", r.Service, "operation", r.Operation, "panic", p, "stack", string(debug.Stack()))
			out, err = nil, fmt.Errorf("the sandbox failed in %s: %v", r.Operation, p)
		}
	}()
	s.mu.RLock()
	chain := slices.Clone(s.intercepts)
	s.mu.RUnlock()
	next := func() (any, error) {
		if s.opt.Authorize != nil {
			if denied := s.opt.Authorize(r, r.Input); denied != nil {
				return nil, denied
			}
		}
		return c.op.call(r, r.Input)
	}
	for _, i := range slices.Backward(chain) {
		inner := next
		next = func() (any, error) { return i(r, inner) }
	}
	return next()
}

// inputSchema returns the schema that an input describes itself with; nil for
// SDKs without schemas.
func inputSchema(in any) *smithy.Schema {
	s, ok := in.(smithy.Serializable)
	if !ok {
		return nil
	}
	n, err := treeOf(s)
	if err != nil {
		return nil
	}
	return n.schema
}
