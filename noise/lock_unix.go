//go:build unix && !aix && !solaris

package noise

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock of a file, which the system gives back when the process ends, however it ends.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
