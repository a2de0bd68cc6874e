//go:build unix

package export

import (
	"os"
	"path/filepath"
	"syscall"
)

// isMountPoint reports whether the folder is on another file system than its parent, so that it cannot be renamed.
func isMountPoint(dir string) bool {
	device := func(path string) (uint64, bool) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, false
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return 0, false
		}
		return uint64(s.Dev), true
	}
	a, okA := device(dir)
	b, okB := device(filepath.Dir(dir))
	return okA && okB && a != b
}
