//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import "os"

// lockTemporary does nothing: what killed runs leave stays where it is.
func lockTemporary(string) (*os.File, lockState) { return nil, unlockable }
