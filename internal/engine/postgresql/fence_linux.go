package postgresql

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// serverProcesses are the processes that run in a data directory under the name
// of the server, which changes into it
// (https://man7.org/linux/man-pages/man5/proc_pid_cwd.5.html). Orphans of a dead
// postmaster are among them: one that is busy does not notice, and could still
// commit.
func serverProcesses(data string) ([]int, error) {
	data, err := filepath.EvalSymlinks(data)
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if name, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "comm")); string(name) != "postgres\n" {
			continue
		}
		cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("looking for the server: %w: run as root", err)
		case err == nil && cwd == data: // one that has ended meanwhile, or a zombie, has no directory
			found = append(found, pid)
		}
	}
	return found, nil
}

// killProcesses kills them without a chance to finish anything.
func killProcesses(pids []int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("killing process %d: %w", pid, err)
		}
	}
	return nil
}
