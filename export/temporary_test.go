package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
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

// What killed runs have left is removed by the next one that writes there; they stayed for ever. What a living
// process holds, is of another host or another version, or holds anything that is not of an export, stays.
func TestDeadTemporariesAreRemoved(t *testing.T) {
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	mine := ".mafalda-" + hostTag() + "-"
	dead := []string{mine + "AAAAAAAAAAAA", mine + "BBBBBBBBBBBB", mine + "CCCCCCCCCCCC", mine + "DDDDDDDDDDDD"}
	kept := []string{mine + "EEEEEEEEEEEE", mine + "FFFFFFFFFFFF", mine + "GGGGGGGGGGGG", mine + "HHHHHHHHHHHH.old",
		mine + "short",
		".mafalda-00000000-AAAAAAAAAAAA", ".mafalda-AAAAAAAAAAAA", "thesis.tex"}
	if err := os.WriteFile(in(dead[0]), []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	folderWith(t, in(dead[1]))
	folderWith(t, in(dead[2]), "C.npy", "nodes.csv")
	if err := os.Rename(export(t), in(dead[3])); err != nil { // an earlier export that was being removed
		t.Fatal(err)
	}
	folderWith(t, in(kept[0]), "C.npy", "thesis.tex")
	if err := os.Rename(export(t), in(kept[1])); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in(kept[1]), "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, in(kept[2])); err != nil {
		t.Logf("no links here: %v", err)
		kept = slices.Delete(kept, 2, 3)
	}
	for _, name := range kept[len(kept)-5:] {
		if err := os.WriteFile(in(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	living, err := newTemporary(filepath.Join(base), func(name string) error { return os.WriteFile(name, nil, 0o600) })
	if err != nil {
		t.Fatal(err)
	}
	defer living.forget()
	if living.lock == nil { // a system without locks: nothing is removed
		kept = append(kept, dead...)
	}
	live.Lock()
	clear(live.swept) // as in a new process
	live.Unlock()
	if err := WriteFile(in("a"), text("x"), false); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(kept), "a", filepath.Base(living.path))
	slices.Sort(want)
	only(t, base, want...)
}

// A program that a signal ends leaves nothing, and an export in the place it had.
func TestRemoveTemporaries(t *testing.T) {
	for name, force := range map[string]bool{"new": false, "over an earlier one": true} {
		base := t.TempDir()
		dir := filepath.Join(base, "out")
		if force {
			if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		files := append(slices.Clone(goodFiles), File{"nodes.csv", func(io.Writer) error {
			live.Lock()
			removeLive() // as RemoveTemporaries, but others go on
			live.Unlock()
			return errors.New("too late")
		}})
		if err := WriteDir(dir, manifest(2), files, WriteOptions{Force: force}); err == nil {
			t.Errorf("%s: written", name)
		}
		if force {
			only(t, base, "out")
			intact(t, dir)
		} else {
			only(t, base)
		}
	}
}
