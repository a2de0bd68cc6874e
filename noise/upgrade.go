package noise

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mafalda/internal/files"
)

// stateBefore is the content of a state file of the format before: JSON that was replaced by renaming, and locked by a
// file beside it.
type stateBefore struct {
	stateHead
	Issued int `json:"issued"`
}

const formatBefore = "mafalda noise state 1"

// takeOver brings a state of the format before to this one, and returns it open; nil if it is none. The head is that of
// the stream that wants it: others are left alone. The new file is on disk, under a name of its own, before it takes
// the place of the old one, so that a crash leaves the one or the other.
func takeOver(path string, head stateHead) (r *record, err error) {
	if old, err := readBefore(path); old == nil || err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	locks, err := lockBefore(path, real)
	defer func() {
		for _, f := range locks {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	old, err := readBefore(path) // once more: until now somebody could have written
	if old == nil || err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(old.Key)
	if err != nil || len(key) != keySize || old.Issued < 0 {
		return nil, fmt.Errorf("%w: %s is damaged", ErrState, path)
	}
	wanted := old.stateHead
	wanted.Format = stateFormat
	if d := wanted.difference(head); d != "" {
		return nil, fmt.Errorf("%w: %s is of another %s", ErrState, path, d)
	}
	temporary := real + ".upgrade"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was killed here
		return nil, err
	}
	if r, err = newRecord(temporary, wanted, place{Issued: old.Issued}); err != nil {
		return nil, err
	}
	err = os.Rename(temporary, real)
	if err == nil {
		err = files.SyncFolder(filepath.Dir(real))
	}
	if err == nil {
		r.path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, errors.Join(err, r.file.Close())
	}
	for _, f := range locks {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return r, err
}

// readBefore returns nil for everything that is not a state of the format before.
func readBefore(path string) (*stateBefore, error) {
	f, size, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var text []byte
	if err == nil && size <= recordSize {
		text = make([]byte, size)
		_, err = f.ReadAt(text, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var s stateBefore
	if json.Unmarshal(text, &s) != nil || s.Format != formatBefore {
		return nil, nil
	}
	if n := files.Names(info); n > 1 {
		return nil, fmt.Errorf("%w: %s has %d names (hard links), which would be %d states: remove all but one",
			ErrState, path, n, n)
	}
	return &s, nil
}

// lockBefore takes the locks that programs of the format before would take, for a name and what it leads to.
func lockBefore(path, real string) (locks []*os.File, err error) {
	for _, name := range []string{path + ".lock", real + ".lock"} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return locks, err
		}
		if len(locks) > 0 && sameFile(locks[0], f) {
			return locks, f.Close()
		}
		locks = append(locks, f)
		if err := lock(f); err != nil {
			return locks, fmt.Errorf("%s: %w", path, err)
		}
	}
	return locks, nil
}

func sameFile(a, b *os.File) bool {
	i, err := a.Stat()
	j, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(i, j)
}
