//go:build unix

package files

import (
	"os"
	"syscall"
)

// Names returns how many hard links lead to a file; 1 where that is not known.
func Names(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
