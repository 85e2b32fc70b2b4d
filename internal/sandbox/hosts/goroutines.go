package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// goroutines is the in-process executor.
type goroutines struct{ h *Hosts }

func (*goroutines) prepare(*machine) error { return nil }

func (*goroutines) slaughter(*machine) {}

func (*goroutines) freeze(*machine, bool) {}

// ErrTerminated is why the context of a program ends that was asked to end, as
// by SIGTERM. One that is killed has no time for anything.
var ErrTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// program finds a program by its name.
func (g *goroutines) program(name string) CommandFunc {
	name = filepath.Base(name)
	if f := g.h.opt.Commands[name]; f != nil {
		return f
	}
	if f := programs[name]; f != nil {
		return f
	}
	if f := tools[name]; f != nil {
		return f
	}
	if name == "sh" {
		return g.shell
	}
	return nil
}

func (g *goroutines) spawn(m *machine, name string, args, env []string) (*process, error) {
	f := g.program(name)
	if f == nil {
		return nil, fmt.Errorf("no program %s on this machine", name)
	}
	return g.launch(m, name, func(ctx context.Context, b *body) int {
		return f(ctx, &Call{
			Args: append([]string{name}, args...), Env: append(m.env(), env...), Dir: m.root,
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Clock: b.clock, Host: b,
		})
	}), nil
}

// launch runs f as a process of a machine.
func (g *goroutines) launch(m *machine, name string, f func(context.Context, *body) int) *process {
	ctx, cancel := context.WithCancelCause(m.power)
	b := newBody(ctx, m)
	kill := func() { cancel(nil); b.die() }
	p := &process{name: name, kill: kill, term: func() { cancel(ErrTerminated) }, freeze: b.gate.freeze, done: make(chan struct{})}
	m.background(func() {
		defer close(p.done)
		defer kill()
		p.code = f(ctx, b)
	})
	return p
}

func (g *goroutines) run(ctx context.Context, _ *machine, c *Call) int {
	f := g.program(c.Args[0])
	if f == nil {
		fmt.Fprintf(c.Stderr, "%s: not found\n", c.Args[0])
		return 127
	}
	return f(ctx, c)
}

func (g *goroutines) script(ctx context.Context, m *machine, c world.Command) (world.CommandResult, error) {
	r := world.CommandResult{Code: -1, Started: g.h.world.Clock.Now()}
	var out, errs lockedBuffer
	env := m.env()
	for k, v := range c.Env {
		env = append(env, k+"="+v)
	}
	p := g.launch(m, "sh", func(ctx context.Context, b *body) int {
		return g.shell(ctx, &Call{
			Args: []string{"sh", "-c", c.Script}, Env: env, Dir: m.root, Parent: c.ID,
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Clock: b.clock, Host: b,
		})
	})
	m.track(p)
	timedOut := make(chan struct{})
	if c.Timeout > 0 {
		t := g.h.world.Clock.AfterFunc(c.Timeout, func() { close(timedOut); p.kill() })
		defer t.Stop()
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		<-p.done
	}
	r.Stdout, r.Stderr, r.Ended = out.String(), errs.String(), g.h.world.Clock.Now()
	select {
	case <-timedOut:
		r.TimedOut = true
		return r, nil
	default:
	}
	if ctx.Err() != nil || m.power.Err() != nil {
		return r, errors.New("the script was killed")
	}
	r.Code = p.code
	return r, nil
}

// lockedBuffer takes what several programs print at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
