package lambda

import (
	"sync"
	"time"
)

// maxIdle is how many environments a version keeps warm.
const maxIdle = 4

// pool keeps the warm environments of a version.
type pool struct {
	mu      sync.Mutex
	retired bool
	idle    []*warm
}

// warm is an environment with what Lambda knows about it.
type warm struct {
	env     Environment
	log     *stream
	expires time.Time // of its credentials; zero: never
}

// take returns a warm environment whose credentials outlive the deadline; nil
// if there is none.
func (p *pool) take(deadline time.Time) *warm {
	p.mu.Lock()
	var w *warm
	if n := len(p.idle); n > 0 {
		w, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if w == nil || w.expires.IsZero() || deadline.Before(w.expires) {
		return w
	}
	w.env.Stop()
	return p.take(deadline)
}

// put takes an environment back, unless its version is gone.
func (p *pool) put(w *warm) {
	p.mu.Lock()
	keep := !p.retired && len(p.idle) < maxIdle
	if keep {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	if !keep {
		w.env.Stop()
	}
}

// retire stops the idle environments; busy ones end with their event.
func (p *pool) retire() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.retired = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.env.Stop()
	}
}
