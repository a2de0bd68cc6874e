//go:build unix

package export

import (
	"os"
	"path/filepath"
	"strings"
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

// What is no regular file, a pipe or a device, is not replaced.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(pipe, text("x"), true); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("writing: error %v", err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
	only(t, dir, "pipe")
}
