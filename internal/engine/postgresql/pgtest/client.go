package pgtest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// attemptLimit is how long a client waits for one statement before it gives up
// and connects again.
const attemptLimit = 2 * time.Second

// Ack is a row whose commit was acknowledged to a client.
type Ack struct {
	ID int64
	At time.Time
}

// Client writes rows through an address, one after the other, and connects
// again when that fails. A row is never tried twice: only what was acknowledged
// is promised.
type Client struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu         sync.Mutex
	acked      []Ack
	next       int64
	unanswered int
}

// clients counts all clients, so that no two write the same rows.
var clients atomic.Int64

// NewClient starts a client that writes until the test ends.
func NewClient(tb testing.TB, address string) *Client {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	c := &Client{cancel: cancel, next: clients.Add(1) << 32}
	c.done.Go(func() { c.run(ctx, address) })
	tb.Cleanup(c.Stop)
	return c
}

// Stop ends the client and waits for it.
func (c *Client) Stop() {
	c.cancel()
	c.done.Wait()
}

// Acked are the rows that were acknowledged up to now.
func (c *Client) Acked() []Ack {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Ack(nil), c.acked...)
}

// Unanswered is how many rows were tried and not acknowledged: they may be
// there.
func (c *Client) Unanswered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unanswered
}

// Await waits until n further rows are acknowledged, and returns when the first
// of them was.
func (c *Client) Await(tb testing.TB, n int, limit time.Duration) time.Time {
	tb.Helper()
	have := len(c.Acked())
	Eventually(tb, limit, fmt.Sprintf("%d further rows are acknowledged", n), func() bool { return len(c.Acked()) >= have+n })
	return c.Acked()[have].At
}

func (c *Client) run(ctx context.Context, address string) {
	for ctx.Err() == nil {
		c.session(ctx, address)
		sleep(ctx, 50*time.Millisecond)
	}
}

func (c *Client) session(ctx context.Context, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return
	}
	connect, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	conn, err := pgx.Connect(connect, fmt.Sprintf("host=%s port=%s user=client dbname=postgres sslmode=disable", host, port))
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	for ctx.Err() == nil {
		if !c.write(ctx, conn) {
			return
		}
		sleep(ctx, 10*time.Millisecond)
	}
}

func (c *Client) write(ctx context.Context, conn *pgx.Conn) bool {
	c.mu.Lock()
	c.next++
	id := c.next
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	if _, err := conn.Exec(ctx, "INSERT INTO rows VALUES ($1)", id); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unanswered++
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked = append(c.acked, Ack{ID: id, At: time.Now()})
	return true
}

// Missing are the acknowledged rows that a host has not.
func (h *Host) Missing(tb testing.TB, acked []Ack) (missing []Ack) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 20*time.Second)
	defer cancel()
	c, err := h.Connect(ctx)
	must(tb, err)
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	rows, err := c.Query(ctx, "SELECT id FROM rows")
	must(tb, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	must(tb, err)
	has := map[int64]bool{}
	for _, id := range ids {
		has[id] = true
	}
	for _, a := range acked {
		if !has[a.ID] {
			missing = append(missing, a)
		}
	}
	return missing
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Eventually waits until something holds.
func Eventually(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(limit); !holds(); {
		if time.Now().After(end) {
			tb.Fatalf("not within %s: %s", limit, what)
		}
		sleep(tb.Context(), 100*time.Millisecond)
	}
}
