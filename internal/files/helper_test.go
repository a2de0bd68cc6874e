package files

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What the tests of this package share.

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// only fails the test unless the folder holds what is named and nothing else.
func only(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

// folderWith makes a folder with empty files of these names.
func folderWith(t testing.TB, path string, names ...string) {
	t.Helper()
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
