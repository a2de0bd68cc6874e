package export

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTargetsRefused(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, "foreign")
	if err := os.Mkdir(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mixed := filepath.Join(base, "mixed")
	if err := WriteDir(mixed, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mixed, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(base, "folder") // by the name of a file
	if err := WriteDir(folder, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(folder, "C.npy")), os.Mkdir(filepath.Join(folder, "C.npy"), 0o777)); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(base, "nowhere")
	if err := os.Symlink("missing", nowhere); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for dir, say := range map[string]string{
		file:                       "not a folder",
		filepath.Join(file, "out"): "not a directory",
		foreign:                    "not an export",
		mixed:                      "notes.txt",
		folder:                     "C.npy, which is not of an export",
		nowhere:                    "link to nowhere",
		".":                        "current folder",
		"..":                       "current folder",
	} {
		for _, err := range []error{CheckTarget(dir, WriteOptions{Force: true}),
			WriteDir(dir, manifest(2), goodFiles, WriteOptions{Force: true})} {
			if err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: error %v, want one with %q", dir, err, say)
			}
		}
	}
	if got := names(t, mixed); !slices.Contains(got, "notes.txt") {
		t.Error("somebody's notes are gone")
	}
}

// A link to an export stays a link.
func TestTargetThroughLink(t *testing.T) {
	dir := export(t)
	link := filepath.Join(filepath.Dir(dir), "zlink")
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	changed := manifest(2)
	changed.Loss = 7
	if err := WriteDir(link, changed, goodFiles, WriteOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if e := intact(t, dir); e.Manifest.Loss != 7 {
		t.Error("the export was not replaced")
	}
	only(t, filepath.Dir(dir), "out", "zlink")
}

// The current folder is refused also where a link leads to it.
func TestCurrentFolderThroughLink(t *testing.T) {
	dir := export(t)
	link := filepath.Join(filepath.Dir(dir), "zlink")
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link) // sets PWD, which os.Getwd believes
	for _, d := range []string{".", link, dir, filepath.Dir(dir)} {
		if err := CheckTarget(d, WriteOptions{Force: true}); !errors.Is(err, ErrTarget) {
			t.Errorf("%s: error %v", d, err)
		}
	}
}
