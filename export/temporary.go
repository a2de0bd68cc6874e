package export

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// temporary is a file or folder beside what it is to become. Its name carries the host, and where the system has
// locks this process holds one on it as long as it lives, so that another run can tell what a killed one has left.
type temporary struct {
	path string
	lock *os.File // nil where the system has none
}

// live are the temporaries of this process, and the folders that were searched for those of dead ones.
var live = struct {
	sync.Mutex
	paths map[string]bool
	swept map[string]bool
}{paths: map[string]bool{}, swept: map[string]bool{}}

// hostTag is the part of the names that tells hosts apart, which may share a folder but no locks.
var hostTag = sync.OnceValue(func() string {
	host, _ := os.Hostname() // no name is one as well
	sum := sha256.Sum256([]byte(host))
	return hex.EncodeToString(sum[:4])
})

var temporaryName = regexp.MustCompile(`^\.mafalda-([0-9a-f]{8})-[A-Z2-7]{12}$`)

// newTemporary calls create with names in dir until one is not taken, after removing what dead runs have left there.
func newTemporary(dir string, create func(name string) error) (*temporary, error) {
	sweep(dir)
	for {
		path := filepath.Join(dir, ".mafalda-"+hostTag()+"-"+rand.Text()[:12])
		live.Lock()
		live.paths[path] = true
		live.Unlock()
		t := &temporary{path: path}
		err := create(path)
		if err == nil {
			var state lockState
			if t.lock, state = lockTemporary(path); state != lockTaken {
				return t, nil
			} // another run took it for a dead one's in the instant before
		}
		t.forget()
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
}

// place runs rename, which moves the temporary away, or swaps it with something, in one go: RemoveTemporaries cannot
// come between.
func (t *temporary) place(rename func() error) error {
	live.Lock()
	defer live.Unlock()
	return rename()
}

// forget ends the temporary's life, whatever has become of it.
func (t *temporary) forget() {
	live.Lock()
	delete(live.paths, t.path)
	live.Unlock()
	if t.lock != nil {
		t.lock.Close()
	}
}

// RemoveTemporaries removes what this process is writing, for a program that a signal is about to end. Nothing can be
// written afterwards: whoever tries waits for the end.
func RemoveTemporaries() {
	live.Lock() // for good
	removeLive()
}

func removeLive() {
	for path := range live.paths {
		removeTemporary(path)
	}
}

// sweep removes the temporaries of dead runs on this host from a folder, once a process. It touches nothing that it
// cannot lock, no link, and no folder with anything in it that is not of an export.
func sweep(dir string) {
	live.Lock()
	done := live.swept[dir]
	live.swept[dir] = true
	live.Unlock()
	if done {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // a folder that may be written but not listed
	}
	for _, e := range entries {
		match := temporaryName.FindStringSubmatch(e.Name())
		if match == nil || match[1] != hostTag() || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if lock, state := lockTemporary(path); state == locked {
			removeTemporary(path)
			lock.Close()
		}
	}
}

// removeTemporary removes a file, or a folder that holds an export or a part of one.
func removeTemporary(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return
	case info.Mode().IsRegular():
		os.Remove(path)
		return
	case !info.IsDir():
		return
	}
	if _, err := readManifestFile(path); err == nil {
		_ = removeExport(path) // refuses a folder with files of anybody else's
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(exportNames, e.Name()) {
			return
		}
	}
	for _, e := range entries {
		os.Remove(filepath.Join(path, e.Name()))
	}
	os.Remove(path) // refuses a folder that is not empty
}

// exportNames are the files that an unfinished export may hold.
var exportNames = []string{"C.npy", "C_inv.npy", "C.csv", "C_inv.csv", "nodes.csv", ManifestName}

// lockState is what came of an attempt to lock a temporary.
type lockState int

const (
	unlockable lockState = iota // the system or the file system has no locks
	locked                      // and nobody else has it
	lockTaken                   // by a run that lives, or it is gone
)

// sameEntry reports whether the path still leads to the open file.
func sameEntry(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}
