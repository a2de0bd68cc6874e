//go:build unix && !aix && !solaris

package noise

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock takes the lock of an open file, which the system gives back when the file is closed or the process ends, however
// it ends. The lock is on the file, whatever its names; errInUse if another process has it.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errInUse
	}
	return err
}

// noFollow makes opening fail on a symbolic link.
const noFollow = syscall.O_NOFOLLOW
