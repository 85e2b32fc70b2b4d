package hosts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

// Shell runs scripts on the host of a program that runs as a goroutine. It is
// the shell of agents and engines there.
type Shell struct{ Call *Call }

// Run runs a script and returns what it printed and its exit code. It returns an
// error if the script had not ended in time.
func (s Shell) Run(ctx context.Context, script string) (output string, code int, err error) {
	var out bytes.Buffer
	c := s.Call
	code = c.Host.Exec(ctx, &Call{
		Args: []string{"sh", "-s"}, Env: c.Env, Dir: c.Dir, Stdin: strings.NewReader(script),
		Stdout: &out, Stderr: io.MultiWriter(&out), Clock: c.Clock, Host: c.Host,
	})
	if ctx.Err() != nil {
		return out.String(), -1, fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	}
	return out.String(), code, nil
}
