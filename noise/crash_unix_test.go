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

// TestCrashShowsNoKey: neither a panic nor SIGQUIT prints a part of the key. Before, ten of its bytes were among the arguments.
func TestCrashShowsNoKey(t *testing.T) {
	for _, mode := range []string{"loop", "panic"} {
		dir, path, _ := begun(t, 0)
		p := startChild(t, dir, path, mode)
		p.line()
		if _, err := p.in.Write([]byte("next\n")); err != nil {
			t.Fatal(err)
		}
		if mode == "loop" {
			time.Sleep(50 * time.Millisecond)
			if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		}
		p.line()
		if p.cmd.Wait() == nil || !strings.Contains(p.errors.String(), "goroutine 1") {
			t.Fatalf("%s: no trace: %s", mode, p.errors.String())
		}
		trace := p.errors.String()
		if mode == "loop" && !strings.Contains(trace, "normalsOf") {
			t.Errorf("the trace does not come from drawing:\n%s", trace)
		}
		for i := range keySize - 2 { // three bytes in a row, however they are printed
			k := keyIn(t, path)[i : i+3]
			for _, text := range []string{fmt.Sprintf("0x%x, 0x%x, 0x%x", k[0], k[1], k[2]), fmt.Sprintf("%d, %d, %d", k[0], k[1], k[2]),
				fmt.Sprintf("%d %d %d", k[0], k[1], k[2])} {
				if strings.Contains(trace, text) {
					t.Errorf("%s: the trace has bytes %d to %d of the key:\n%s", mode, i, i+2, trace)
				}
			}
			if i+8 <= keySize && strings.Contains(trace, hex.EncodeToString(keyIn(t, path)[i:i+8])) {
				t.Errorf("%s: the trace has eight bytes of the key:\n%s", mode, trace)
			}
		}
	}
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
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
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
		case <-time.After(10 * time.Second):
			t.Fatal("still waiting")
		}
	}
}
