package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrExists is returned where something would have to be overwritten that was not said to be.
var ErrExists = errors.New("exists already")

// ExistsError is the [ErrExists] about what would be replaced if the caller said so. Other things in the way are plain
// ErrExists.
type ExistsError struct {
	Path  string
	Holds string // content of the folder, such as "an export"; empty of a file
}

func (e *ExistsError) Error() string {
	if e.Holds != "" {
		return fmt.Sprintf("%s: %v with %s", e.Path, ErrExists, e.Holds)
	}
	return fmt.Sprintf("%s: %v", e.Path, ErrExists)
}

// Is reports whether the target is ErrExists or fs.ErrExist.
func (e *ExistsError) Is(target error) bool { return target == ErrExists || target == fs.ErrExist }

// WriteFile writes a single file atomically: into a temporary file beside it, flushed to the disk and put in its place.
// It replaces an existing file only with force (else it fails with an [ExistsError]), and then keeps its permissions;
// of a link it replaces what the link points to. On an error everything is as it was.
func WriteFile(path string, write func(io.Writer) error, force bool) error {
	return writeWhole(path, write, force, 0o666)
}

// WritePrivate writes a file that only its owner may read, whole and on the disk, or not at all. It must not exist yet
// (fs.ErrExist).
func WritePrivate(path string, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	err := writeWhole(path, write, false, 0o600)
	if errors.As(err, new(*ExistsError)) { // which says that a replacement can be asked for
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	return err
}

func writeWhole(path string, write func(io.Writer) error, replace bool, mode os.FileMode) error {
	p, err := newFile(path, replace, mode)
	if err != nil {
		return err
	}
	defer p.Discard() // nothing is left to discard if all went well
	if err := write(p); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := p.Finish(); err != nil {
		return err
	}
	return p.Publish()
}

// Move moves the file tmp to place. Without force it fails with os.ErrExist if there is a file by now, where the file
// system has hard links.
func Move(tmp, place string, force bool) error {
	if !force {
		err := os.Link(tmp, place)
		switch {
		case err == nil:
			return os.Remove(tmp)
		case errors.Is(err, os.ErrExist):
			return err
		}
	}
	return os.Rename(tmp, place)
}

// WriteNew writes a file that must not be there yet (os.ErrExist), in place, and flushes it to the disk. It is for
// folders that nobody knows of yet: on an error the file may be there in part.
func WriteNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
}
