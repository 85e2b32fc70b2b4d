package pgtest

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER
// (https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html).
const prSetChildSubreaper = 36

const reapPause = 50 * time.Millisecond

// reap makes servers that have ended disappear until stop is closed. pg_ctl
// leaves them without a parent, and in a container the first process often
// collects no orphans: a dead server would count as running for ever.
func reap(stop <-chan struct{}) error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("becoming the parent of orphans: %w", errno)
	}
	go func() {
		t := time.NewTicker(reapPause)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				collect(os.Getpid())
			}
		}
	}()
	return nil
}

// collect waits for servers that have ended. What the test itself starts is
// none: those are waited for by who started them.
func collect(self int) {
	for _, pid := range children(self) {
		if stat(pid) != "Z" {
			continue
		}
		if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(comm) == "postgres\n" {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}
