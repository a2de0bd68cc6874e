package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Private is a file in the making that only its owner may read or write, whatever the umask. It is a Temporary until
// Publish gives it its own name; Discard takes it away. It is for one goroutine, but for Discard.
type Private struct {
	path, place string // names of the file: as it was given, and with links resolved
	replace     bool
	file        *os.File
	temporary   *Temporary
}

// NewPrivate starts a file that will be called path; of a link, it will replace what the link points to. Without
// replace path must not exist ([ExistsError]). What is no regular file is ErrIrregular.
func NewPrivate(path string, replace bool) (*Private, error) { return newFile(path, replace, 0o600) }

// newFile is NewPrivate for files of any mode: one that is not private keeps that of the file that it replaces.
func newFile(path string, replace bool, mode os.FileMode) (*Private, error) {
	p := &Private{path: path, place: path, replace: replace}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		p.place = resolved
	}
	info, err := os.Lstat(p.place)
	switch {
	case err != nil: // missing, or the error will come again
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w and is %w", path, ErrExists, ErrIrregular)
	case !replace:
		return nil, &ExistsError{Path: path}
	}
	p.temporary, err = newTemporary(filepath.Dir(p.place), nil, func(name string) (err error) {
		p.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	if err == nil && info != nil && mode != 0o600 {
		if err = p.file.Chmod(info.Mode().Perm()); err != nil {
			err = errors.Join(err, p.Discard())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return p, nil
}

// Write appends to the file.
func (p *Private) Write(b []byte) (int, error) { return p.file.Write(b) }

// Finish brings the content to the disk. Nothing can be written after it.
func (p *Private) Finish() error {
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", p.path, err)
	}
	return nil
}

// Publish gives a finished file its name, and brings that to the disk too. It fails with an [ExistsError] if there is a
// file by now that must not be replaced, where the file system has hard links.
func (p *Private) Publish() error {
	err := p.temporary.Place(func() error { return Move(p.temporary.path, p.place, p.replace) })
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.Join(&ExistsError{Path: p.path}, p.Discard())
	case err != nil:
		return fmt.Errorf("writing %s: %w", p.path, err)
	}
	p.temporary.Forget()
	return SyncFolder(filepath.Dir(p.place))
}

// Discard takes the unpublished file away; after Publish it does nothing.
func (p *Private) Discard() error {
	p.file.Close() // closed already, or of no interest
	defer p.temporary.Forget()
	if err := os.Remove(p.temporary.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SyncFolder brings the entries of a folder to the disk, on systems that can.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that may be written but not listed
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // a file system that cannot
	}
	return errors.Join(err, f.Close())
}
