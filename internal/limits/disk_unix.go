//go:build linux || darwin || freebsd

package limits

import "golang.org/x/sys/unix"

// FreeBytes returns the room on the disk of a folder, if the system says.
func FreeBytes(dir string) (bytes float64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return float64(s.Bavail) * float64(s.Bsize), true
}
