package postgresql

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// serverProcesses are the processes that run in a data directory under the name
// of the server, which changes into it
// (https://man7.org/linux/man-pages/man5/proc_pid_cwd.5.html). Orphans of a dead
// postmaster are among them: one that is busy does not notice, and could still
// commit. postmaster.pid and the tree below it would not lead to those, so that
// the directory is what counts, and reading it of another user's process takes
// CAP_SYS_PTRACE, of root, too.
//
// An error says that there may be more than those returned.
func serverProcesses(data string) (found []int, err error) {
	data, err = filepath.EvalSymlinks(data)
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	owner, err := ownerOf(data)
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	var hidden error
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		process := filepath.Join("/proc", e.Name())
		if name, _ := os.ReadFile(filepath.Join(process, "comm")); string(name) != "postgres\n" {
			continue
		}
		cwd, err := os.Readlink(filepath.Join(process, "cwd"))
		switch {
		// A server refuses to start in a directory of another user's: that one is of
		// another cluster.
		case errors.Is(err, fs.ErrPermission) && userOf(process) == owner:
			hidden = fmt.Errorf("looking for the server: %w: run as root, with CAP_SYS_PTRACE (CapabilityBoundingSet of hadr-agent.service)", err)
		case err == nil && cwd == data: // one that has ended meanwhile, or a zombie, has no directory
			found = append(found, pid)
		}
	}
	return found, hidden
}

// ownerOf is the user who owns a file.
func ownerOf(file string) (uid string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no owner", file)
	}
	return strconv.FormatUint(uint64(stat.Uid), 10), nil
}

// userOf is the user as whom a process runs, "" if it has ended. The directory of
// a process may belong to root whatever it runs as, so that its status counts
// (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html).
func userOf(process string) (uid string) {
	status, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 5 && f[0] == "Uid:" {
			return f[2] // the effective one
		}
	}
	return ""
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
