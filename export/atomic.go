package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mafalda/internal/files"
)

// ErrExists is returned where something would have to be overwritten that was not said to be.
var ErrExists = errors.New("exists already")

// WriteFile writes a single file atomically: into a temporary file beside it, flushed to the disk and put in its place. It
// replaces an existing file only with force, and then keeps its permissions; of a link it replaces what the link points
// to. On an error everything is as it was.
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
		return existsWithoutForce(path)
	}
	var f *os.File
	tmp, err := newTemporary(filepath.Dir(place), func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer tmp.forget()
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
	if err := tmp.place(func() error { return put(tmp.path, place, force) }); errors.Is(err, os.ErrExist) {
		return existsWithoutForce(path)
	} else if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncDir(filepath.Dir(place))
}

func existsWithoutForce(path string) error {
	return fmt.Errorf("%s: %w (use --force to replace it)", path, ErrExists)
}

// put moves the file tmp to place. Without force it fails with os.ErrExist if there is a file by now, where the file system
// has hard links.
func put(tmp, place string, force bool) error {
	if !force {
		if err := os.Link(tmp, place); err == nil || errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return os.Rename(tmp, place)
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

// syncDir flushes the entries of a folder, where the system can.
func syncDir(dir string) error { return files.SyncFolder(dir) }
