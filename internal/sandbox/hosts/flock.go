package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// lockFile is a lock on a file: flock(2).
type lockFile struct {
	path string
	f    *os.File
}

// try takes the lock if nobody else has it.
func (l *lockFile) try() (bool, error) {
	if l.f == nil {
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return false, err
		}
		l.f = f
	}
	err := syscall.Flock(int(l.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func (l *lockFile) unlock() {
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}

// flockCall is a parsed command line of flock:
// https://man7.org/linux/man-pages/man1/flock.1.html
type flockCall struct {
	nonblock bool
	timeout  time.Duration // < 0: for ever
	conflict int           // exit code if the lock is taken
	unlock   bool
	target   string
	command  []string
}

func parseFlock(args []string) (flockCall, error) {
	q := flockCall{timeout: -1, conflict: 1}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flag := args[0]
		args = args[1:]
		switch flag {
		case "-n", "--nonblock", "--nb":
			q.nonblock = true
		case "-u", "--unlock":
			q.unlock = true
		case "-x", "-e", "--exclusive", "-o", "--close":
		case "-w", "--timeout", "-E", "--conflict-exit-code":
			if len(args) == 0 {
				return q, fmt.Errorf("flock: %s needs a value", flag)
			}
			n, err := strconv.ParseFloat(args[0], 64)
			if err != nil {
				return q, fmt.Errorf("flock: %s %q: not a number", flag, args[0])
			}
			args = args[1:]
			if flag == "-w" || flag == "--timeout" {
				q.timeout = time.Duration(n * float64(time.Second))
			} else {
				q.conflict = int(n)
			}
		default:
			return q, fmt.Errorf("flock: unknown option %s", flag)
		}
	}
	if len(args) == 0 {
		return q, errors.New("flock: requires a file descriptor, file or directory")
	}
	q.target, q.command = args[0], args[1:]
	if len(q.command) == 2 && q.command[0] == "-c" {
		q.command = []string{"sh", "-c", q.command[1]}
	}
	return q, nil
}

// wait takes the lock as the options ask, and returns the exit code.
func (q flockCall) wait(ctx context.Context, c clock.Clock, l *lockFile) int {
	const poll = 50 * time.Millisecond
	start := c.Now()
	for {
		ok, err := l.try()
		switch {
		case err != nil:
			return 66 // EX_NOINPUT, as flock ends when it can't open the file
		case ok:
			return 0
		case q.nonblock || q.timeout >= 0 && c.Now().Sub(start) >= q.timeout || c.Sleep(ctx, poll) != nil:
			return q.conflict
		}
	}
}

// flock is the program. A descriptor was inherited from the shell.
func flock(ctx context.Context, c *Call) int {
	q, err := parseFlock(c.Args[1:])
	if err != nil {
		fmt.Fprintln(c.Stderr, err)
		return 64
	}
	if len(q.command) == 0 {
		fd, err := strconv.Atoi(q.target)
		if err != nil {
			fmt.Fprintf(c.Stderr, "flock: bad file descriptor: '%s'\n", q.target)
			return 64
		}
		// The lock belongs to the open file, which the shell keeps.
		l := &lockFile{f: os.NewFile(uintptr(fd), "inherited")}
		if q.unlock {
			return exitCode(syscall.Flock(fd, syscall.LOCK_UN))
		}
		return q.wait(ctx, c.Clock, l)
	}
	l := &lockFile{path: inDir(c.Dir, q.target)}
	if code := q.wait(ctx, c.Clock, l); code != 0 {
		return code
	}
	defer l.unlock()
	next := *c
	next.Args = q.command
	return c.Host.Exec(ctx, &next)
}

func exitCode(err error) int {
	if err != nil {
		return 1
	}
	return 0
}
