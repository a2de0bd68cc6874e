package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mafalda/internal/files"
)

// TestPrivate: nobody else can read the file, under any name; it is there when it is whole, and gone when it is
// discarded.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	entries := func() (names []string) {
		t.Helper()
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if info, err := e.Info(); err != nil || e.Type().IsRegular() && runtime.GOOS != "windows" &&
				info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
			}
			names = append(names, e.Name())
		}
		return names
	}
	write := func(path string, replace bool) *files.Private {
		t.Helper()
		p, err := files.NewPrivate(path, replace)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte("12345")); err != nil {
			t.Fatal(err)
		}
		if names := entries(); names[0] == "a" && len(names) < 2 {
			t.Error("written in place")
		}
		return p
	}
	if err := write(path, false).Discard(); err != nil || len(entries()) != 0 {
		t.Errorf("discarded: %v, %v", err, entries())
	}
	p, late := write(path, false), write(path, false)
	if err := errors.Join(p.Finish(), p.Publish(), p.Discard(), late.Finish()); err != nil {
		t.Fatal(err)
	}
	if err := late.Publish(); !errors.Is(err, fs.ErrExist) || len(entries()) != 1 {
		t.Errorf("the second of two: %v, %v", err, entries())
	}
	if _, err := files.NewPrivate(path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if _, err := files.NewPrivate(dir, true); !errors.Is(err, files.ErrIrregular) {
		t.Errorf("over a folder: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(path, link) != nil {
		link = path
	}
	p = write(link, true)
	if err := errors.Join(p.Finish(), p.Publish()); err != nil || len(entries()) != 1 {
		t.Errorf("replaced: %v, %v", err, entries())
	}
	if info, err := os.Lstat(link); err != nil || link != path && info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
}
