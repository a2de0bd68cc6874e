//go:build darwin || freebsd

package limits

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// totalMemory returns the size of the machine's memory, in bytes.
func totalMemory() int64 {
	name := "hw.memsize"
	if runtime.GOOS == "freebsd" {
		name = "hw.physmem"
	}
	bytes, err := unix.SysctlUint64(name)
	if err != nil {
		return 0
	}
	return int64(bytes)
}
