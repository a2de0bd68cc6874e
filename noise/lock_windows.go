package noise

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the lock of an open file, which the system gives back when the file is closed or the process ends, however
// it ends; errInUse if another process has it. It is on a byte far behind the end, so that the file itself can be read.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0,
		&windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errInUse
	}
	return err
}

// noFollow would make opening fail on a symbolic link, where systems have that.
const noFollow = 0
