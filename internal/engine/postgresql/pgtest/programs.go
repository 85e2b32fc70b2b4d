// Package pgtest runs pairs of real PostgreSQL servers on loopback for tests:
// two hosts with their own disks, a network between them that can be cut, and
// an endpoint that clients use. Servers can be killed, frozen and slowed down.
//
// The hosts have no root: runuser and ip are small stand-ins on their PATH, and
// everything else that a document uses is the real program.
package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// binVariable names the directory of the server programs.
const binVariable = "HADR_POSTGRESQL_BIN"

var needed = []string{"initdb", "pg_ctl", "postgres", "pg_controldata", "pg_rewind", "pg_waldump", "pg_checksums", "psql"}

// Programs returns the directory of the server programs: from the environment,
// from PATH, or the newest of those that Debian installs side by side.
func Programs() (dir string, err error) {
	if dir := os.Getenv(binVariable); dir != "" {
		return dir, complete(dir)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	version := func(dir string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if p, err := exec.LookPath("pg_ctl"); err == nil {
		found = append([]string{filepath.Dir(p)}, found...)
	}
	for _, dir := range found {
		if complete(dir) == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server programs in %s, on PATH or in /usr/lib/postgresql/*/bin", binVariable)
}

func complete(dir string) error {
	for _, name := range needed {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("PostgreSQL server programs in %s: %w", dir, err)
		}
	}
	return nil
}

// Account is who runs the servers, as they refuse to run as root. cred is nil
// where that is the user of this process.
func Account() (name string, cred *syscall.Credential, err error) {
	if os.Getuid() != 0 {
		u, err := user.Current()
		if err != nil {
			return "", nil, err
		}
		return u.Username, nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err == nil && err2 == nil {
			return name, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return "", nil, fmt.Errorf("running as root, and there is neither a user postgres nor nobody to run the servers as")
}
