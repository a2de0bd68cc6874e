package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mafalda/internal/files"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Logf("no links here: %v", err)
		link = path
	}
	for name, tc := range map[string]struct {
		path  string
		limit int64
		want  error
	}{
		"just fits":   {path, 5, nil},
		"linked":      {link, 5, nil},
		"larger":      {path, 4, files.ErrTooLarge},
		"a folder":    {dir, 5, files.ErrIrregular},
		"not there":   {filepath.Join(dir, "b"), 5, os.ErrNotExist},
		"a device":    {os.DevNull, 5, files.ErrIrregular},
		"not a place": {filepath.Join(path, "c"), 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := files.Read(tc.path, tc.limit)
			switch {
			case name == "not a place":
				if err == nil {
					t.Error("a file inside a file was read")
				}
			case !errors.Is(err, tc.want):
				t.Errorf("error %v, want %v", err, tc.want)
			case err == nil && string(content) != "12345":
				t.Errorf("read %q", content)
			}
		})
	}
}

func TestSame(t *testing.T) {
	dir := t.TempDir()
	one, link := filepath.Join(dir, "one"), filepath.Join(dir, "link")
	if err := os.WriteFile(one, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(one, link) == nil // where there are links
	for name, tc := range map[string]struct {
		a, b string
		want bool
	}{
		"itself":        {one, filepath.Join(dir, ".", "one"), true},
		"another":       {one, dir, false},
		"a link":        {one, link, linked},
		"missing":       {filepath.Join(dir, "x"), filepath.Join(dir, "y", "..", "x"), true},
		"other missing": {filepath.Join(dir, "x"), filepath.Join(dir, "y"), false},
	} {
		if got := files.Same(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
