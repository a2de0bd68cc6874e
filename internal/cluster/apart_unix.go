//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"syscall"
)

// detach makes a process one of a group of its own: a Ctrl-C at the terminal is for the program that waits for it, and
// comes to the process from there, once.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}
