//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"errors"
	"os"
	"syscall"
)

// lockTemporary locks a file or folder of a name that only temporaries have, without waiting. The lock ends with the
// process.
func lockTemporary(path string) (*os.File, lockState) {
	const flags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
	f, err := os.OpenFile(path, os.O_RDWR|flags, 0)
	if errors.Is(err, syscall.EISDIR) {
		f, err = os.OpenFile(path, os.O_RDONLY|flags, 0)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, lockTaken
	case err != nil:
		return nil, unlockable
	}
	err = TryLock(f)
	switch {
	case errors.Is(err, ErrLocked) || err == nil && !sameEntry(path, f):
		f.Close()
		return nil, lockTaken
	case err != nil:
		f.Close()
		return nil, unlockable
	}
	return f, locked
}
