//go:build unix

package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file, a pipe or a device, is not replaced.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(pipe, text("x"), true); !errors.Is(err, ErrExists) || errors.As(err, new(*ExistsError)) ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("writing: error %v", err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
	only(t, dir, "pipe")
}
