package noise

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// writeBefore writes a state of the format before, of which rows are out, and returns its path.
func writeBefore(t *testing.T, dir string, key Key, rows int) string {
	t.Helper()
	s, err := Open(dir, "ann", 100, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(map[string]any{"format": formatBefore, "key": hex.EncodeToString(key.secret()[:]),
		"export": s.Export(),
		"node":   "ann", "dim": 100, "noise_std": 2, "issued": rows}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state")
	write(t, path, append(text, '\n'))
	return path
}

// TestFormatBefore: a state of the format before goes on where it was, under the same name and links, and also after a
// crash on the way to the new format; programs of then cannot use it any more.
func TestFormatBefore(t *testing.T) {
	dir := exported(t, dense(t))
	key := SeededKey(5, "somebody")
	whole, err := newStream(dense(t), gaussian{"ann", key, 2}, 100, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, whole.Next, steps)
	for _, rows := range []int{0, 3, steps} {
		path := writeBefore(t, dir, key, rows)
		name := filepath.Join(t.TempDir(), "link")
		if os.Symlink(path, name) != nil {
			name = path
		}
		write(t, path+".upgrade", []byte("half a sta"))
		write(t, path+".lock", nil)
		for at := rows; at < min(rows+2, steps); at++ {
			d, err := OpenDurable(dir, "ann", 100, State{Path: name}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, d.Next, 1); d.Step() != at+1 || !same(got, want[at:at+1]) {
				t.Errorf("of %d rows: row %d is not the one of then", rows, d.Step()-1)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Lstat(name); err != nil || name != path && info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is none any more: %v", err)
		}
		if rows == steps {
			continue // nobody has opened it
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		for _, other := range []string{".upgrade", ".lock"} {
			if _, err := os.Lstat(path + other); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", other, err)
			}
		}
		if json.Valid(content(t, path)) {
			t.Error("programs of the format before could read it")
		}
	}
}

// TestFormatBeforeRefused: a state of the format before that is in use, or has another name, or is of another stream,
// stays as it is.
func TestFormatBeforeRefused(t *testing.T) {
	dir := exported(t, dense(t))
	key := SeededKey(5, "somebody")
	for name, tc := range map[string]struct {
		dim     int
		prepare func(path string) (*os.File, error)
		say     string
	}{
		"in use": {100, func(path string) (*os.File, error) {
			f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
			return f, errors.Join(err, lock(f))
		}, "in use"},
		"hard link":     {100, func(path string) (*os.File, error) { return nil, os.Link(path, path+"2") }, "2 names"},
		"another model": {99, func(string) (*os.File, error) { return nil, nil }, "another model"},
	} {
		path := writeBefore(t, dir, key, 3)
		before := string(content(t, path))
		f, err := tc.prepare(path)
		if err != nil || runtime.GOOS == "windows" {
			t.Logf("%s: %v", name, err)
			continue
		}
		if _, err := OpenDurable(dir, "ann", tc.dim, State{Path: path}, Options{}); !errors.Is(err, ErrState) ||
			!strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v", name, err)
		}
		if before != string(content(t, path)) {
			t.Errorf("%s: the state has changed", name)
		}
		if f != nil {
			f.Close()
		}
	}
}
