//go:build unix

package noise

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mafalda/internal/files"
)

// TestKilled: a process that is killed with its state open has used its rows up; the next one goes on, and knows.
func TestKilled(t *testing.T) {
	dir, path, rows := begun(t, 1)
	p := startChild(t, dir, path, "")
	p.line()
	rows = append(rows, p.next())
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	d := reopen(t, dir, State{Path: path})
	row := make([]float64, 3)
	if d.Step() != 2 || !d.CutOff() {
		t.Errorf("row %d is next, cut off %v", d.Step(), d.CutOff())
	}
	if err := d.Next(row); err != nil || fmt.Sprint(row) == rows[0] || fmt.Sprint(row) == rows[1] {
		t.Errorf("%v: %v after %v", err, row, rows)
	}
}

// TestCrashShowsNoKey: neither a panic nor SIGQUIT prints a part of the key. Before, ten of its bytes were among the
// arguments.
func TestCrashShowsNoKey(t *testing.T) {
	dir, path, _ := begun(t, 0)
	shows := func(trace string) {
		t.Helper()
		key := keyIn(t, path)
		for i := range keySize - 2 { // three bytes in a row, however they are printed
			k := key[i : i+3]
			for _, text := range []string{fmt.Sprintf("0x%x, 0x%x, 0x%x", k[0], k[1], k[2]), fmt.Sprintf("%d, %d, %d",
				k[0], k[1], k[2]),
				fmt.Sprintf("%d %d %d", k[0], k[1], k[2]), hex.EncodeToString(key[i:min(i+8, keySize)])} {
				if len(text) >= 8 && strings.Contains(trace, text) {
					t.Errorf("the trace has byte %d of the key and those after it:\n%s", i, trace)
				}
			}
		}
	}
	shows(crash(t, dir, path, "panic"))
	for range 20 { // until the signal comes while the key is in use
		trace := crash(t, dir, path, "loop")
		shows(trace)
		if strings.Contains(trace, "normalsOf") {
			return
		}
	}
	t.Error("no trace comes from drawing")
}

// crash returns what a child prints that dies.
func crash(t *testing.T, dir, path, mode string) string {
	t.Helper()
	p := startChild(t, dir, path, mode)
	p.line()
	if _, err := p.in.Write([]byte("next\n")); err != nil {
		t.Fatal(err)
	}
	if mode == "loop" {
		time.Sleep(30 * time.Millisecond)
		if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
	}
	p.line()
	trace := ""
	if p.cmd.Wait() != nil {
		trace = p.errors.String()
	}
	if !strings.Contains(trace, "goroutine 1") {
		t.Fatalf("%s: no trace: %s", mode, trace)
	}
	return trace
}

// keyIn reads the key of a state.
func keyIn(t *testing.T, path string) []byte {
	t.Helper()
	text, ok := parseBlock(nil, content(t, path)[:blockSize])
	var head stateHead
	if err := json.Unmarshal(text, &head); err != nil || !ok {
		t.Fatal(err, ok)
	}
	key, err := hex.DecodeString(head.Key)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestPipeIsNoState: a state, or a counter, that is a pipe is refused, and not waited for.
func TestPipeIsNoState(t *testing.T) {
	dir, path, _ := begun(t, 0)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() {
		_, err := OpenDurable(dir, "ann", 3, State{Path: pipe}, Options{})
		done <- err
		_, err = OpenDurable(dir, "ann", 3, State{Path: path, Counter: pipe}, Options{})
		done <- err
	}()
	for range 2 {
		select {
		case err := <-done:
			if !errors.Is(err, files.ErrIrregular) {
				t.Error(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("still waiting")
		}
	}
}
