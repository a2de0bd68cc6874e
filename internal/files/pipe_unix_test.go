//go:build unix

package files_test

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mafalda/internal/files"
)

func TestOpenDoesNotWait(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{pipe, socket} {
		done := make(chan error, 1)
		go func() {
			_, _, err := files.Open(path)
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, files.ErrIrregular) {
				t.Errorf("%s: error %v, want ErrIrregular", path, err)
			}
		case <-time.After(2 * time.Minute):
			t.Errorf("opening %s waits", path)
		}
	}
}
