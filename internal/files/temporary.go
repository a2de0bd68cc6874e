package files

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// Temporary is a file or folder beside what it is to become. Its name carries the host, and where the system has
// locks this process holds one on it as long as it lives, so that another run can tell what a killed one has left.
type Temporary struct {
	path string
	lock *os.File // nil where the system has none
}

// live holds the temporaries of this process, with what removes them, and the folders that were searched for temporaries
// of dead processes: for files, and for folders.
var live = struct {
	sync.Mutex
	paths map[string]func(path string)
	swept map[sweeping]bool
}{paths: map[string]func(path string){}, swept: map[sweeping]bool{}}

// sweeping is a search for temporaries of dead runs.
type sweeping struct {
	dir     string
	folders bool
}

// hostTag is the part of the names that tells hosts apart, which may share a folder but no locks.
var hostTag = sync.OnceValue(func() string {
	host, _ := os.Hostname() // no name is one as well
	sum := sha256.Sum256([]byte(host))
	return hex.EncodeToString(sum[:4])
})

var temporaryName = regexp.MustCompile(`^\.mafalda-([0-9a-f]{8})-[A-Z2-7]{12}$`)

// NewFolder makes a new folder in dir, after removing the files and folders that dead runs have left there. Folders are
// removed by remove, which must leave those alone that hold anything that its callers do not write; it is also how
// [RemoveTemporaries] removes the new one.
func NewFolder(dir string, remove func(path string)) (*Temporary, error) {
	return newTemporary(dir, remove, func(name string) error { return os.Mkdir(name, 0o777) })
}

// newTemporary calls create with names in dir until one is not taken, after removing what dead runs have left there.
// Without removeFolder it makes a file, and folders of dead runs stay.
func newTemporary(dir string, removeFolder func(string), create func(name string) error) (*Temporary, error) {
	sweep(dir, nil)
	if removeFolder != nil {
		sweep(dir, removeFolder)
	}
	for {
		path := filepath.Join(dir, ".mafalda-"+hostTag()+"-"+rand.Text()[:12])
		live.Lock()
		live.paths[path] = removeFolder
		live.Unlock()
		t := &Temporary{path: path}
		err := create(path)
		if err == nil {
			var state lockState
			if t.lock, state = lockTemporary(path); state != lockTaken {
				return t, nil
			} // another run took it for a dead one's in the instant before
		}
		t.Forget()
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
}

// Path returns the name that it has until it is in its place.
func (t *Temporary) Path() string { return t.path }

// Place runs rename, which moves the temporary away, or swaps it with something, in one go: RemoveTemporaries cannot
// come between.
func (t *Temporary) Place(rename func() error) error {
	live.Lock()
	defer live.Unlock()
	return rename()
}

// Forget ends the temporary's life, whatever has become of it.
func (t *Temporary) Forget() {
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
	for path, removeFolder := range live.paths {
		removeTemporary(path, removeFolder)
	}
}

// sweep removes the temporaries of dead runs on this host from a folder, once a process: the files, or, with
// removeFolder, the folders. It touches nothing that it cannot lock, and no link.
func sweep(dir string, removeFolder func(path string)) {
	search := sweeping{dir, removeFolder != nil}
	live.Lock()
	done := live.swept[search]
	live.swept[search] = true
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
		if match == nil || match[1] != hostTag() || e.IsDir() != search.folders || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if lock, state := lockTemporary(path); state == locked {
			removeTemporary(path, removeFolder)
			lock.Close()
		}
	}
}

// removeTemporary removes a file, or, with removeFolder, a folder.
func removeTemporary(path string, removeFolder func(path string)) {
	switch info, err := os.Lstat(path); {
	case err != nil:
	case info.Mode().IsRegular():
		os.Remove(path)
	case info.IsDir() && removeFolder != nil:
		removeFolder(path)
	}
}

// Hold locks a file or folder, where the system can, until release is called: it is about to be exchanged with a
// temporary, and must not be taken for one of a dead run by its name.
func Hold(path string) (release func()) {
	lock, _ := lockTemporary(path)
	if lock == nil {
		return func() {}
	}
	return func() { lock.Close() }
}

// lockState is what came of an attempt to lock a temporary.
type lockState int

const (
	unlockable lockState = iota // the system or the file system has no locks
	locked                      // and no other process has it
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
