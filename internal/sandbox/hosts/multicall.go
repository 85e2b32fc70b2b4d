package hosts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// MultiCall runs the program of a machine that argv0 names, if the process
// belongs to a machine of the sandbox (HADR_ROOT). The main function of the
// binary that Options.Binary names calls it first:
//
//	if handled, code := hosts.MultiCall(os.Args[0], os.Args[1:]); handled {
//		os.Exit(code)
//	}
func MultiCall(argv0 string, args []string) (handled bool, exitCode int) {
	root := os.Getenv("HADR_ROOT")
	f := programs[filepath.Base(argv0)]
	if root == "" || f == nil {
		return false, 0
	}
	c := clock.System()
	if v := os.Getenv(clock.EnvVar); v != "" {
		scaled, err := clock.Parse(v)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return true, 1
		}
		c = scaled
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = root
	}
	return true, f(context.Background(), &Call{
		Args: append([]string{filepath.Base(argv0)}, args...), Env: os.Environ(), Dir: dir, Parent: strconv.Itoa(os.Getppid()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Clock: c, Host: &remote{root: root},
	})
}
