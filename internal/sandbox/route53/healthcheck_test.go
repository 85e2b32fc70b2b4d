package route53

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestHealthCheckLifeCycle(t *testing.T) {
	f := newFixture(t)
	in := &api.CreateHealthCheckInput{CallerReference: aws.String("r"), HealthCheckConfig: &types.HealthCheckConfig{Type: types.HealthCheckTypeHttp, IPAddress: aws.String("198.51.100.1")}}
	o, err := f.client.CreateHealthCheck(t.Context(), in)
	f.ok(err)
	id := o.HealthCheck.Id
	c := o.HealthCheck.HealthCheckConfig
	if *c.Port != 80 || *c.RequestInterval != 30 || *c.FailureThreshold != 3 || *c.Inverted || *c.Disabled || *o.HealthCheck.HealthCheckVersion != 1 || !strings.HasSuffix(*o.Location, *id) {
		t.Errorf("defaults are %+v", c)
	}
	again, err := f.client.CreateHealthCheck(t.Context(), in)
	f.ok(err)
	if *again.HealthCheck.Id != *id {
		t.Error("a repeated request made another health check")
	}
	in.HealthCheckConfig.Port = aws.Int32(81)
	_, err = f.client.CreateHealthCheck(t.Context(), in)
	f.fails(err, "HealthCheckAlreadyExists")

	_, err = f.client.UpdateHealthCheck(t.Context(), &api.UpdateHealthCheckInput{HealthCheckId: id, HealthCheckVersion: aws.Int64(2), Inverted: aws.Bool(true)})
	f.fails(err, "HealthCheckVersionMismatch")
	u, err := f.client.UpdateHealthCheck(t.Context(), &api.UpdateHealthCheckInput{HealthCheckId: id, HealthCheckVersion: aws.Int64(1), Inverted: aws.Bool(true), FullyQualifiedDomainName: aws.String("db.example.com"), ResourcePath: aws.String("/role")})
	f.ok(err)
	if !*u.HealthCheck.HealthCheckConfig.Inverted || *u.HealthCheck.HealthCheckVersion != 2 {
		t.Errorf("updated: %+v", u.HealthCheck)
	}
	u, err = f.client.UpdateHealthCheck(t.Context(), &api.UpdateHealthCheckInput{HealthCheckId: id, ResetElements: []types.ResettableElementName{types.ResettableElementNameResourcePath}})
	f.ok(err)
	if u.HealthCheck.HealthCheckConfig.ResourcePath != nil || *u.HealthCheck.HealthCheckConfig.FullyQualifiedDomainName != "db.example.com" {
		t.Errorf("reset: %+v", u.HealthCheck.HealthCheckConfig)
	}
	f.checkThatIs("healthy")
	p := api.NewListHealthChecksPaginator(f.client, &api.ListHealthChecksInput{MaxItems: aws.Int32(1)})
	count := 0
	for p.HasMorePages() {
		page, err := p.NextPage(t.Context())
		f.ok(err)
		count += len(page.HealthChecks)
	}
	if count != 2 {
		t.Errorf("%d health checks on all pages", count)
	}
	_, err = f.client.DeleteHealthCheck(t.Context(), &api.DeleteHealthCheckInput{HealthCheckId: id})
	f.ok(err)
	_, err = f.client.GetHealthCheck(t.Context(), &api.GetHealthCheckInput{HealthCheckId: id})
	f.fails(err, "NoSuchHealthCheck")
	in.HealthCheckConfig.Port = nil
	_, err = f.client.CreateHealthCheck(t.Context(), in)
	f.fails(err, "HealthCheckAlreadyExists")
}

func TestRefusedHealthChecks(t *testing.T) {
	with := func(kind types.HealthCheckType, edit func(*types.HealthCheckConfig)) types.HealthCheckConfig {
		c := endpoint(kind)
		edit(&c)
		return c
	}
	for name, c := range map[string]types.HealthCheckConfig{
		"unknown type":           {Type: "PING"},
		"no endpoint":            with("HTTP", func(c *types.HealthCheckConfig) { c.IPAddress = nil }),
		"private address":        with("HTTP", func(c *types.HealthCheckConfig) { c.IPAddress = aws.String("10.0.0.1") }),
		"no address":             with("HTTP", func(c *types.HealthCheckConfig) { c.IPAddress = aws.String("db") }),
		"TCP without port":       with("TCP", func(c *types.HealthCheckConfig) { c.Port = nil }),
		"port 0":                 with("TCP", func(c *types.HealthCheckConfig) { c.Port = aws.Int32(0) }),
		"interval 20":            with("TCP", func(c *types.HealthCheckConfig) { c.RequestInterval = aws.Int32(20) }),
		"threshold 11":           with("TCP", func(c *types.HealthCheckConfig) { c.FailureThreshold = aws.Int32(11) }),
		"no search string":       with("HTTP_STR_MATCH", func(*types.HealthCheckConfig) {}),
		"search string in HTTP":  with("HTTP", func(c *types.HealthCheckConfig) { c.SearchString = aws.String("x") }),
		"two Regions":            with("TCP", func(c *types.HealthCheckConfig) { c.Regions = []types.HealthCheckRegion{"eu-west-1", "us-east-1"} }),
		"no threshold":           {Type: types.HealthCheckTypeCalculated},
		"alarm without name":     {Type: types.HealthCheckTypeCloudwatchMetric},
		"control without an ARN": {Type: types.HealthCheckTypeRecoveryControl},
	} {
		f := newFixture(t)
		_, err := f.tryCheck(c)
		if err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		f.fails(err, "InvalidInput")
	}
	f := newFixture(t)
	_, err := f.tryCheck(types.HealthCheckConfig{Type: types.HealthCheckTypeCalculated, HealthThreshold: aws.Int32(1), ChildHealthChecks: []string{"none"}})
	f.fails(err, "NoSuchHealthCheck")
}

// An endpoint turns after FailureThreshold probes in a row, both ways, and a
// slow answer is a failed one.
func TestThreshold(t *testing.T) {
	virtual(t, func(f *fixture) {
		id := f.check(endpoint(types.HealthCheckTypeHttp))
		is := func(want bool, what string) {
			f.Helper()
			if got, ok := f.service.Healthy(*id); got != want || !ok {
				f.Errorf("%s: healthy is %t", what, got)
			}
		}
		time.Sleep(time.Second) // between the probes, which come every 10 s
		f.web.slow.Store(int64(3 * time.Second))
		time.Sleep(20 * time.Second)
		is(true, "after two slow answers")
		f.web.slow.Store(0)
		time.Sleep(10 * time.Second)
		f.web.down.Store(true)
		time.Sleep(20 * time.Second)
		is(true, "after two more failures, not in a row")
		time.Sleep(10 * time.Second)
		is(false, "after three failures in a row")
		o, err := f.client.GetHealthCheckStatus(f.Context(), &api.GetHealthCheckStatusInput{HealthCheckId: id})
		f.ok(err)
		if n := len(o.HealthCheckObservations); n < 3 || !strings.HasPrefix(*o.HealthCheckObservations[0].StatusReport.Status, "Failure: ") {
			f.Errorf("%d observations: %+v", n, o.HealthCheckObservations)
		}
		f.web.down.Store(false)
		time.Sleep(20 * time.Second)
		is(false, "after two good answers")
		time.Sleep(10 * time.Second)
		is(true, "after three good answers")
	})
}

// Data decides, the settings are those of the alarm at the last update, and
// LastKnownStatus remembers.
func TestAlarmCheck(t *testing.T) {
	virtual(t, func(f *fixture) {
		state := world.AlarmOK
		stream := world.AlarmStream{Namespace: "HADR", Metric: "SQLLatency", Dimensions: map[string]string{"Node": "a"}, Statistic: "Maximum", Comparison: "GreaterThanThreshold", Threshold: 5, Period: time.Minute, Periods: 2, ToAlarm: 2,
			State: func(time.Time) world.AlarmState { return state }}
		f.alarms["eu-west-1/"+world.DefaultAccount+"/slow"] = stream
		id := f.check(types.HealthCheckConfig{Type: types.HealthCheckTypeCloudwatchMetric, InsufficientDataHealthStatus: types.InsufficientDataHealthStatusLastKnownStatus,
			AlarmIdentifier: &types.AlarmIdentifier{Name: aws.String("slow"), Region: types.CloudWatchRegionEuWest1}})
		o, err := f.client.GetHealthCheck(f.Context(), &api.GetHealthCheckInput{HealthCheckId: id})
		f.ok(err)
		if c := o.HealthCheck.CloudWatchAlarmConfiguration; *c.MetricName != "SQLLatency" || *c.Period != 60 || *c.EvaluationPeriods != 2 || len(c.Dimensions) != 1 {
			f.Errorf("alarm configuration is %+v", c)
		}
		for _, step := range []struct {
			state world.AlarmState
			want  bool
		}{{world.AlarmInsufficientData, true}, {world.AlarmRed, false}, {world.AlarmInsufficientData, false}, {world.AlarmOK, true}, {world.AlarmInsufficientData, true}} {
			state = step.state
			time.Sleep(metricInterval)
			if got, _ := f.service.Healthy(*id); got != step.want {
				f.Errorf("data says %d: healthy is %t", step.state, got)
			}
		}
	})
}

// Probes really speak TCP, HTTP and HTTPS; certificates do not matter.
func TestProbes(t *testing.T) {
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			_, _ = w.Write([]byte(strings.Repeat("-", 5000) + "role=primary"))
		case "/far":
			_, _ = w.Write([]byte(strings.Repeat("-", 5120) + "role=primary"))
		case "/moved":
			http.Redirect(w, r, "/nowhere", http.StatusFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	plain, secure := httptest.NewServer(site), httptest.NewTLSServer(site)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	port := func(s *httptest.Server) *int32 {
		_, p, err := net.SplitHostPort(s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(p)
		if err != nil {
			t.Fatal(err)
		}
		return aws.Int32(int32(n))
	}
	for _, row := range []struct {
		kind types.HealthCheckType
		host string
		path string
		want bool
	}{
		{"TCP", "127.0.0.1", "", true}, {"TCP", "203.0.113.1", "", false},
		{"HTTP", "127.0.0.1", "/ok", true}, {"HTTP", "127.0.0.1", "moved", true}, {"HTTP", "127.0.0.1", "/none", false},
		{"HTTPS", "127.0.0.1", "/ok", true}, {"HTTPS", "127.0.0.1", "/none", false},
		{"HTTP_STR_MATCH", "127.0.0.1", "/ok", true}, {"HTTPS_STR_MATCH", "127.0.0.1", "/far", false}, {"HTTP_STR_MATCH", "127.0.0.1", "/moved", false},
	} {
		f := newFixture(t, WithDialer(dialLoopback))
		c := types.HealthCheckConfig{Type: row.kind, IPAddress: &row.host, Port: port(plain), ResourcePath: &row.path}
		if searches(row.kind) {
			c.SearchString = aws.String("role=primary")
		}
		if encrypted(row.kind) {
			c.Port = port(secure)
		}
		if o := f.service.probe(t.Context(), withDefaults(c)); o.passes(row.kind) != row.want {
			t.Errorf("%s of %s%s: %+v", row.kind, row.host, row.path, o)
		}
	}
}

// The body counts up to its 5120th byte.
func TestSearchStringTooFar(t *testing.T) {
	for end, want := range map[int]bool{0: false, 1: true, searched: true, searched + 1: false} {
		if got := (outcome{code: 200, found: end}).passes(types.HealthCheckTypeHttpStrMatch); got != want {
			t.Errorf("a search string that ends at byte %d passes: %t", end, got)
		}
	}
}

// A probe with settings that have changed meanwhile says nothing.
func TestUpdateDuringAProbe(t *testing.T) {
	virtual(t, func(f *fixture) {
		c := endpoint(types.HealthCheckTypeHttp)
		c.FailureThreshold = aws.Int32(1)
		f.web.slow.Store(int64(3 * time.Second))
		id := f.check(c)
		time.Sleep(time.Second)
		f.web.slow.Store(0)
		_, err := f.client.UpdateHealthCheck(f.Context(), &api.UpdateHealthCheckInput{HealthCheckId: id, Port: aws.Int32(81)})
		f.ok(err)
		time.Sleep(3 * time.Second)
		if healthy, _ := f.service.Healthy(*id); !healthy {
			f.Error("the outcome of a probe with old settings counts")
		}
	})
}
