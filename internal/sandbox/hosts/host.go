package hosts

import (
	"context"
	"io"
	"net"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// CommandFunc is a program of a machine. It returns its exit code, and returns
// soon after ctx ends: that is how it is killed.
type CommandFunc func(ctx context.Context, c *Call) int

// Call is one run of a program.
type Call struct {
	Args   []string // Args[0] is the name it was called by
	Env    []string
	Dir    string
	Parent string // the shell that called, "" if none
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Clock  clock.Clock // the machine's
	Host   Host
}

// Getenv returns a variable of the call's environment.
func (c *Call) Getenv(name string) string {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(c.Env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// setenv adds variables to a copy of the environment.
func (c *Call) setenv(pairs ...string) []string {
	return append(append([]string(nil), c.Env...), pairs...)
}

// Host is the machine as its own programs see it.
type Host interface {
	// Root is the directory of the machine.
	Root() string
	// Dial connects to ip:port through the simulated network.
	Dial(ctx context.Context, ip string, port int) (net.Conn, error)
	// Listen opens a port, on the loopback address only if local is set.
	Listen(port int, local bool) (net.Listener, error)
	// Exec runs another program and returns its exit code; 127 if there is none.
	Exec(ctx context.Context, c *Call) int
	// Spawn starts a program in the background, as a process of the machine.
	Spawn(ctx context.Context, name string, args ...string) error
	// Kill ends all processes with a name at once and returns how many.
	Kill(ctx context.Context, name string) (int, error)
	// Unit is systemctl: it returns what to print and the exit code.
	Unit(ctx context.Context, verb, unit string) (string, int)
	// Address adds an address to the machine's interface or removes it.
	Address(ctx context.Context, ip string, add bool) error
}
