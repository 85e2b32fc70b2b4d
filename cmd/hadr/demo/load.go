// Package demo runs the main job in the embedded sandbox and judges it: a
// client that writes all the time, a failure, and an audit of every commit
// that was acknowledged.
package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Ack is a commit that a database acknowledged to a client.
type Ack struct {
	Client   string
	Seq      int
	Node     string // that acknowledged
	Position uint64 // in its log
	At       time.Time
	Path     string // route table that the client's packets took
}

// key identifies what the client wrote.
type key struct {
	client string
	seq    int
}

// Load is a set of clients that write as fast as they are acknowledged.
type Load struct {
	// Paths are the route tables through which the clients see the endpoint.
	Paths []string
	// Dial connects to the endpoint through a path.
	Dial func(ctx context.Context, path string) (net.Conn, error)
	// Clients is how many write through each path.
	Clients int
	// Pause lies between two commits of a client, on Clock.
	Pause time.Duration
	Clock clock.Clock
	// Stagger is how much later each client begins than the one before, so that
	// no two of them write at the same moment.
	Stagger time.Duration
	// Patience is how long a client waits for an answer before it connects
	// again, on Clock.
	Patience time.Duration

	mu    sync.Mutex
	acks  []Ack
	rests bool
}

// Run writes until ctx ends.
func (l *Load) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for p, path := range l.Paths {
		for i := range l.Clients {
			wg.Go(func() {
				if l.Clock.Sleep(ctx, time.Duration(p*l.Clients+i)*l.Stagger) == nil {
					l.client(ctx, fmt.Sprintf("%s-%d", path, i), path)
				}
			})
		}
	}
	wg.Wait()
}

// client writes one row after the other. A row whose answer did not come is
// given up: whether it was committed is unknown, and it was not promised.
func (l *Load) client(ctx context.Context, name, path string) {
	seq := 0
	for ctx.Err() == nil {
		if err := l.session(ctx, name, path, &seq); err != nil {
			_ = l.Clock.Sleep(ctx, 500*time.Millisecond) // ends with ctx
		}
	}
}

// session writes through one connection until it fails.
func (l *Load) session(ctx context.Context, name, path string, seq *int) error {
	dial, cancel := clock.WithTimeout(ctx, l.Clock, l.Patience)
	conn, err := l.Dial(dial, path)
	cancel()
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	r := bufio.NewReader(conn)
	for ctx.Err() == nil {
		if err := l.breathe(ctx); err != nil {
			return err
		}
		*seq++
		if err := conn.SetDeadline(time.Now().Add(clock.Real(l.Clock, l.Patience))); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(conn, "COMMIT %s %d\n", name, *seq); err != nil {
			return err
		}
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		node, position, err := parseAck(line)
		if err != nil {
			return err
		}
		l.add(Ack{Client: name, Seq: *seq, Node: node, Position: position, At: l.Clock.Now(), Path: path})
		if l.Pause > 0 {
			if err := l.Clock.Sleep(ctx, l.Pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rest keeps the clients from their next commit, or lets them go on: a database
// that nobody uses is no failed one.
func (l *Load) Rest(rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rests = rests
}

// breathe waits for the end of a rest.
func (l *Load) breathe(ctx context.Context) error {
	for {
		l.mu.Lock()
		rests := l.rests
		l.mu.Unlock()
		if !rests {
			return nil
		}
		if err := l.Clock.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// parseAck reads "ACK <node> <position>".
func parseAck(line string) (node string, position uint64, err error) {
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != "ACK" {
		return "", 0, errors.New(strings.TrimSpace(line))
	}
	position, err = strconv.ParseUint(f[2], 10, 64)
	return f[1], position, err
}

func (l *Load) add(a Ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acks = append(l.acks, a)
}

// Acks returns what was acknowledged so far.
func (l *Load) Acks() []Ack {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Ack(nil), l.acks...)
}

// Since counts the acknowledgements at or after a time.
func (l *Load) Since(at time.Time) int { return l.Between(at, l.Clock.Now().Add(time.Hour)) }

// Between counts the acknowledgements from a time on and before another.
func (l *Load) Between(from, to time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, a := range l.acks {
		if !a.At.Before(from) && a.At.Before(to) {
			n++
		}
	}
	return n
}

// First returns the first acknowledgement of another node than old.
func (l *Load) First(old string) (Ack, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.acks {
		if a.Node != old {
			return a, true
		}
	}
	return Ack{}, false
}
