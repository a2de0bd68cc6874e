//go:build unix

package commands

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mafalda/cmd/internal/terminal"
	"mafalda/simulate"
)

// A named pipe without a writer is refused wherever a file is read, as opening it would wait for ever, and so is a device
// that never ends.
func TestPipesAreRefused(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe(simulate.MNISTFiles()[0])
	pipe("export/manifest.json")
	pipe("study/study.json")
	pipe("run/run.json")
	coins := fmt.Sprintf(`{"format": "mafalda canaries 1", "export": "", "node": "0", "dim": 3, "clip": 1, "key": "%064x", "first": 0,
		"steps": [[0], [1]]`, 1)
	coins += fmt.Sprintf(`, "sha256": "%x"}`, sha256.Sum256([]byte(coins)))
	if err := os.WriteFile(filepath.Join(dir, "coins.json"), []byte(coins), 0o666); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(dir, "a.key")
	if code, _, errs := mafalda("keys", "new", "--node", "a", "-o", private); code != 0 {
		t.Fatal(errs)
	}
	state := filepath.Join(dir, "state")
	for _, line := range []string{"optimize --graph cycle:3 --T 4 -k 2 -o DIR/real",
		"noise DIR/real --node 0 --dim 3 --noise-std 1 --new -o " + out + ".first --state " + state} {
		if code, _, errs := mafalda(strings.Fields(strings.ReplaceAll(line, "DIR", dir))...); code != 0 {
			t.Fatal(errs)
		}
	}
	for _, line := range []string{
		"optimize --trust secldp:secrets=FILE --graph florentine --T 4 -k 2",
		"optimize --trust secldp:coalitions=FILE --graph florentine --T 4 -k 2",
		"optimize --T 4 -k 2 --graph FILE.npy", "optimize --T 4 -k 2 --graph FILE.edges", "optimize --T 4 -k 2 --graph FILE.mtx",
		"optimize --T 4 -k 2 --gossip FILE.mtx", "optimize --T 4 -k 2 --gossip FILE.csv",
		"optimize --T 4 -k 2 --gossip FILE.npy", "optimize --T 4 --graph cycle:3 --schema FILE",
		"optimize --T 4 -k 2 --graph cycle:3 --learning-rates FILE", "optimize --T 4 -k 2 --graph cycle:3 --graph-changes sequence:FILE",
		"optimize --T 4 -k 2 --graph cycle:3 --checkpoint FILE,resume",
		"optimize --T 4 -k 2 --graph cycle:3 --start DIR/export", "graph FILE",
		"graph cycle:3 --gossip FILE.csv",
		"verify DIR/export", "plot DIR/export -o " + out, "report DIR/export -o " + out, "report DIR/study -o " + out,
		"account --graph cycle:3 --T 4 --attacker all --algorithm mf-d-sgd --export DIR/export",
		"audit --graph cycle:3 --T 4 --attacker 0 --algorithm mf-d-sgd --export DIR/export",
		"audit --export DIR/real --run DIR/run,coins=FILE", "audit --export DIR/real --run DIR/run,coins=DIR/coins.json",
		"smoothness --model linear --rate 1 --data FILE",
		"simulate --task housing:data=FILE", "simulate --task mnist:data=DIR", "simulate --methods DIR/export",
		"average --graph cycle:3 --values FILE", "average --protocol dpps --push-sum sequence:FILE",
		"noise DIR/export --node a --dim 3 --state FILE",
		"noise DIR/real --node 0 --dim 3 --noise-std 1 --state FILE -o " + out,
		"noise DIR/real --node 0 --dim 3 --noise-std 1 --state " + state + " --counter FILE -o " + out, "merge DIR/study", "status DIR/study",
		"keys show FILE", "keys run DIR/export --key FILE --peers " + private + " --dim 3 -o " + out + ".run",
		"keys run DIR/export --key " + private + " --peers FILE --dim 3 -o " + out + ".run",
	} {
		for name, file := range map[string]string{"pipe": "pipe", "/dev/zero": "zero"} {
			place := filepath.Join(dir, file)
			for _, ext := range []string{"", ".npy", ".edges", ".mtx", ".csv"} {
				if _, err := os.Lstat(place + ext); err == nil {
					continue
				}
				if file == "pipe" {
					pipe(file + ext)
				} else if err := os.Symlink("/dev/zero", place+ext); err != nil {
					t.Fatal(err)
				}
			}
			args := strings.Fields(strings.NewReplacer("FILE", place, "DIR", dir).Replace(line))
			done := make(chan string, 1)
			go func() {
				code, _, stderr := mafalda(args...)
				if code != terminal.ExitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "regular file") &&
					!strings.Contains(stderr, "others than its owner") {
					done <- fmt.Sprint(code, " ", stderr)
				}
				close(done)
			}()
			select {
			case wrong, is := <-done:
				if is {
					t.Errorf("%s, of a %s: %q", line, name, wrong)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s, of a %s, waits", line, name)
			}
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
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != terminal.ExitInterrupted || time.Since(sent) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(sent))
	}
}

// SIGTERM ends a command that reads a large file, too.
func TestSignalWhileReading(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "large") // of 64 GiB, none of them on the disk
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<36)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MAFALDA_ARGS=optimize --T 4 -k 1 --trust secldp --graph florentine --trust secrets="+large)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != terminal.ExitInterrupted {
		t.Errorf("it went on: %v", cmd.ProcessState)
	}
}

// SIGTERM ends a noise server that is about to begin, whatever it reads or makes again before: it went on until it served.
func TestSignalBeforeServing(t *testing.T) {
	t.Parallel()
	dir, work := noisy(t), t.TempDir()
	large, socket := filepath.Join(dir, "W.npy"), filepath.Join(work, "s") // of 64 GiB, none of them on the disk
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<36)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MAFALDA_ARGS=noise serve "+dir+" --node Medici --dim 5 --new --state "+
		filepath.Join(work, "state")+" --socket "+socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("it went on: %v", cmd.ProcessState)
	}
}
