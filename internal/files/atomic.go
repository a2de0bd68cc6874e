package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Is reports whether the target is ErrExists.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// WriteFile writes a single file atomically: into a temporary file beside it, flushed to the disk and put in its place.
// It replaces an existing file only with force (else it fails with an [ExistsError]), and then keeps its permissions;
// of a link it replaces what the link points to. On an error everything is as it was.
func WriteFile(path string, write func(io.Writer) error, force bool) (err error) {
	place := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		place = resolved
	}
	info, err := os.Stat(place)
	switch {
	case err != nil: // missing, or the error will come again
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w and is not a regular file", path, ErrExists)
	case !force:
		return &ExistsError{Path: path}
	}
	var f *os.File
	tmp, err := newTemporary(filepath.Dir(place), nil, func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer tmp.Forget()
	defer os.Remove(tmp.path) // gone if all went well
	defer f.Close()
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	if err := writeAndSync(f, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := tmp.Place(func() error { return Move(tmp.path, place, force) }); errors.Is(err, os.ErrExist) {
		return &ExistsError{Path: path}
	} else if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return SyncFolder(filepath.Dir(place))
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
	return writeAndSync(f, write)
}

// writeAndSync fills f, flushes it and closes it.
func writeAndSync(f *os.File, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
