//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mafalda/internal/cli"
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
	pipe(simulate.MNISTFiles()[0])
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
			if code != cli.ExitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "pipe") {
				done <- stderr
			}
			close(done)
		}()
		select {
		case wrong, is := <-done:
			if is {
				t.Errorf("%v: %q", args, wrong)
			}
		case <-time.After(2 * time.Minute):
			t.Errorf("%v waits", args)
			_ = os.Remove(args[len(args)-1])
		}
	}
}

// A program that was started with Ctrl-C ignored, as scripts start what runs in the background, ends when it is told to
// all the same: commands that have nothing to save went on.
func TestIgnoredSignal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `trap "" INT; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "MAFALDA_ARGS=graph barabasi:3e6,3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	sent := time.Now()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitInterrupted || time.Since(sent) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(sent))
	}
}
