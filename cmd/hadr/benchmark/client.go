package benchmark

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

const (
	// attempt lies between two tries of a client to write, and bounds each: it is
	// how exactly an outage is measured.
	attempt = 100 * time.Millisecond
	// answer bounds the wait for an acknowledgement on a connection.
	answer = time.Second
)

// client writes through the virtual address as it is seen through one route
// table, over a new connection each time. How long applications wait before
// they connect again is their own matter.
type client struct {
	path string
	dial func(ctx context.Context, path string) (net.Conn, error)
	seq  int
}

// writesTo returns when a node other than old acknowledged a write first.
func (c *client) writesTo(ctx context.Context, accept func(node string) bool) (time.Time, error) {
	for {
		began := time.Now()
		if node, err := c.write(ctx); err == nil && accept(node) {
			return time.Now(), nil
		}
		t := time.NewTimer(attempt - time.Since(began))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// write commits one row and returns the node that acknowledged it.
func (c *client) write(ctx context.Context) (node string, err error) {
	dialing, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	conn, err := c.dial(dialing, c.path)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answer)); err != nil {
		return "", err
	}
	c.seq++
	if _, err := fmt.Fprintf(conn, "COMMIT %s %d\n", c.path, c.seq); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", err
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != "ACK" {
		return "", fmt.Errorf("no acknowledgement: %s", strings.TrimSpace(line))
	}
	return f[1], nil
}
