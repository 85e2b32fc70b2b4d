package route53

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// fixture is a Route 53 with one zone, called by the SDK's client. Its Internet
// is web.
type fixture struct {
	*testing.T
	service *Route53
	client  *api.Client
	zone    string
	web     *web
	alarms  alarms
	checks  int
}

func newWorld() *world.World { return world.New(clock.System()) }

func newFixture(t *testing.T, options ...Option) *fixture {
	t.Helper()
	w := newWorld()
	f := &fixture{T: t, web: &web{}, alarms: alarms{}}
	w.Alarms = f.alarms
	f.service = New(w, append([]Option{WithDialer(f.web.dial)}, options...)...)
	t.Cleanup(f.service.Close)
	server := wire.NewServer(wire.Options{Account: world.DefaultAccount})
	server.Register(f.service.Service())
	f.client = api.NewFromConfig(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String("http://sandbox.invalid"), HTTPClient: &http.Client{Transport: server.RoundTripper()},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	f.zone = f.newZone(zoneName)
	return f
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(*fixture), options ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newFixture(t, options...)) })
}

func (f *fixture) newZone(name string) string {
	f.Helper()
	o, err := f.client.CreateHostedZone(f.Context(), &api.CreateHostedZoneInput{Name: &name, CallerReference: aws.String(name)})
	f.ok(err)
	return *o.HostedZone.Id
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) fails(err error, code string) {
	f.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		f.Fatalf("error is %v, want %s", err, code)
	}
}

// settle waits until changes and checks have converged; outside virtual time it
// lets the name servers answer with the present records.
func (f *fixture) settle() {
	if f.inBubble() {
		time.Sleep(10 * time.Minute)
		return
	}
	f.service.mu.Lock()
	defer f.service.mu.Unlock()
	for _, z := range f.service.zones {
		z.served = []edition{{time.Time{}, z.records}}
	}
}

// inBubble reports whether time is virtual: synctest begins in the year 2000.
func (f *fixture) inBubble() bool { return time.Now().Year() < 2010 }

func address(name, ip string) types.ResourceRecordSet {
	return types.ResourceRecordSet{Name: &name, Type: types.RRTypeA, TTL: aws.Int64(5), ResourceRecords: []types.ResourceRecord{{Value: &ip}}}
}

func aliasTo(set types.ResourceRecordSet, target string, evaluate bool) types.ResourceRecordSet {
	set.TTL, set.ResourceRecords = nil, nil
	set.AliasTarget = &types.AliasTarget{DNSName: &target, HostedZoneId: aws.String("Z0"), EvaluateTargetHealth: evaluate}
	return set
}

func (f *fixture) tryChange(action types.ChangeAction, records ...types.ResourceRecordSet) (*types.ChangeInfo, error) {
	var changes []types.Change
	for i := range records {
		changes = append(changes, types.Change{Action: action, ResourceRecordSet: &records[i]})
	}
	return f.try(changes...)
}

func (f *fixture) try(changes ...types.Change) (*types.ChangeInfo, error) {
	o, err := f.client.ChangeResourceRecordSets(f.Context(), &api.ChangeResourceRecordSetsInput{HostedZoneId: &f.zone, ChangeBatch: &types.ChangeBatch{Changes: changes}})
	if err != nil {
		return nil, err
	}
	return o.ChangeInfo, nil
}

func (f *fixture) create(records ...types.ResourceRecordSet) {
	f.Helper()
	_, err := f.tryChange(types.ChangeActionCreate, records...)
	f.ok(err)
}

func endpoint(kind types.HealthCheckType) types.HealthCheckConfig {
	return types.HealthCheckConfig{Type: kind, IPAddress: aws.String("198.51.100.1"), Port: aws.Int32(80), RequestInterval: aws.Int32(10), FailureThreshold: aws.Int32(3)}
}

func (f *fixture) tryCheck(c types.HealthCheckConfig) (*string, error) {
	f.checks++
	o, err := f.client.CreateHealthCheck(f.Context(), &api.CreateHealthCheckInput{CallerReference: aws.String(fmt.Sprint(f.checks)), HealthCheckConfig: &c})
	if err != nil {
		return nil, err
	}
	return o.HealthCheck.Id, nil
}

func (f *fixture) check(c types.HealthCheckConfig) *string {
	f.Helper()
	id, err := f.tryCheck(c)
	f.ok(err)
	return id
}

// checkThatIs makes a health check that is healthy or unhealthy whatever
// happens; nil for no_health_check.
func (f *fixture) checkThatIs(health string) *string {
	if health == "no_health_check" {
		return nil
	}
	c := endpoint(types.HealthCheckTypeTcp)
	c.Disabled, c.Inverted = aws.Bool(true), aws.Bool(health != "healthy")
	return f.check(c)
}

// alarms implement world.Alarms by Region, account and name.
type alarms map[string]world.AlarmStream

func (a alarms) AlarmStream(region, account, name string) (world.AlarmStream, bool) {
	s, ok := a[region+"/"+account+"/"+name]
	return s, ok
}

// web is an Internet of one site that answers on every address.
type web struct {
	down atomic.Bool
	body atomic.Pointer[string]
	slow atomic.Int64 // nanoseconds before the answer
}

func (w *web) dial(context.Context, string, string) (net.Conn, error) {
	if w.down.Load() {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	go w.serve(server)
	return client, nil
}

func (w *web) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // the client may be gone
	if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
		return
	}
	time.Sleep(time.Duration(w.slow.Load()))
	body := aws.ToString(w.body.Load())
	_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body) // the client may be gone
}
