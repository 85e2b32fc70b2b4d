package db2

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Child is a program that runs on, line by line.
type Child interface {
	// Send writes to its standard input.
	Send(text string) error
	// Lines are what it prints, closed at its end.
	Lines() <-chan string
	// Kill ends it with everything that it started.
	Kill()
}

// Resident is a command line processor that stays connected between probes, so
// that a probe costs no process and no connection. Whatever goes wrong with it,
// it is killed and started again with the next probe; one that never answers
// where a processor of its own does is given up for good.
type Resident struct {
	// Start starts a script as root.
	Start func(script string) (Child, error)
	Clock clock.Clock

	mu      sync.Mutex
	child   Child
	about   string // owner, database and node that the child was started for
	n       int    // of the last probe
	proven  bool   // it has answered once
	failed  bool   // the last one gave no answer
	useless bool
}

// firstAnswer is how long a processor may take for its first answer, with the
// connection.
const firstAnswer = 8 * time.Second

// probe runs one probe. It reports false if the processor can't be used: then
// another way is to be tried.
func (r *Resident) probe(ctx context.Context, s Settings, node string) (answered bool, err error) {
	if r == nil {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.useless || r.failed && !r.proven {
		return false, nil
	}
	asking, stop := ctx, func() {}
	if !r.proven { // one that keeps its output to itself must not cost a whole probe
		asking, stop = clock.WithTimeout(ctx, r.Clock, firstAnswer)
	}
	output, fresh, err := r.ask(asking, s, node)
	stop()
	if err != nil {
		r.kill()
		r.failed = true
		if ctx.Err() != nil { // it hung, and so would any other
			return true, fmt.Errorf("probing database %s: no answer in time: %w", s.Database, context.Cause(ctx))
		}
		return false, nil
	}
	r.proven, r.failed = true, false
	successes := beatReplies
	if fresh {
		successes += connectReplies
	}
	if err := verdict(s, node, output, -1, successes); err != nil {
		r.kill() // a connection that failed once is not trusted again
		if lostConnection(ParseReply(output)) && !fresh {
			return false, nil // somebody ended it, and says nothing of a new one
		}
		return true, err
	}
	return true, nil
}

// lostConnection reports whether a reply is that of a connection which is gone,
// such as after db2 force application all.
func lostConnection(r Reply) bool {
	return slices.ContainsFunc([]string{"SQL0900N", "SQL1024N", "SQL1224N", "SQL30081N", "SQL30108N"}, r.has)
}

// ask sends the statements of a probe and a last command that prints a word,
// also without a connection, and returns what came before that word
// (https://www.ibm.com/docs/en/db2/11.5?topic=commands-echo). It reports whether
// it connected anew.
func (r *Resident) ask(ctx context.Context, s Settings, node string) (output string, fresh bool, err error) {
	text := fmt.Sprintf(beat, node)
	about := strings.Join([]string{s.Owner, s.Database, node}, "/")
	if r.child != nil && r.about != about {
		r.kill()
	}
	if fresh = r.child == nil; fresh {
		child, err := r.Start("exec " + fmt.Sprintf(processor, s.Owner) + " 2>&1\n")
		if err != nil {
			return "", fresh, err
		}
		r.child, r.about = child, about
		text = fmt.Sprintf(connect, s.Database) + text
	}
	r.n++
	last := fmt.Sprintf("hadr-%d-done", r.n)
	if err := r.child.Send(text + "ECHO " + last + ";\n"); err != nil {
		return "", fresh, fmt.Errorf("writing to the command line processor: %w", err)
	}
	output, err = r.until(ctx, last)
	return output, fresh, err
}

// until returns what the processor prints before a line.
func (r *Resident) until(ctx context.Context, last string) (string, error) {
	var output strings.Builder
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case line, ok := <-r.child.Lines():
			switch {
			case !ok:
				return "", fmt.Errorf("the command line processor ended: %s", beginning(output.String()))
			case strings.TrimSpace(line) == last:
				return output.String(), nil
			}
			output.WriteString(line + "\n")
		}
	}
}

// compare takes what came of a probe by another way, after this one gave no
// answer.
func (r *Resident) compare(other error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failed && !r.proven && other == nil:
		r.useless = true
	default:
		r.failed = false // both fail: the reason is elsewhere
	}
}

func (r *Resident) kill() {
	if r.child != nil {
		r.child.Kill()
		r.child = nil
	}
}

// Close ends the processor and its connection. The next probe starts another.
func (r *Resident) Close() {
	if r == nil {
		return
	}
	if r.mu.TryLock() { // one that is at work ends by its own limit
		defer r.mu.Unlock()
		r.kill()
	}
}
