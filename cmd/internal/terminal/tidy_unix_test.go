//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mafalda/internal/files"
)

// A lent folder is removed when no process holds its lock, and nothing else ever is.
func TestUnownedFoldersAreRemoved(t *testing.T) {
	make := func(name string, owned bool) string {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if owned {
			if err := os.WriteFile(filepath.Join(dir, ownerName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	there := func(dir string) bool { _, err := os.Stat(dir); return err == nil }

	dir := make("mafalda-python-x", true)
	f, err := os.OpenFile(filepath.Join(dir, ownerName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.TryLock(f); err != nil {
		t.Fatal(err)
	}
	if err := removeUnowned(dir, time.Millisecond); err != nil || !there(dir) {
		t.Errorf("of somebody who lives: %v, there %v", err, there(dir))
	}
	f.Close()
	if err := removeUnowned(dir, time.Millisecond); err != nil || there(dir) {
		t.Errorf("of nobody: %v, there %v", err, there(dir))
	}
	if err := removeUnowned(dir, time.Millisecond); err != nil {
		t.Errorf("gone: %v", err)
	}
	if dir = make("mafalda-python-y", false); removeUnowned(dir, time.Millisecond) != nil || !there(dir) {
		t.Error("a folder that nobody has lent is removed")
	}
	if dir = make("mine", true); removeUnowned(dir, time.Millisecond) == nil || !there(dir) {
		t.Error("a folder of another name is removed")
	}
	dir = make("mafalda-python-z", false)
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(dir, ownerName)); err != nil {
		t.Fatal(err)
	}
	if removeUnowned(dir, time.Millisecond) == nil || !there(dir) {
		t.Error("a link is followed")
	}
}
