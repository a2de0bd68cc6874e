package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.mtx")
	if err := WriteFile(path, text("one"), false); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, text("two"), false); err == nil || err.Error() != path+": exists already" ||
		!errors.As(err, new(*ExistsError)) || !errors.Is(err, ErrExists) {
		t.Errorf("over a file: %v", err)
	}
	half := func(w io.Writer) error { return errors.Join(text("half")(w), io.ErrShortWrite) }
	if err := WriteFile(path, half, true); err == nil {
		t.Error("a failing writer succeeded")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "one" || len(names(t, filepath.Dir(path))) != 1 {
		t.Errorf("%q, %v, %v", b, err, names(t, filepath.Dir(path)))
	}
	if err := WriteFile(path, text("two"), true); err != nil {
		t.Error(err)
	}
	if err := WriteFile(filepath.Dir(path), text("x"), true); err == nil {
		t.Error("a folder was replaced by a file")
	}
}

// What cannot be brought to the disk takes no file's place.
func TestWriteFileThatFailsToFinish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, func(w io.Writer) error { return w.(*Private).file.Close() }, true)
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("a file that was closed: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "old" || err != nil {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// A link is not replaced, what it points to is; permissions stay.
func TestWriteFileThroughLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, text("new"), true); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
	only(t, dir, "a", "link")
}

// Of writers without force that race for one file, one wins.
func TestWriteFileRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = WriteFile(path, text(fmt.Sprint(i)), false) })
	}
	wg.Wait()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if won := string(b) == fmt.Sprint(i); won != (err == nil) || (!won && !errors.Is(err, ErrExists)) {
			t.Errorf("%q is in the file, writer %d: %v", b, i, err)
		}
	}
	only(t, filepath.Dir(path), "a")
}
