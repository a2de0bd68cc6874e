//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mafalda/simulate"
)

// A named pipe that nobody writes to is refused wherever a file is read: opening it would wait for ever.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe(simulate.MNISTFiles[0])
	for _, args := range [][]string{
		{"graph", pipe("g.edges")},
		{"optimize", "--T", "4", "-k", "2", "--graph", pipe("g.npy")},
		{"optimize", "--T", "4", "-k", "2", "--gossip-matrix", pipe("w.mtx")},
		{"optimize", "--T", "4", "-k", "2", "--gossip-matrix", pipe("w.csv")},
		{"optimize", "--T", "4", "--graph", "cycle:3", "--schema", pipe("schema")},
		{"simulate", "--task", "housing", "--data", pipe("housing")},
		{"simulate", "--task", "mnist", "--data", dir},
	} {
		done := make(chan string, 1)
		go func() {
			code, _, stderr := mafalda(args...)
			if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "pipe") {
				done <- stderr
			}
			close(done)
		}()
		select {
		case wrong, is := <-done:
			if is {
				t.Errorf("%v: %q", args, wrong)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%v waits", args)
			_ = os.Remove(args[len(args)-1])
		}
	}
}
