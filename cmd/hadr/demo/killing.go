package demo

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// killing kills a function right after one of its effects: what it did stays
// done, the answer is lost on its way, and nothing more of that run happens.
type killing struct {
	role  string // name of the function's role
	only  string // operation that counts, "" for all that change something
	after int    // number of the effect, from 1

	mu     sync.Mutex
	lives  map[string]context.CancelFunc // of the runs, by access key
	seen   int
	victim string // access key
	what   string // effect after which it was killed
}

var errKilled = errors.New("the function was killed")

// killAfter arms a killing for the n-th effect from now on.
func (s *Stage) killAfter(role string, n int) *killing {
	s.killing = &killing{role: role, after: n, lives: map[string]context.CancelFunc{}}
	s.Server.Intercept(s.killing.count)
	return s.killing
}

// count is an interceptor. It looks at what the function's role has changed.
func (k *killing) count(r *wire.Request, next func() (any, error)) (any, error) {
	out, err := next()
	if err != nil || reads(r.Operation) || k.only != "" && r.Operation != k.only || !strings.HasSuffix(r.Caller.RoleARN, "/"+k.role) {
		return out, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen++; k.seen == k.after {
		k.victim, k.what = r.Caller.AccessKey, r.Service+":"+r.Operation
		if kill := k.lives[k.victim]; kill != nil {
			kill()
		}
	}
	return out, err
}

func reads(operation string) bool {
	for _, verb := range []string{"Get", "Describe", "List", "Query", "Scan"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// enlist makes a run mortal. kill ends its context.
func (k *killing) enlist(key string, kill context.CancelFunc, next http.RoundTripper) http.RoundTripper {
	if k == nil {
		return next
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lives[key] = kill
	return mortal{k, key, next}
}

func (k *killing) killed(key string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.victim == key
}

// effect names the effect after which the function was killed, "" if it was not.
func (k *killing) effect() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.what
}

// mortal is the network of a run that may be dead.
type mortal struct {
	killing *killing
	key     string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.killing.killed(m.key) {
		return nil, errKilled
	}
	resp, err := m.next.RoundTrip(r)
	if m.killing.killed(m.key) {
		return nil, errKilled
	}
	return resp, err
}
