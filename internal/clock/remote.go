package clock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// manualEnv is the value of EnvVar for a sandbox whose clock is moved by hand.
const manualEnv = "manual"

// CallerHeader names the access key of who reads a sandbox's manual clock, so
// that the sandbox knows which of its functions wait.
const CallerHeader = "X-Sandbox-Caller"

// Remote is the manual clock of a sandbox as its functions in other processes,
// the provider and the command line see it: it asks the sandbox.
type Remote struct {
	url    string
	caller string
	client *http.Client

	mu   sync.Mutex
	last time.Time // for when the sandbox does not answer
}

// NewRemote returns the clock of the sandbox at an endpoint. It fails if none
// answers there.
func NewRemote(endpoint, accessKey string) (*Remote, error) {
	r := &Remote{url: endpoint + "/_sandbox/clock", caller: accessKey, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	now, err := r.ask(context.Background(), http.MethodGet, r.url, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the clock of the sandbox: %w", err)
	}
	r.last = now
	return r, nil
}

// ask returns the time in an answer of the sandbox.
func (r *Remote) ask(ctx context.Context, method, url string, body []byte) (time.Time, error) {
	q, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return time.Time{}, err
	}
	q.Header.Set(CallerHeader, r.caller)
	resp, err := r.client.Do(q)
	if err != nil {
		return time.Time{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return time.Time{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return time.Time{}, fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, bytes.TrimSpace(text))
	}
	var state struct{ Now time.Time }
	if err := json.Unmarshal(text, &state); err != nil {
		return time.Time{}, fmt.Errorf("%s %s: %w", method, url, err)
	}
	return state.Now.UTC(), nil
}

// Now implements Clock. Without an answer it is the last time that was heard.
func (r *Remote) Now() time.Time {
	now, err := r.ask(context.Background(), http.MethodGet, r.url, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.last = now
	}
	return r.last
}

// Sleep implements Clock.
func (r *Remote) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	_, err := r.ask(ctx, http.MethodPost, r.url+"/wait", []byte(`{"for":"`+d.String()+`"}`))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("waiting %s by the clock of the sandbox: %w", d, err)
	}
	return nil
}

// AfterFunc implements Clock.
func (r *Remote) AfterFunc(d time.Duration, f func()) Timer {
	t := &remoteTimer{}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	go func() {
		if r.Sleep(ctx, d) == nil && t.end() {
			f()
		}
	}()
	return t
}

type remoteTimer struct {
	cancel context.CancelFunc
	mu     sync.Mutex
	over   bool
}

// end reports whether the timer was still pending, and makes it not be.
func (t *remoteTimer) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	pending := !t.over
	t.over = true
	return pending
}

// Stop implements Timer.
func (t *remoteTimer) Stop() bool {
	t.cancel()
	return t.end()
}

// NewTicker implements Clock. Its ticks carry the sandbox's time.
func (r *Remote) NewTicker(d time.Duration) Ticker {
	ctx, cancel := context.WithCancel(context.Background())
	t := remoteTicker{make(chan time.Time, 1), cancel}
	go func() {
		for due := r.Now().Add(d); ; due = due.Add(d) {
			if r.Sleep(ctx, due.Sub(r.Now())) != nil {
				return
			}
			select {
			case t.c <- due:
			default:
			}
		}
	}()
	return t
}

type remoteTicker struct {
	c      chan time.Time
	cancel context.CancelFunc
}

func (t remoteTicker) C() <-chan time.Time { return t.c }

func (t remoteTicker) Stop() { t.cancel() }

// Stopwatch implements the one that clock.Stopwatch returns.
func (r *Remote) Stopwatch() func() time.Duration {
	start := r.Now()
	return func() time.Duration { return r.Now().Sub(start) }
}
