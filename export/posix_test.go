//go:build unix

package export

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Permissions are the user's to choose.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := export(t)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "C.npy"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}
