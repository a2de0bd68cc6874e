package export

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/internal/files"
)

// folderWith writes empty files with these names to a new folder.
func folderWith(t *testing.T, path string, names ...string) {
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

// What killed runs have left is removed by the next export that is written there. What holds anything that is not of
// an export stays.
func TestDeadTemporariesAreRemoved(t *testing.T) {
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	one, err := files.NewFolder(t.TempDir(), removeUnfinished)
	if err != nil {
		t.Fatal(err)
	}
	one.Forget()
	mine := filepath.Base(one.Path())
	mine = mine[:strings.LastIndex(mine, "-")+1]
	dead := []string{mine + "BBBBBBBBBBBB", mine + "CCCCCCCCCCCC", mine + "DDDDDDDDDDDD"}
	kept := []string{mine + "EEEEEEEEEEEE", mine + "FFFFFFFFFFFF"}
	folderWith(t, in(dead[0]))
	folderWith(t, in(dead[1]), "C.npy", "nodes.csv")
	if err := os.Rename(export(t), in(dead[2])); err != nil { // an earlier export that was being removed
		t.Fatal(err)
	}
	folderWith(t, in(kept[0]), "C.npy", "thesis.tex")
	if err := os.Rename(export(t), in(kept[1])); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in(kept[1]), "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(in("out"), manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	only(t, base, append(kept, "out")...)
	only(t, in(kept[0]), "C.npy", "thesis.tex")
}

// A program that a signal ends leaves nothing, and an export in the place it had.
func TestRemoveTemporaries(t *testing.T) {
	const place = "MAFALDA_TEST_EXPORT"
	if dir := os.Getenv(place); dir != "" { // the program
		all := append(slices.Clone(goodFiles), File{"nodes.csv", func(io.Writer) error {
			files.RemoveTemporaries()
			os.Exit(7)
			return nil
		}})
		t.Fatal(WriteDir(dir, manifest(2), all, WriteOptions{Force: true}))
	}
	for name, force := range map[string]bool{"new": false, "over an earlier one": true} {
		base := t.TempDir()
		dir := filepath.Join(base, "out")
		if force {
			if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		program := exec.Command(os.Args[0], "-test.run=^TestRemoveTemporaries$")
		program.Env = append(os.Environ(), place+"="+dir)
		var exit *exec.ExitError
		if out, err := program.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if force {
			only(t, base, "out")
			intact(t, dir)
		} else {
			only(t, base)
		}
	}
}
