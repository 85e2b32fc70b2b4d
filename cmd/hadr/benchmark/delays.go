package benchmark

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/demo"
	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/cloudwatch"
	simdb2 "github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// tuning lets what happens behind the APIs of AWS, and in Db2, take its time.
func (d *dice) tuning() demo.Tuning {
	return demo.Tuning{
		Sandbox: func(o *sandbox.Options) {
			o.CloudWatch = append(o.CloudWatch, cloudwatch.WithPhase(d.phase), cloudwatch.WithIngestion(func(metric string, _ time.Time) time.Duration {
				return d.draw(MetricIngestion, calls.Digest(metric))
			}))
			o.Disturb = func(f world.Faults) world.Faults { return lags{f, d, o.Clock} }
		},
		Pair: func(p *simdb2.Pair) { p.TakeoverTime = d.draw(PeerTakeover, 0) },
	}
}

// phase is when within its minute an alarm is evaluated.
func (d *dice) phase(arn string) time.Duration {
	return d.between(0, time.Minute, arn).Truncate(time.Millisecond)
}

// lags are what the profile says of events, commands and routes.
type lags struct {
	world.Faults
	dice  *dice
	clock clock.Clock
}

// Carry implements world.Faults. Every event finds a function that has to be
// started.
func (l lags) Carry(e world.Event, deliver func()) {
	row, known := map[string]Row{"monitoring": ActionToLambda, "lambda": ColdStart}[e.Service]
	if !known {
		l.Faults.Carry(e, deliver)
		return
	}
	l.clock.AfterFunc(l.dice.draw(row, calls.Digest(e.Source+e.Target)), func() { l.Faults.Carry(e, deliver) })
}

// CommandDelay implements world.Faults.
func (l lags) CommandDelay(d world.Delivery) time.Duration {
	return l.Faults.CommandDelay(d) + l.dice.draw(CommandDelivery, calls.Digest(d.InstanceID+d.Document))
}

// RouteLag implements world.Faults: a change is described when packets follow
// it.
func (l lags) RouteLag(region, account, table string) (described, routed time.Duration) {
	described, routed = l.Faults.RouteLag(region, account, table)
	lag := l.dice.draw(RouteConvergence, calls.Digest(table))
	return described + lag, routed + lag
}

// network is the way of programs to AWS, on which every call takes its time.
type network struct{ dice *dice }

// Enlist implements demo.Disturber. People, who only build the stage, do not
// wait.
func (n network) Enlist(program string, _ context.CancelFunc, next http.RoundTripper) (http.RoundTripper, func() bool) {
	alive := func() bool { return false }
	if program == "person" {
		return next, alive
	}
	return line{n.dice, program, next}, alive
}

// line is the network of one run of a program.
type line struct {
	dice    *dice
	program string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := peek(r)
	if err != nil {
		return nil, err
	}
	t := time.NewTimer(l.latency(r, body))
	defer t.Stop()
	select {
	case <-t.C:
		return l.next.RoundTrip(r)
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// atOnce is the time of a call that the profile counts as part of something
// else: the delivery of a command begins with SendCommand. No two calls are
// made at the same moment.
const atOnce = 2 * time.Millisecond

// latency is that of the profile. It has no row for Systems Manager, CloudWatch
// and Lambda: their calls are taken to be as slow as EC2's.
func (l line) latency(r *http.Request, body []byte) time.Duration {
	about := calls.Key(l.program, r, body)
	switch {
	case calls.Operation(r, body) == "SendCommand":
		return time.Duration(l.dice.unit(about) * float64(atOnce))
	case signedFor(r) == "dynamodb":
		return l.dice.draw(DynamoDBCall, about)
	}
	return l.dice.draw(ControlCall, about)
}

// signedFor returns the service in the scope of a request's signature.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func signedFor(r *http.Request) string {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if f := strings.Split(scope, "/"); len(f) > 3 {
		return f[3]
	}
	return ""
}

// peek reads a body and puts a copy in its place.
func peek(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	err = errors.Join(err, r.Body.Close())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
