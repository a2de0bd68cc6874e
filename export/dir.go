package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrExists is returned where something would have to be overwritten that was not said to be.
var ErrExists = errors.New("exists already")

// ErrTarget is returned for a folder that cannot be the place of an export.
var ErrTarget = errors.New("not a place for an export")

// WriteOptions tunes WriteDir. The zero value replaces nothing.
type WriteOptions struct {
	Force bool // replace an earlier export
}

// CheckTarget reports whether WriteDir could write to dir, so that nobody computes for an hour first. The target may be
// missing, an empty folder, or, with Force, an earlier export; a folder that holds files of anybody else's is never
// touched. It creates a folder beside dir, and removes it.
func CheckTarget(dir string, opts WriteOptions) error {
	if _, err := target(dir, opts); err != nil {
		return err
	}
	tmp, err := temporaryBeside(dir)
	if err != nil {
		return err
	}
	return os.Remove(tmp)
}

// target returns the absolute path of dir, or why it cannot be written.
func target(dir string, opts WriteOptions) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved // replace what a link points to, not the link
	}
	if here, err := os.Getwd(); err == nil && (here == abs || strings.HasPrefix(here, abs+string(filepath.Separator))) {
		return "", fmt.Errorf("%s: %w: it is or holds the current folder, choose a folder of its own", dir, ErrTarget)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Lstat(abs); err == nil {
			return "", fmt.Errorf("%s: %w: it is a link to nowhere", dir, ErrTarget)
		}
		return abs, nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s: %w and is not a folder", dir, ErrExists)
	case isMountPoint(abs):
		return "", fmt.Errorf("%s: %w: it is a mount point, choose a folder inside", dir, ErrTarget)
	}
	entries, err := os.ReadDir(abs)
	if err != nil || len(entries) == 0 {
		return abs, err
	}
	m, err := readManifestFile(abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w, is not empty and not an export", dir, ErrExists)
	}
	for _, e := range entries {
		if _, listed := m.Files[e.Name()]; !listed && e.Name() != ManifestName {
			return "", fmt.Errorf("%s: %w and holds %s, which is not of an export: move it away first", dir, ErrExists, e.Name())
		}
	}
	if !opts.Force {
		return "", fmt.Errorf("%s: %w with an export (use --force to replace it)", dir, ErrExists)
	}
	return abs, nil
}

func temporaryBeside(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o777); err != nil {
		return "", fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(abs), "."+filepath.Base(abs)+".tmp-")
	if err != nil {
		return "", fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	return tmp, nil
}

// WriteDir writes the files and then the manifest, whose Files it fills in, to the folder dir: all of them, or, on an
// error, none. An earlier export in dir is replaced if opts say so, atomically where the system can exchange folders
// (Linux), by two renames elsewhere.
func WriteDir(dir string, m *Manifest, files []File, opts WriteOptions) (err error) {
	abs, err := target(dir, opts)
	if err != nil {
		return err
	}
	tmp, err := temporaryBeside(abs)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // it holds what failed, or what was replaced, or is gone
	m.Files = map[string]string{}
	for _, f := range files {
		if err := checkName(f.Name); err != nil {
			return err
		}
		hash := sha256.New()
		err := createIn(tmp, f.Name, func(w io.Writer) error { return f.Write(io.MultiWriter(w, hash)) })
		if err != nil {
			return fmt.Errorf("writing %s: %w", filepath.Join(dir, f.Name), err)
		}
		m.Files[f.Name] = hex.EncodeToString(hash.Sum(nil))
	}
	if err := createIn(tmp, ManifestName, m.WriteJSON); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, ManifestName), err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if err := syncDir(tmp); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if err := replace(tmp, abs, opts); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	return syncDir(filepath.Dir(abs))
}

// replace puts the folder tmp in the place of abs. What was in abs, if anything, is then in tmp.
func replace(tmp, abs string, opts WriteOptions) error {
	if _, err := target(abs, opts); err != nil { // again: somebody may have written in the meantime
		return err
	}
	if _, err := os.Stat(abs); errors.Is(err, os.ErrNotExist) {
		return os.Rename(tmp, abs)
	}
	return exchange(tmp, abs)
}

// exchangeByRenames is exchange for systems that cannot do it in one go: an interruption between its steps leaves the old
// export in a folder named *.old.
func exchangeByRenames(tmp, abs string) error {
	old := tmp + ".old"
	if err := os.Rename(abs, old); err != nil {
		return err
	}
	if err := os.Rename(tmp, abs); err != nil {
		return errors.Join(err, os.Rename(old, abs))
	}
	return os.Rename(old, tmp)
}

func createIn(dir, name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := writeAndSync(f, write); err != nil {
		f.Close()
		return err
	}
	return nil
}

// syncDir flushes the entries of a folder, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
