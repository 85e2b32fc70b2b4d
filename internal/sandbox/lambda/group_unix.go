//go:build unix

package lambda

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group of its own, so that what it
// starts dies with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
}
