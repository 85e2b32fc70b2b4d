package clock

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// EnvVar carries a scaled clock to the functions, agents and commands of a
// sped-up sandbox. Its value is "<origin>,<base>,<speed>": the real and the
// virtual time, in nanoseconds since the Unix epoch, at which both were
// aligned, and how many virtual seconds pass in a real one. "manual" stands for
// a clock that is moved by hand and must be asked for the time.
const EnvVar = "HADR_SANDBOX_CLOCK"

// Scaled is a clock that runs faster or slower than the system's. All
// processes that hold the same values agree on the time.
type Scaled struct {
	origin time.Time // real
	base   time.Time // virtual
	speed  float64
}

// NewScaled returns a clock that reads base now and runs at speed.
func NewScaled(base time.Time, speed float64) *Scaled {
	return &Scaled{origin: time.Now().Round(0), base: base.UTC(), speed: speed}
}

// Speed returns how many virtual seconds pass in a real one.
func (s *Scaled) Speed() float64 { return s.speed }

// Now implements Clock.
func (s *Scaled) Now() time.Time {
	return s.base.Add(time.Duration(float64(time.Since(s.origin)) * s.speed))
}

func (s *Scaled) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.speed)
}

// Sleep implements Clock.
func (s *Scaled) Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, s.real(d)) }

// AfterFunc implements Clock.
func (s *Scaled) AfterFunc(d time.Duration, f func()) Timer {
	return time.AfterFunc(s.real(d), f)
}

// NewTicker implements Clock. Its ticks carry virtual time.
func (s *Scaled) NewTicker(d time.Duration) Ticker {
	t := &scaledTicker{real: time.NewTicker(s.real(d)), c: make(chan time.Time, 1), done: make(chan struct{})}
	go t.run(s)
	return t
}

type scaledTicker struct {
	real *time.Ticker
	c    chan time.Time
	done chan struct{}
}

func (t *scaledTicker) run(s *Scaled) {
	for {
		select {
		case <-t.real.C:
			select {
			case t.c <- s.Now():
			default:
			}
		case <-t.done:
			return
		}
	}
}

func (t *scaledTicker) C() <-chan time.Time { return t.c }

func (t *scaledTicker) Stop() {
	t.real.Stop()
	select {
	case <-t.done:
	default:
		close(t.done)
	}
}

// String is the value of EnvVar for this clock.
func (s *Scaled) String() string {
	return fmt.Sprintf("%d,%d,%s", s.origin.UnixNano(), s.base.UnixNano(), strconv.FormatFloat(s.speed, 'g', -1, 64))
}

// Parse reads the form that String writes.
func Parse(v string) (*Scaled, error) {
	f := strings.Split(v, ",")
	if len(f) != 3 {
		return nil, fmt.Errorf("%s=%q: want origin,base,speed", EnvVar, v)
	}
	origin, err1 := strconv.ParseInt(f[0], 10, 64)
	base, err2 := strconv.ParseInt(f[1], 10, 64)
	speed, err3 := strconv.ParseFloat(f[2], 64)
	if err1 != nil || err2 != nil || err3 != nil || !(speed > 0) || speed > 1e6 {
		return nil, fmt.Errorf("%s=%q: want two integers and a speed above 0", EnvVar, v)
	}
	return &Scaled{origin: time.Unix(0, origin), base: time.Unix(0, base).UTC(), speed: speed}, nil
}

// Env returns the value of EnvVar for those who are to take their time from c;
// "" for the system's clock.
func Env(c Clock) string {
	switch c := c.(type) {
	case *Scaled:
		return c.String()
	case *Manual:
		return manualEnv
	}
	return ""
}

// FromEnv returns the clock that the environment asks for: the system's, or that
// of a sandbox, scaled or moved by hand, if EnvVar is set and the AWS endpoint
// is on the loopback interface. Anything else is refused: no real database may be judged by a
// clock that runs wrong.
func FromEnv(getenv func(string) string) (Clock, error) {
	v := getenv(EnvVar)
	if v == "" {
		return System(), nil
	}
	endpoint := getenv("AWS_ENDPOINT_URL")
	if !loopback(endpoint) {
		return nil, fmt.Errorf("%s is set, but AWS_ENDPOINT_URL=%q is not on the loopback interface: unset %s", EnvVar, endpoint, EnvVar)
	}
	if v == manualEnv {
		return NewRemote(endpoint, getenv("AWS_ACCESS_KEY_ID"))
	}
	return Parse(v)
}

func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// Stopwatch implements the one that clock.Stopwatch returns.
func (s *Scaled) Stopwatch() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Duration(float64(time.Since(start)) * s.speed) }
}
