package control_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/throttle"
)

var start = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

// handler is the interface of a sandbox without services.
func handler(c clock.Clock) http.Handler {
	return control.Handler(control.Options{Faults: fault.New(c, fault.Levers{}, fault.Scene{}), Throttling: throttle.New(c), Clock: c})
}

func manual() *clock.Manual {
	return clock.NewManual(start, func(ctx context.Context) error { return context.Cause(ctx) })
}

// ask sends a request as from this machine.
func ask(h http.Handler, method, path, body string, header ...string) (int, string) {
	r := httptest.NewRequest(method, "http://127.0.0.1:4566"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestOrders: a fault is set, seen and taken back; throttling is switched; the
// clock is moved.
func TestOrders(t *testing.T) {
	h := handler(manual())
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string // compact JSON
	}{
		{"GET", "/_sandbox/faults", "", 200, `{"faults":[]}`},
		{"POST", "/_sandbox/faults", `{"kind":"throttle","service":"ec2","operation":"ReplaceRoute","count":3}`, 201,
			`{"id":"f1","kind":"throttle","service":"ec2","operation":"ReplaceRoute","count":3,"since":"2026-11-29T03:00:00Z","hits":0}`},
		{"POST", "/_sandbox/faults", `{"kind":"latency","delay":"1m30s","for":"60s"}`, 201,
			`{"id":"f2","kind":"latency","until":"2026-11-29T03:01:00Z","delay":"1m30s","since":"2026-11-29T03:00:00Z","hits":0}`},
		{"DELETE", "/_sandbox/faults/f1", "", 204, ""},
		{"DELETE", "/_sandbox/faults/f1", "", 404, `{"error":"removing fault \"f1\": no such fault is in force"}`},
		{"GET", "/_sandbox/faults", "", 200, `{"faults":[{"id":"f2","kind":"latency","until":"2026-11-29T03:01:00Z","delay":"1m30s","since":"2026-11-29T03:00:00Z","hits":0}]}`},
		{"DELETE", "/_sandbox/faults", "", 204, ""},
		{"GET", "/_sandbox/faults", "", 200, `{"faults":[]}`},
		{"GET", "/_sandbox/throttling", "", 200, `{"on":false,"refused":0}`},
		{"POST", "/_sandbox/throttling", `{"on":true}`, 200, `{"on":true,"refused":0}`},
		{"GET", "/_sandbox/clock", "", 200, `{"now":"2026-11-29T03:00:00Z","mode":"manual"}`},
		{"POST", "/_sandbox/clock", `{"advance":"60s"}`, 200, `{"now":"2026-11-29T03:01:00Z","mode":"manual"}`},
		{"POST", "/_sandbox/clock", `{"advance":"0s"}`, 200, `{"now":"2026-11-29T03:01:00Z","mode":"manual"}`},
	} {
		status, body := ask(h, step.method, step.path, step.body)
		var got any
		if body != "" && json.Unmarshal([]byte(body), &got) != nil {
			t.Fatalf("%s %s: no JSON: %s", step.method, step.path, body)
		}
		var want any
		if step.want != "" && json.Unmarshal([]byte(step.want), &want) != nil {
			t.Fatalf("the test is wrong: %s", step.want)
		}
		if diff := cmp.Diff(want, got); status != step.status || diff != "" {
			t.Errorf("%s %s %s: %d\n%s", step.method, step.path, step.body, status, diff)
		}
	}
}

// TestBadOrders: what cannot be done is answered with the field, the reason and
// what would do.
func TestBadOrders(t *testing.T) {
	h := handler(manual())
	for _, tt := range []struct {
		name, path, body string
		status           int
		field            string
		says             []string
	}{
		{"no body", "faults", "", 400, "", []string{"empty"}},
		{"no JSON", "faults", "kind=throttle", 400, "", []string{"no JSON", "byte"}},
		{"half of it", "faults", `{"kind":"thr`, 400, "", []string{"ends too early"}},
		{"a list", "faults", `[]`, 400, "", []string{"array", "object"}},
		{"two orders", "faults", `{"kind":"lost"}{"kind":"lost"}`, 400, "", []string{"more than one"}},
		{"no kind", "faults", `{}`, 400, "kind", []string{"latency", "throttle"}},
		{"an unknown kind", "faults", `{"kind":"earthquake"}`, 400, "kind", []string{`"earthquake" is no kind of fault`, "stuck-stopping"}},
		{"a field that does not exist", "faults", `{"kind":"lost","serv":"ec2"}`, 400, "serv", []string{"no such field"}},
		{"a field of another kind", "faults", `{"kind":"lost","delay":"1s"}`, 400, "delay", []string{"lost does not take it", "when"}},
		{"a negative duration", "faults", `{"kind":"latency","delay":"-5s"}`, 400, "delay", []string{"-5s is negative"}},
		{"a duration without a unit", "faults", `{"kind":"latency","delay":5}`, 400, "", []string{"5 is no duration", "1m30s"}},
		{"a duration that is none", "faults", `{"kind":"latency","delay":"soon"}`, 400, "", []string{`"soon" is no duration`}},
		{"a long duration", "faults", `{"kind":"latency","delay":"999999h"}`, 400, "delay", []string{"longer than"}},
		{"a text as a number", "faults", `{"kind":"lost","count":"three"}`, 400, "count", []string{"string", "int"}},
		{"a huge number", "faults", `{"kind":"lost","count":1e99}`, 400, "count", []string{"1e99"}},
		{"a time that is none", "faults", `{"kind":"lost","until":"tomorrow"}`, 400, "", []string{"tomorrow"}},
		{"a huge body", "faults", `{"kind":"` + strings.Repeat("x", 100<<10) + `"}`, 400, "", []string{"larger than 65536 bytes"}},
		{"instances where there are none", "faults", `{"kind":"power-loss","instance":"i-0123456789abcdef0"}`, 409, "", []string{"no instances"}},
		{"throttling by a text", "throttling", `{"on":"yes"}`, 400, "on", []string{"bool"}},
		{"throttling, but how", "throttling", `{}`, 400, "on", []string{"true or false"}},
		{"an advance of nothing", "clock", `{}`, 400, "advance", []string{"60s"}},
		{"an advance backwards", "clock", `{"advance":"-1s"}`, 400, "advance", []string{"negative", "backwards"}},
		{"an advance of years", "clock", `{"advance":"99999h"}`, 400, "advance", []string{"one step"}},
		{"an advance by a number", "clock", `{"advance":60}`, 400, "", []string{"60 is no duration"}},
		{"a path that does not exist", "weather", `{}`, 404, "", []string{"there is no POST /_sandbox/weather", "/_sandbox/faults"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := ask(h, "POST", "/_sandbox/"+tt.path, tt.body)
			var got struct{ Error, Field string }
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("no JSON: %s", body)
			}
			if status != tt.status || got.Field != tt.field {
				t.Errorf("%d on field %q, want %d on %q: %s", status, got.Field, tt.status, tt.field, got.Error)
			}
			for _, word := range tt.says {
				if !strings.Contains(got.Error, word) {
					t.Errorf("%q does not say %q", got.Error, word)
				}
			}
		})
	}
	if _, body := ask(h, "GET", "/_sandbox/faults", ""); !strings.Contains(body, `"faults": []`) {
		t.Errorf("a refused fault is in force: %s", body)
	}
}

// TestTheClockThatRuns cannot be moved.
func TestTheClockThatRuns(t *testing.T) {
	h := handler(clock.NewScaled(start, 10))
	if status, body := ask(h, "POST", "/_sandbox/clock", `{"advance":"1s"}`); status != 409 || !strings.Contains(body, "--clock manual") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := ask(h, "GET", "/_sandbox/clock", ""); status != 200 || !strings.Contains(body, `"speed": 10`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestNobodyElseGivesOrders: neither other machines nor web pages.
func TestNobodyElseGivesOrders(t *testing.T) {
	h := handler(manual())
	for _, tt := range []struct {
		name   string
		header []string
		status int
	}{
		{"this machine", nil, 200},
		{"by name", []string{"Host", "localhost:4566"}, 200},
		{"by IPv6", []string{"Host", "[::1]:4566"}, 200},
		{"a name that somebody points here", []string{"Host", "evil.example:4566"}, 403},
		{"a page of another site", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a page of another origin", []string{"Origin", "https://evil.example"}, 403},
	} {
		if status, body := ask(h, "POST", "/_sandbox/clock", `{"advance":"0s"}`, tt.header...); status != tt.status {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1:4566/_sandbox/faults", nil)
	r.RemoteAddr = "192.0.2.1:50000"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 403 || !strings.Contains(w.Body.String(), "loopback") {
		t.Errorf("another machine: %d %s", w.Code, w.Body)
	}
}

// TestOverview: every kind of fault is explained, with fields that it takes.
func TestOverview(t *testing.T) {
	_, body := ask(handler(manual()), "GET", "/_sandbox/", "")
	var o struct {
		Faults []fault.About
	}
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Faults) < 15 {
		t.Fatalf("%d kinds of faults are explained", len(o.Faults))
	}
	for _, a := range o.Faults {
		if a.Says == "" || len(a.Needs)+len(a.Takes) == 0 {
			t.Errorf("%+v says nothing", a)
		}
	}
}

// FuzzInject: no body makes the decoder panic, and what is refused is
// explained.
func FuzzInject(f *testing.F) {
	for _, s := range []string{
		`{"kind":"throttle","service":"ec2","count":3}`, `{"kind":"cut","place":"eu-central-1a","direction":"in"}`, `{"kind":"latency","delay":"1m"}`,
		`{"kind":"lost","until":"2026-12-01T00:00:00Z","probability":0.5,"seed":7}`, `[]`, `null`, `{"kind":1}`, `{"delay":{}}`, "\x00", `{"kind":"cut","place":"eu--1a"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := handler(manual())
		status, answer := ask(h, "POST", "/_sandbox/faults", body)
		var got struct{ ID, Error string }
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatalf("%q is answered with %d %s", body, status, answer)
		}
		switch status {
		case 201:
			if got.ID == "" {
				t.Errorf("%q is in force without a name", body)
			}
		case 400, 409:
			if got.Error == "" {
				t.Errorf("%q is refused without a word", body)
			}
		default:
			t.Errorf("%q is answered with %d", body, status)
		}
	})
}
