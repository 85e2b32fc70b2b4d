package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// network stands between the programs and AWS. It gives every call its time on
// the way, kills programs after their effects, and notes what they read from
// the authority and write to it.
type network struct {
	seed uint64

	mu        sync.Mutex
	seen      map[uint64]int // how often a call was made
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
	return &network{seed: seed, seen: map[uint64]int{}, deaths: map[string]int{}}
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
	if err == nil && resp.StatusCode < 300 && !reads(operation(r, body)) && l.falls() {
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

// latency follows from what is called, not from who came first: calls that are
// made at the same moment must not exchange theirs.
func (l *line) latency(r *http.Request, body []byte) time.Duration {
	key := l.seed ^ digest([]byte(l.program)) ^ digest([]byte(r.URL.Path+r.Header.Get("X-Amz-Target")))
	if r.Header.Get("Content-Type") != "application/cbor" { // CBOR has no words; nobody asks CloudWatch two things at once
		key ^= digestWords(body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[key]++
	l.calls = append(l.calls, Call{time.Now(), l.program, fmt.Sprintf("%s %x", operation(r, body), key)})
	return fastest + time.Duration(mix(key+uint64(l.seen[key]))%uint64(spread))
}

// digest is FNV-1a, mixed.
func digest(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // a hash takes everything
	return mix(h.Sum64())
}

// digestWords is a digest of the words of a body in any order, because JSON
// objects have none. It leaves out identifiers that are random in every run:
// ULIDs and UUIDs.
func digestWords(body []byte) (sum uint64) {
	start := -1
	for i := 0; i <= len(body); i++ {
		if i < len(body) && inWord(body[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && !identifier(body[start:i]) {
			sum += digest(body[start:i])
		}
		start = -1
	}
	return sum
}

func inWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-'
}

func identifier(word []byte) bool {
	switch len(word) {
	case 26:
		return bytes.IndexFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' || r == '-' }) < 0
	case 36:
		return bytes.Count(word, []byte("-")) == 4
	}
	return false
}

// mix spreads a hash over all its bits, with the finalizer of SplitMix64
// (https://prng.di.unimi.it/splitmix64.c).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// operation names what a request asks for, in any of the protocols of AWS.
func operation(r *http.Request, body []byte) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:]
	}
	if _, name, ok := strings.Cut(r.URL.Path, "/operation/"); ok {
		return name
	}
	if rest, ok := bytes.CutPrefix(body, []byte("Action=")); ok {
		name, _, _ := bytes.Cut(rest, []byte("&"))
		return string(name)
	}
	return r.Method
}

func reads(operation string) bool {
	for _, verb := range []string{"Get", "GET", "Describe", "List", "Query", "Scan"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}
