package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestScaledRunsFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
		c := NewScaled(base, 10)
		start := time.Now()
		if err := c.Sleep(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if real := time.Since(start); real != 6*time.Second {
			t.Errorf("a virtual minute took %s, want 6s", real)
		}
		if got := c.Now(); !got.Equal(base.Add(time.Minute)) {
			t.Errorf("Now = %s, want %s", got, base.Add(time.Minute))
		}
		if got := Real(c, time.Minute); got != 6*time.Second {
			t.Errorf("Real(1m) = %s, want 6s", got)
		}
		if got := Real(System(), time.Minute); got != time.Minute {
			t.Errorf("Real(1m) of the system's clock = %s", got)
		}
	})
}

func TestScaledTickerAndAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewScaled(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC), 10)
		fired := make(chan time.Time, 1)
		c.AfterFunc(20*time.Second, func() { fired <- c.Now() })
		ticker := c.NewTicker(10 * time.Second)
		first, second := <-ticker.C(), <-ticker.C()
		ticker.Stop()
		ticker.Stop() // twice does no harm
		if d := second.Sub(first); d != 10*time.Second {
			t.Errorf("ticks are %s apart, want 10s", d)
		}
		if at := <-fired; at.Sub(first) != 10*time.Second {
			t.Errorf("AfterFunc ran %s after the first tick, want 10s", at.Sub(first))
		}
		stopped := c.AfterFunc(time.Second, func() { t.Error("a stopped timer ran") })
		if !stopped.Stop() {
			t.Error("Stop reports that it came too late")
		}
		time.Sleep(time.Second)
	})
}

func TestTwoProcessesAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewScaled(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC), 7.5)
		time.Sleep(time.Second)
		b, err := Parse(a.String())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if d := a.Now().Sub(b.Now()).Abs(); d > time.Microsecond {
			t.Errorf("the clocks differ by %s", d)
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	for name, c := range map[string]Clock{"system": System(), "scaled": NewScaled(time.Unix(0, 0), 10)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := WithTimeout(t.Context(), c, time.Minute)
				defer cancel()
				start := c.Now()
				if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Sleep = %v, want the deadline", err)
				}
				if d := c.Now().Sub(start); d != time.Minute {
					t.Errorf("slept %s, want 1m", d)
				}
				if err := c.Sleep(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Sleep(0) after the end = %v", err)
				}
			})
		})
	}
}

// TestFromEnv: a clock that runs wrong is accepted on loopback only.
func TestFromEnv(t *testing.T) {
	good := NewScaled(time.Unix(1000, 0), 20).String()
	tests := []struct {
		name, clock, endpoint string
		scaled, ok            bool
	}{
		{"unset: the system's clock", "", "https://dynamodb.eu-central-1.amazonaws.com", false, true},
		{"loopback address", good, "http://127.0.0.1:4566", true, true},
		{"loopback name", good, "http://localhost:4566", true, true},
		{"IPv6 loopback", good, "http://[::1]:4566", true, true},
		{"real AWS is refused", good, "https://dynamodb.eu-central-1.amazonaws.com", false, false},
		{"no endpoint is real AWS", good, "", false, false},
		{"a name that looks like loopback", good, "http://127.0.0.1.example.com", false, false},
		{"not a URL", good, "http://%zz", false, false},
		{"too few fields", "1,2", "http://127.0.0.1:1", false, false},
		{"not a number", "1,2,fast", "http://127.0.0.1:1", false, false},
		{"standing still", "1,2,0", "http://127.0.0.1:1", false, false},
		{"backwards", "1,2,-1", "http://127.0.0.1:1", false, false},
		{"not a speed", "1,2,NaN", "http://127.0.0.1:1", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{EnvVar: tt.clock, "AWS_ENDPOINT_URL": tt.endpoint}
			c, err := FromEnv(func(k string) string { return env[k] })
			if (err == nil) != tt.ok {
				t.Fatalf("error %v, want ok = %v", err, tt.ok)
			}
			if _, scaled := c.(*Scaled); err == nil && scaled != tt.scaled {
				t.Errorf("scaled = %v, want %v", scaled, tt.scaled)
			}
		})
	}
}

// TestStopwatch: it follows the speed of its clock.
func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scaled := NewScaled(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC), 10)
		real, fast := Stopwatch(System()), Stopwatch(scaled)
		time.Sleep(time.Minute)
		if real() != time.Minute || fast() != 10*time.Minute {
			t.Errorf("after a real minute: %s, and %s at ten times the speed", real(), fast())
		}
	})
}
