//go:build unix && !aix && !solaris

package study

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nonblock opens pipes without waiting.
const nonblock = unix.O_NONBLOCK

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return errBusy
	}
	return err
}
