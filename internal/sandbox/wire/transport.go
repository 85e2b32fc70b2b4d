package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// RoundTripper serves requests without a socket.
func (s *Server) RoundTripper() http.RoundTripper { return Direct(s) }

// Direct serves requests with h without a socket, so that clients and services
// live in one bubble of testing/synctest.
func Direct(h http.Handler) http.RoundTripper { return roundTripper{h} }

type roundTripper struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. It returns when the answer is there
// or the request's context ends; then the operation's context ends too.
func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if closeErr := r.Body.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return nil, fmt.Errorf("reading the body of %s %s: %w", r.Method, r.URL, err)
		}
		body = b
	}
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.Body = io.NopCloser(bytes.NewReader(body))
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- w.serve(t.handler, in)
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return w.response(r), nil
	case <-ctx.Done():
		select {
		case err := <-done: // both at once: the answer wins
			if err != nil {
				return nil, err
			}
			return w.response(r), nil
		default:
			return nil, context.Cause(ctx)
		}
	}
}

// recorder is the http.ResponseWriter of a RoundTripper.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

// serve runs the handler; an aborted one is a connection that broke.
func (w *recorder) serve(h http.Handler, r *http.Request) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			err = io.ErrUnexpectedEOF
		default:
			err = fmt.Errorf("the sandbox failed: %v", p)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

func (w *recorder) response(r *http.Request) *http.Response {
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          io.NopCloser(bytes.NewReader(w.body.Bytes())),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}
}
