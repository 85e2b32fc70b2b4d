package awsclient

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// TestAnswerBeforeTheLastLookAtTheBody: an answer that comes while net/http is
// still about to look at the end of the request's body leaves the connection
// whole. Each write to the wire returns only when the SDK has closed the body.
func TestAnswerBeforeTheLastLookAtTheBody(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_REGION", "eu-west-1")
	output := strings.Repeat("x", 1<<20)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_, _ = io.WriteString(w, `{"StandardOutputContent":"`+output+`"}`)
	}))
	defer srv.Close()
	t.Setenv("AWS_ENDPOINT_URL", srv.URL)
	cfg, err := Load(t.Context(), Options{AccessKey: "test", SecretKey: "test"})
	if err != nil {
		t.Fatal(err)
	}
	answered := newSignal()
	cfg.HTTPClient = &http.Client{Transport: &lateWriter{answered: answered, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &heldConn{Conn: conn, until: answered}, err
		},
	}}}
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }

	wrote := make(chan error, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { wrote <- info.Err },
	})
	out, err := ssm.NewFromConfig(cfg).GetCommandInvocation(ctx, &ssm.GetCommandInvocationInput{
		CommandId: aws.String("0b9e9e9e-0000-4000-8000-000000000001"), InstanceId: aws.String("i-0aaaaaaaaaaaaaaa1"),
	})
	if !answered.held.Load() {
		t.Error("no write of a body was held up, so that nothing was tried")
	}
	if err := <-wrote; err != nil {
		t.Errorf("writing the request ended with %v, which closes the connection", err)
	}
	if err != nil || aws.ToString(out.StandardOutputContent) != output {
		t.Errorf("GetCommandInvocation: %v, want the whole output", err)
	}
}

type signal struct {
	once sync.Once
	c    chan struct{}
	held atomic.Bool // somebody waited for it
}

func newSignal() *signal { return &signal{c: make(chan struct{})} }

func (s *signal) raise() { s.once.Do(func() { close(s.c) }) }

// heldConn passes the body on, and returns from the write after a signal only.
type heldConn struct {
	net.Conn
	until *signal
}

func (c *heldConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if strings.HasSuffix(string(p), "}") { // the headers go before, alone
		c.until.held.Store(true)
		<-c.until.c
	}
	return n, err
}

// lateWriter raises the signal at the first look at an answer's body, which is
// after the SDK has closed the body of the request.
type lateWriter struct {
	*http.Transport
	answered *signal
}

func (l *lateWriter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.Transport.RoundTrip(r)
	if err == nil {
		response.Body = &seenBody{ReadCloser: response.Body, seen: l.answered}
	}
	return response, err
}

type seenBody struct {
	io.ReadCloser
	seen *signal
}

func (b *seenBody) Read(p []byte) (int, error) {
	b.seen.raise()
	return b.ReadCloser.Read(p)
}
