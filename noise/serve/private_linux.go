package serve

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// private makes a socket one for its owner alone before it has a name.
func private(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
	if err != nil {
		return err
	}
	return failed
}
