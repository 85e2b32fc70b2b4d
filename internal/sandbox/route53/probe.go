package route53

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// How long an endpoint may take.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/dns-failover-determining-health-of-endpoints.html
const (
	tcpConnect  = 10 * time.Second
	httpConnect = 4 * time.Second
	httpStatus  = 2 * time.Second // after the connection
	httpBody    = 2 * time.Second // after the status
	searched    = 5120            // bytes of the body that are read
)

// Dialer opens a connection of a health checker to an endpoint.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dialLoopback reaches this machine alone: it stands for the Internet.
func dialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the health checkers of the sandbox reach no %s, only addresses of loopback", host)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// outcome is what one request of a checker led to. Durations are those of the
// phases; a phase that did not end is longer than its limit.
type outcome struct {
	connect, status, body time.Duration
	code                  int // HTTP status
	found                 int // where the search string ends in the body, 0 if nowhere
	err                   error
}

// passes reports whether an endpoint was healthy for one checker. The
// certificate of an HTTPS endpoint does not matter.
func (o outcome) passes(kind types.HealthCheckType) bool {
	switch {
	case o.err != nil:
		return false
	case kind == types.HealthCheckTypeTcp:
		return o.connect <= tcpConnect
	case o.connect > httpConnect || o.status > httpStatus || o.code < 200 || o.code > 399:
		return false
	case searches(kind):
		return o.body <= httpBody && o.found > 0 && o.found <= searched
	}
	return true
}

// report is an outcome in Route 53's words.
type report struct {
	at   time.Time
	text string
}

func (o outcome) report(kind types.HealthCheckType, at time.Time) *report {
	word := "Failure"
	if o.passes(kind) {
		word = "Success"
	}
	switch {
	case o.err != nil:
		return &report{at, fmt.Sprintf("%s: %v", word, o.err)}
	case kind == types.HealthCheckTypeTcp:
		return &report{at, word + ": TCP connection established"}
	default:
		return &report{at, fmt.Sprintf("%s: HTTP Status Code %d, %s", word, o.code, http.StatusText(o.code))}
	}
}

// probe sends one request to the endpoint of a health check.
func (r *Route53) probe(ctx context.Context, c types.HealthCheckConfig) outcome {
	var o outcome
	limit := httpConnect
	if c.Type == types.HealthCheckTypeTcp {
		limit = tcpConnect
	}
	start := r.now()
	conn, err := r.connect(ctx, c, limit)
	o.connect = r.now().Sub(start)
	if err != nil {
		o.err = fmt.Errorf("the endpoint could not be connected: %w", err)
		return o
	}
	defer conn.Close() //nolint:errcheck // nothing was written that could be lost
	if c.Type == types.HealthCheckTypeTcp {
		return o
	}
	// The connection ends with the time for status and body together.
	timer := r.world.Clock.AfterFunc(httpStatus+httpBody, func() { _ = conn.Close() })
	defer timer.Stop()
	r.request(ctx, c, conn, &o)
	return o
}

func (r *Route53) connect(ctx context.Context, c types.HealthCheckConfig, limit time.Duration) (net.Conn, error) {
	ctx, cancel := clock.WithTimeout(ctx, r.world.Clock, limit)
	defer cancel()
	host := aws.ToString(c.IPAddress)
	if host == "" {
		host = aws.ToString(c.FullyQualifiedDomainName)
	}
	conn, err := r.dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(aws.ToInt32(c.Port)))))
	if err != nil || !encrypted(c.Type) {
		return conn, err
	}
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // Route 53 does not look at certificates
	if aws.ToBool(c.EnableSNI) {
		config.ServerName = aws.ToString(c.FullyQualifiedDomainName)
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secured, nil
}

func (r *Route53) request(ctx context.Context, c types.HealthCheckConfig, conn net.Conn, o *outcome) {
	host := aws.ToString(c.FullyQualifiedDomainName)
	if host == "" {
		host = aws.ToString(c.IPAddress)
	}
	path := "/" + strings.TrimPrefix(aws.ToString(c.ResourcePath), "/")
	start := r.now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, nil)
	if err != nil {
		o.err = err
		return
	}
	req.Header.Set("User-Agent", "Amazon-Route53-Health-Check-Service")
	req.Close = true
	if err := req.Write(conn); err != nil {
		o.err = fmt.Errorf("the request could not be sent: %w", err)
		return
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	o.status = r.now().Sub(start)
	if err != nil {
		o.err = fmt.Errorf("there was no HTTP response: %w", err)
		return
	}
	defer res.Body.Close() //nolint:errcheck // read only
	o.code = res.StatusCode
	if !searches(c.Type) {
		return
	}
	start = r.now()
	body, err := io.ReadAll(io.LimitReader(res.Body, searched))
	o.body = r.now().Sub(start)
	if err != nil {
		o.err = fmt.Errorf("the body could not be read: %w", err)
		return
	}
	if i := strings.Index(string(body), aws.ToString(c.SearchString)); i >= 0 {
		o.found = i + len(*c.SearchString)
	}
}
