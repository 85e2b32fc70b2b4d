package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

func TestMeasures(t *testing.T) {
	const sentinel = 20001
	hang := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	tests := []struct {
		name       string
		change     func(*host)
		value      float64 // of every sample
		probes     bool
		good, bad  bool
		recordRole failover.Role
	}{
		{"healthy primary: a committed write", nil, 30, true, true, false, failover.RolePrimary},
		{"SQL that answers never is a value above the threshold", func(h *host) { h.probe = hang }, sentinel, true, false, true, failover.RolePrimary},
		{"SQL that fails is a value above the threshold", func(h *host) {
			h.probe = func(context.Context) error { return errors.New("SQL1224N") }
		}, sentinel, true, false, true, failover.RolePrimary},
		{"standby: its own view, never a connection", func(h *host) {
			h.view.Role, h.primary = failover.RoleStandby, "b"
		}, 0, false, false, false, failover.RoleStandby},
		{"IT10602: an inactive primary is never connected to", func(h *host) { h.view.Database = failover.DatabaseInactive }, sentinel, false, false, true, failover.RolePrimary},
		{"a primary that is not the recorded one is never connected to", func(h *host) { h.primary = "b" }, sentinel, false, false, true, failover.RolePrimary},
		{"no view", func(h *host) { h.view = failover.Observation{Answer: failover.Silent, AnswerError: "x"} }, sentinel, false, false, true, failover.RoleUnknown},
		{"a view that is not understood says nothing about the database", func(h *host) { h.view = failover.Observation{Answer: failover.Unreadable, AnswerError: "x"} }, sentinel, false, false, false, failover.RoleUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := primaryHost()
				if tt.change != nil {
					tt.change(h)
				}
				measure(t, h, 2*time.Minute-time.Millisecond)
				if len(h.values) != 6 {
					t.Fatalf("%d samples in two minutes, want 6: the ticker is fixed", len(h.values))
				}
				for i, v := range h.values {
					if v != tt.value {
						t.Errorf("sample %d = %v ms, want %v", i, v, tt.value)
					}
				}
				if (h.probes > 0) != tt.probes {
					t.Errorf("connected %d times, want %v", h.probes, tt.probes)
				}
				last := h.nodes[len(h.nodes)-1]
				if last.Role != tt.recordRole || last.Source != "agent" {
					t.Errorf("record: role %q, source %q", last.Role, last.Source)
				}
				if (!last.LastGoodProbe.IsZero()) != tt.good || (!last.LastBadProbe.IsZero()) != tt.bad {
					t.Errorf("record: last good probe %s, last bad %s", last.LastGoodProbe, last.LastBadProbe)
				}
			})
		})
	}
}

// TestHangKeepsTheRhythm: a probe that uses its whole time-out delays no tick,
// so that the sample count stays honest.
func TestHangKeepsTheRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		h.probe = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		measure(t, h, 10*time.Minute-time.Millisecond)
		for i := 1; i < len(h.times); i++ {
			if d := h.times[i].Sub(h.times[i-1]); d != 20*time.Second {
				t.Errorf("samples %d and %d are %s apart", i-1, i, d)
			}
		}
	})
}

// TestVirtualAddress: it is held by the recorded primary alone.
func TestVirtualAddress(t *testing.T) {
	tests := []struct {
		name          string
		role          failover.Role
		primary       string
		answer        failover.Answer
		bound, expect bool
	}{
		{"primary binds it", failover.RolePrimary, "a", failover.Answered, false, true},
		{"standby releases it", failover.RoleStandby, "b", failover.Answered, true, false},
		{"a node that will be promoted keeps what the takeover bound", failover.RoleStandby, "a", failover.Answered, true, true},
		{"an old primary that is still PRIMARY binds nothing", failover.RolePrimary, "b", failover.Answered, false, false},
		{"no view changes nothing", failover.RoleUnknown, "a", failover.Silent, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := primaryHost()
				h.vip, h.bound, h.primary, h.view.Role, h.view.Answer = "10.99.0.1", tt.bound, tt.primary, tt.role, tt.answer
				measure(t, h, 30*time.Second)
				if h.bound != tt.expect {
					t.Errorf("bound = %v, want %v", h.bound, tt.expect)
				}
			})
		})
	}
}

// TestVirtualAddressIsAssertedAgain: at every tick, and never again once the
// node is not the recorded primary.
func TestVirtualAddressIsAssertedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		h.vip = "10.99.0.1"
		h.after(31*time.Second, func() { h.bound = false }) // by a network manager
		h.after(55*time.Second, func() {
			if !h.bound {
				t.Error("a dropped address is not bound again")
			}
			h.bound, h.primary = false, "b" // taken over, though its database does not know
		})
		measure(t, h, 3*time.Minute)
		if h.bound {
			t.Error("an old primary binds the address")
		}
	})
}

// TestTakenOver: the new primary's agent connects as soon as the record names
// its node, although it held an older record.
func TestTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		h.primary, h.view.Role = "b", failover.RoleStandby
		time.AfterFunc(50*time.Second, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.primary, h.view.Role = "a", failover.RolePrimary
		})
		measure(t, h, 70*time.Second)
		if h.probes != 1 {
			t.Errorf("connected %d times, want once, at the first tick after the takeover", h.probes)
		}
	})
}

// TestRecordUnreachable: losing the record stops no measurement.
func TestRecordUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		time.AfterFunc(30*time.Second, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.recordErr = errors.New("no route to host")
		})
		measure(t, h, 5*time.Minute-time.Millisecond)
		if len(h.values) != 15 || h.values[14] != 30 {
			t.Errorf("values %v", h.values)
		}
	})
}

func TestWaitsForItsDeclaration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := primaryHost()
		h.recordErr = errors.New("not found")
		time.AfterFunc(12*time.Second, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.recordErr = nil
		})
		measure(t, h, 30*time.Second)
		if len(h.values) != 1 {
			t.Errorf("values %v", h.values)
		}
	})
}

type respond func() string

func (f respond) RoundTrip(*http.Request) (*http.Response, error) {
	h := http.Header{}
	h.Set("Date", f())
	return &http.Response{StatusCode: 200, Header: h, Body: http.NoBody}, nil
}

// TestUnsafeProbe: a probe whose lost values would look healthy, or whose
// time-out would delay the next one, is not run.
func TestUnsafeProbe(t *testing.T) {
	for name, change := range map[string]func(*statetable.Probe){
		"the value of a lost probe is at the threshold": func(p *statetable.Probe) { p.Sentinel = p.Threshold },
		"the time-out is the interval":                  func(p *statetable.Probe) { p.Timeout = p.Interval },
		"there is no interval":                          func(p *statetable.Probe) { p.Interval = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, log := primaryHost(), &journal{}
				h.amend = change
				a := h.agent("a")
				a.Log = slog.New(log)
				run(t, a, time.Minute)
				if told := log.warnings(); len(told) != 1 || !strings.Contains(told[0], "hadr_sql_latency_metric") || len(h.values) > 0 {
					t.Errorf("%d values, told:\n%s", len(h.values), strings.Join(told, "\n"))
				}
			})
		})
	}
}

func TestServerClock(t *testing.T) {
	tests := []struct {
		name   string
		server time.Duration // of the server's clock to this host's
		want   time.Duration // of this host
	}{
		{"agrees", 0, 0},
		{"within a second nothing is known", -200 * time.Millisecond, 0},
		{"host behind", 5 * time.Second, -4 * time.Second},
		{"host ahead", -5 * time.Second, 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewServerClock(respond(func() string {
					return time.Now().Add(tt.server).UTC().Format(http.TimeFormat)
				}), clock.System())
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(""))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond)
				if _, at := s.Offset(); !at.IsZero() {
					t.Error("an offset before any answer")
				}
				if _, err := s.RoundTrip(req); err != nil {
					t.Fatal(err)
				}
				got, at := s.Offset()
				if (got-tt.want).Abs() > 1100*time.Millisecond || tt.want == 0 && got != 0 || !at.Equal(time.Now()) {
					t.Errorf("offset %s at %s, want about %s now", got, at, tt.want)
				}
			})
		})
	}
}
