package postgresql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

// Fenced is how a server was kept from writing.
type Fenced struct {
	How  string // "was down", "stopped in order", "stopped at once", "killed"
	Took time.Duration
}

const (
	// fenceLeast is the shortest limit of a fence.
	fenceLeast = time.Second
	// killPause lies between two looks at processes that were killed.
	killPause = 10 * time.Millisecond
)

// Fence takes the writes away from the server on this host within a limit of at
// least a second, whatever state it is in. Half of the limit is for ending its
// sessions and stopping it, in order or at once; then it is killed, for which
// nothing has to be started on a host that may have no memory left.
//
// A nil error means that no process of the server is there: a session may make
// itself read-write again, and a hung server may wake up, so nothing less
// counts (R17). It asks for no lease and no record: what decided is the caller's
// own clock.
func (l Local) Fence(ctx context.Context, settings map[string]string, limit time.Duration) (Fenced, error) {
	s, err := ParseSettings(settings)
	if err != nil {
		return Fenced{}, err
	}
	if limit < fenceLeast {
		return Fenced{}, fmt.Errorf("fencing the server: a limit of %s is too short, want at least %s", limit, fenceLeast)
	}
	start := l.Clock.Now()
	took := func() time.Duration { return l.Clock.Now().Sub(start) }
	if pids, err := serverProcesses(l.Root + s.Data); err == nil && len(pids) == 0 {
		return Fenced{How: "was down", Took: took()}, nil
	}
	how, stopErr := l.stop(ctx, s, limit/2)
	pids, err := serverProcesses(l.Root + s.Data)
	if err == nil && len(pids) == 0 {
		if stopErr != nil || how == "not stopped" { // it was just about to end
			how = "stopped at once"
		}
		return Fenced{How: how, Took: took()}, nil
	}
	kill, cancel := clock.WithTimeout(ctx, l.Clock, limit-took())
	defer cancel()
	if err := l.kill(kill, l.Root+s.Data); err != nil {
		return Fenced{Took: took()}, fmt.Errorf("fencing the server: %w", errors.Join(err, stopErr))
	}
	return Fenced{How: "killed", Took: took()}, nil
}

// Fencing is the server on this host for an agent whose lease it ends with.
type Fencing struct{ Local }

// Fence is Local.Fence, of which an agent keeps only how it went.
func (f Fencing) Fence(ctx context.Context, settings map[string]string, limit time.Duration) (how string, err error) {
	done, err := f.Local.Fence(ctx, settings, limit)
	return done.How, err
}

// Kill ends the server at once, so that its log does not say that it was
// stopped in order.
func (l Local) Kill(ctx context.Context, settings map[string]string) error {
	s, err := ParseSettings(settings)
	if err != nil {
		return err
	}
	return l.kill(ctx, l.Root+s.Data)
}

// kill kills the processes of a server until there are none, or ctx ends.
func (l Local) kill(ctx context.Context, data string) error {
	for {
		pids, err := serverProcesses(data)
		if err == nil && len(pids) == 0 {
			return nil
		}
		if err := errors.Join(killProcesses(pids), err); err != nil {
			return fmt.Errorf("killing the server in %s: %w", data, err)
		}
		if err := l.Clock.Sleep(ctx, killPause); err != nil {
			return fmt.Errorf("killing the server in %s: processes %v are still there: %w", data, pids, err)
		}
	}
}

// stop asks the server to stop, and says how it did. An error leaves it to be
// killed.
func (l Local) stop(ctx context.Context, s Settings, limit time.Duration) (how string, err error) {
	script, err := fence.Render(s.parameters(fence, l.Group, l.Node, map[string]string{"limit_ms": strconv.FormatInt(limit.Milliseconds(), 10)}))
	if err != nil {
		return "", err
	}
	ctx, cancel := clock.WithTimeout(ctx, l.Clock, limit)
	defer cancel()
	output, _, err := l.Shell.Run(ctx, script)
	if err != nil {
		return "", err
	}
	report, err := document.ParseReport(output)
	return report["how"], err
}
