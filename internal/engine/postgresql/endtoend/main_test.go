// Package endtoend takes a pair of real PostgreSQL servers over as a user would
// have it: declared by the real terraform with modules/postgresql-pair, watched
// by the real agents, moved by the real functions, on hosts of the sandbox.
//
// It runs with HADR_TEST_POSTGRESQL set and the built binaries in HADR_TEST_BIN:
// make test-postgresql.
package endtoend

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/postgresql/pgtest"
)

// binVariable names the directory of the built binaries.
const binVariable = "HADR_TEST_BIN"

// binaries are those that the tests run.
var binaries = []string{"terraform-provider-hadr", "hadr-agent", "hadr-host", "hadr"}

func TestMain(m *testing.M) {
	if os.Getenv(pgtest.Variable) != "" && os.Getenv(binVariable) != "" && os.Getuid() == 0 {
		code, err := asOwner()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
	code := m.Run()
	pgtest.CloseShared()
	os.Exit(code)
}

// asOwner runs this program again as a user that PostgreSQL servers run as: they
// refuse root, and in the sandbox all programs of all hosts are one user's.
func asOwner() (code int, err error) {
	dir, err := os.MkdirTemp("", "hadr")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// What root built is not for others to read.
	files := map[string]string{"test": self}
	for _, name := range binaries {
		files[name] = filepath.Join(os.Getenv(binVariable), name)
	}
	for name, from := range files {
		if err := copyProgram(filepath.Join(dir, name), from); err != nil {
			return 0, fmt.Errorf("%w: run make binaries", err)
		}
	}
	owner, cred, err := pgtest.Account()
	if err != nil {
		return 0, err
	}
	if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
		return 0, err
	}
	cmd := exec.Command(filepath.Join(dir, "test"), arguments(os.Args[1:])...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "USER="+owner, "LOGNAME="+owner, binVariable+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// arguments are those that an other user can obey: files of go test are root's.
func arguments(all []string) (kept []string) {
	for _, a := range all {
		if !strings.HasPrefix(a, "-test.testlogfile") && !strings.HasPrefix(a, "-test.outputdir") {
			kept = append(kept, a)
		}
	}
	return kept
}

func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
