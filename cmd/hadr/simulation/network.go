package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
)

// network stands between the programs and AWS. It gives every call its time on
// the way, kills programs after their effects, and notes what they read from
// the authority and write to it.
type network struct {
	seed uint64

	mu        sync.Mutex
	deaths    map[string]int // effects that a program has left before it dies
	killed    int
	calls     []Call
	authority authority
}

// Call is a request on its way to AWS. In two runs of a story the calls are the
// same, up to the first that shows what is not drawn from the seed.
type Call struct {
	At      time.Time
	Program string
	What    string // operation, and a digest of what was asked
}

func newNetwork(seed uint64) *network {
	return &network{seed: seed, deaths: map[string]int{}}
}

// condemn lets a program die after its n-th effect from now on.
func (n *network) condemn(program string, effect int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deaths[program] = effect
}

// pardon lets everybody live.
func (n *network) pardon() (killed int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.deaths)
	return n.killed
}

// Enlist implements demo.Disturber.
func (n *network) Enlist(program string, kill context.CancelFunc, next http.RoundTripper) (http.RoundTripper, func() bool) {
	l := &line{network: n, program: program, kill: kill, next: next}
	return l, l.died
}

// line is the network of one run of a program.
type line struct {
	*network
	program string
	kill    context.CancelFunc
	next    http.RoundTripper

	over bool // the program died; guarded by mu
}

var errDied = errors.New("the program was killed")

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := read(&r.Body)
	if err != nil {
		return nil, err
	}
	if err := pause(r.Context(), l.latency(r, body)); err != nil {
		return nil, err
	}
	if l.died() {
		return nil, errDied
	}
	call := l.authority.call(l.program, r, body)
	resp, err := l.next.RoundTrip(r)
	answer := []byte(nil)
	if err == nil {
		if answer, err = read(&resp.Body); err != nil {
			return nil, err
		}
	}
	call.answered(resp, answer)
	if err == nil && resp.StatusCode < 300 && !calls.Reads(calls.Operation(r, body)) && l.falls() {
		return nil, errDied
	}
	return resp, err
}

// read takes a body and puts a copy in its place.
func read(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(*body)
	err = errors.Join(err, (*body).Close())
	*body = io.NopCloser(bytes.NewReader(b))
	return b, err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// falls counts an effect and reports whether the program dies of it.
func (l *line) falls() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left, condemned := l.deaths[l.program]
	if !condemned {
		return false
	}
	if left--; left > 0 {
		l.deaths[l.program] = left
		return false
	}
	delete(l.deaths, l.program)
	l.over = true
	l.killed++
	l.kill()
	return true
}

func (l *line) died() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// The time that a call takes on its way.
const (
	fastest = 2 * time.Millisecond
	spread  = 30 * time.Millisecond
)

// latency follows from what is called and when, not from who came first: calls
// that are made at the same moment must not exchange theirs.
func (l *line) latency(r *http.Request, body []byte) time.Duration {
	key, now := l.seed^calls.Key(l.program, r, body), time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, Call{now, l.program, fmt.Sprintf("%s %x", calls.Operation(r, body), key)})
	return fastest + time.Duration(calls.Mix(key^calls.Mix(uint64(now.UnixNano())))%uint64(spread))
}
