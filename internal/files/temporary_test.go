package files

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// removeMarked removes a folder with nothing but a file named mark.
func removeMarked(path string) {
	os.Remove(filepath.Join(path, "mark"))
	os.Remove(path) // refuses one with more in it
}

// What killed runs have left is removed by the next one that writes there; it stayed for ever. What a living process
// holds, is of another host or another version, or is nobody's to remove, stays: so do folders, until one is made.
func TestDeadTemporariesAreRemoved(t *testing.T) {
	base := t.TempDir()
	in := func(name string) string { return filepath.Join(base, name) }
	mine := ".mafalda-" + hostTag() + "-"
	file, folder, empty := mine+"AAAAAAAAAAAA", mine+"BBBBBBBBBBBB", mine+"CCCCCCCCCCCC"
	kept := []string{mine + "EEEEEEEEEEEE", mine + "GGGGGGGGGGGG", mine + "HHHHHHHHHHHH.old", mine + "short",
		".mafalda-00000000-AAAAAAAAAAAA", ".mafalda-AAAAAAAAAAAA", "thesis.tex"}
	living, err := newTemporary(base, nil, func(name string) error { return os.WriteFile(name, nil, 0o600) })
	if err != nil {
		t.Fatal(err)
	}
	defer living.Forget()
	folderWith(t, in(folder), "mark")
	folderWith(t, in(empty))
	folderWith(t, in(kept[0]), "mark", "thesis.tex")
	if err := os.Symlink(base, in(kept[1])); err != nil {
		t.Logf("no links here: %v", err)
		kept = slices.Delete(kept, 1, 2)
	}
	for _, name := range append(kept[len(kept)-5:], file) {
		if err := os.WriteFile(in(name), []byte("half a file"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dead := []string{file}
	live.Lock()
	clear(live.swept) // as in a new process
	live.Unlock()
	if err := WriteFile(in("a"), text("x"), false); err != nil {
		t.Fatal(err)
	}
	there := func(left ...string) []string {
		if living.lock == nil { // a system without locks: nothing is removed
			left = append(left, dead...)
		}
		all := slices.Concat(kept, []string{"a", filepath.Base(living.path)}, left)
		slices.Sort(all)
		return all
	}
	only(t, base, there(folder, empty)...)
	made, err := NewFolder(base, removeMarked)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Forget()
	dead = append(dead, folder, empty)
	want := there(filepath.Base(made.Path()))
	if got := names(t, in(kept[0])); living.lock != nil && !slices.Equal(got, []string{"thesis.tex"}) {
		t.Errorf("%s holds %v", kept[0], got)
	}
	only(t, base, want...)
}

// A program that a signal ends leaves nothing of what it is writing.
func TestRemoveTemporaries(t *testing.T) {
	base := t.TempDir()
	made, err := NewFolder(base, removeMarked)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Forget()
	if err := WriteNew(filepath.Join(made.Path(), "mark"), text("x")); err != nil {
		t.Fatal(err)
	}
	err = WriteFile(filepath.Join(base, "a"), func(w io.Writer) error {
		live.Lock()
		removeLive() // as RemoveTemporaries, but others go on
		live.Unlock()
		return text("x")(w)
	}, false)
	if err == nil {
		t.Error("written")
	}
	only(t, base)
}

// What is held is not taken for a dead run's, whatever its name.
func TestHold(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, ".mafalda-"+hostTag()+"-AAAAAAAAAAAA")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release := Hold(path)
	if err := WriteFile(filepath.Join(base, "a"), text("x"), false); err != nil {
		t.Fatal(err)
	}
	only(t, base, filepath.Base(path), "a")
	release()
	Hold(filepath.Join(base, "missing"))()
}
