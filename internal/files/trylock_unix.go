//go:build unix && !aix && !solaris

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock of an open file without waiting, whatever the file's names. The system gives it back when the
// file is closed or the process ends, however it ends. It fails with ErrLocked if another process holds the lock; other
// errors say that the file system has no locks.
func TryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}
