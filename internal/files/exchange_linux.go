package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Exchange swaps two folders atomically, or by renames on file systems that cannot.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return exchangeByRenames(a, b)
	}
	return err
}
