package noise

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// begun returns an export and a state of its node ann for three parameters, of which count rows are out, as printed.
func begun(t *testing.T, count int) (dir, path string, rows []string) {
	t.Helper()
	dir, path = exported(t, dense(t)), filepath.Join(t.TempDir(), "state")
	d, err := OpenDurable(dir, "ann", 3, State{Path: path, New: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if count == 0 {
		return dir, path, nil
	}
	p := startChild(t, dir, path, "")
	p.line()
	for range count {
		rows = append(rows, p.next())
	}
	p.end()
	return dir, path, rows
}

func reopen(t *testing.T, dir string, at State) *Stream {
	t.Helper()
	d, err := OpenDurable(dir, "ann", 3, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.release() })
	return d
}

// write replaces the content of a file, keeping the file.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOneStateByEveryName: a link is followed and stays one, and a process that comes by another name finds the state
// in use, also when files beside it are removed. Before, the link was replaced and both handed out the same rows.
func TestOneStateByEveryName(t *testing.T) {
	dir, path, before := begun(t, 1)
	soft, hard := filepath.Join(t.TempDir(), "soft"), path+".hard"
	if err := errors.Join(os.Symlink(path, soft), os.Link(path, hard)); err != nil {
		t.Logf("no links here: %v", err)
		return
	}
	p := startChild(t, dir, soft, "")
	p.line()
	rows := append(before, p.next())
	_ = os.Remove(path + ".lock")
	_ = os.Remove(soft + ".lock")
	for _, name := range []string{path, soft, hard} {
		if got := startChild(t, dir, name, "").line(); runtime.GOOS != "windows" && !strings.Contains(got, "in use") {
			t.Errorf("%s while it is open: %s", name, got)
		}
	}
	p.end()
	for _, name := range []string{path, hard, soft} {
		p := startChild(t, dir, name, "")
		p.line()
		rows = append(rows, p.next())
		p.end()
	}
	for i, row := range rows {
		for _, earlier := range rows[:i] {
			if row == earlier {
				t.Errorf("row %d was handed out before", i)
			}
		}
	}
	if info, err := os.Lstat(soft); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v, %v", info.Mode(), err)
	}
	if d := reopen(t, dir, State{Path: path}); d.Step() != 5 {
		t.Errorf("row %d is next, want 5", d.Step())
	}
}

// TestStateChangesHands: whatever happens to the state of a running stream ends it, and no row comes out.
func TestStateChangesHands(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string, old []byte){
		"deleted":   func(t *testing.T, path string, _ []byte) { _ = os.Remove(path) },
		"moved":     func(t *testing.T, path string, _ []byte) { _ = os.Rename(path, path+"2") },
		"truncated": func(t *testing.T, path string, _ []byte) { write(t, path, nil) },
		"restored":  func(t *testing.T, path string, old []byte) { write(t, path, old) },
		"lengthened": func(t *testing.T, path string, _ []byte) {
			write(t, path, append(content(t, path), '\n'))
		},
		"replaced": func(t *testing.T, path string, _ []byte) {
			write(t, path+"2", content(t, path))
			_ = os.Rename(path+"2", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, _ := begun(t, 1)
			old := content(t, path)
			d := reopen(t, dir, State{Path: path})
			row := []float64{math.Pi, math.Pi, math.Pi}
			if err := d.Next(row); err != nil {
				t.Fatal(err)
			}
			row[0] = math.Pi
			change(t, path, old)
			for range 2 {
				if err := d.Next(row); !errors.Is(err, ErrState) || row[0] != math.Pi {
					t.Errorf("%v, and the row %v", err, row)
				}
			}
		})
	}
}

// TestCopiedState: an old copy that was put back while nobody looked hands out the same rows, unless there is a
// counter.
func TestCopiedState(t *testing.T) {
	dir, path, _ := begun(t, 0)
	counter := filepath.Join(t.TempDir(), "counter")
	at := State{Path: path, Counter: counter}
	draw := func(at State, want int) {
		t.Helper()
		d := reopen(t, dir, at)
		row := make([]float64, 3)
		if err := d.Next(row); err != nil || d.Step() != want+1 {
			t.Errorf("step %d, want %d: %v", d.Step(), want+1, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	refused := func(at State, say string) {
		t.Helper()
		d, err := OpenDurable(dir, "ann", 3, at, Options{})
		if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), say) {
			t.Errorf("%v, want %q", err, say)
		}
		if err == nil {
			_ = d.Close()
		}
	}
	draw(at, 0)
	draw(at, 1)
	backup, behind := content(t, path), content(t, counter)
	draw(at, 2)
	draw(at, 3)
	refused(State{Path: path}, "counter")
	write(t, path, backup)
	refused(at, "row 4 is the first that nobody has had")
	three, four := 3, 4
	refused(State{Path: path, Counter: counter, Row: &three}, "old copy")
	draw(State{Path: path, Counter: counter, Row: &four}, 4)
	latest := content(t, counter)
	write(t, counter, behind) // a crash after the state was written
	draw(at, 5)
	if string(content(t, counter)) == string(latest) {
		t.Error("the counter has not moved")
	}
	if err := os.Remove(counter); err != nil {
		t.Fatal(err)
	}
	refused(at, "no such file")
	write(t, counter, nil)
	draw(at, 6)
	_, other, _ := begun(t, 0)
	refused(State{Path: other, Counter: counter}, "")
	refused(State{Path: path, Counter: path}, "in use")
	shared := reopen(t, dir, at)
	write(t, counter, latest)
	if err := shared.Next(make([]float64, 3)); !errors.Is(err, ErrState) {
		t.Errorf("the counter has changed: %v", err)
	}
}

// TestNewState: a name with a slip does not start another stream, and a new one replaces nothing.
func TestNewState(t *testing.T) {
	dir, path, _ := begun(t, 2)
	if _, err := OpenDurable(dir, "ann", 3, State{Path: path + "x"}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a state that is not there: %v", err)
	}
	before := string(content(t, path))
	if _, err := OpenDurable(dir, "ann", 3, State{Path: path, New: true}, Options{}); !errors.Is(err, os.ErrExist) ||
		before != string(content(t, path)) {
		t.Errorf("a new state over another: %v", err)
	}
	one := 1
	for _, at := range []State{{Path: path, Row: &one}, {Path: path + "x", New: true, Row: &one}} {
		if _, err := OpenDurable(dir, "ann", 3, at, Options{}); !errors.Is(err, ErrRow) {
			t.Errorf("row 1 of %+v: %v", at, err)
		}
	}
	if _, err := os.Stat(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused start left a state: %v", err)
	}
	if _, err := OpenDurable(dir, "ann", 3, State{Path: filepath.Join(path, "x"), New: true}, Options{}); err == nil ||
		errors.Is(err, ErrState) {
		t.Errorf("in a folder that is none: %v", err)
	}
	two := 2
	if d := reopen(t, dir, State{Path: path, Row: &two}); d.Step() != 2 || d.CutOff() {
		t.Errorf("row %d is next, cut off %v", d.Step(), d.CutOff())
	}
}
