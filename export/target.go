package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mafalda/internal/files"
)

// Errors of folders that an export is not written to.
var (
	ErrTarget = errors.New("not a place for an export")
	ErrExists = files.ErrExists // holds something; an earlier export is replaced with WriteOptions.Force
)

// WriteOptions tunes WriteDir and, but for Force, the files that Matrices makes for it. The zero value replaces
// nothing.
type WriteOptions struct {
	Force          bool   // replace an earlier export
	Format         Format // of the matrices
	ParametersOnly bool   // write the parameters of a structured strategy, not its matrices

	Command []string // that makes the export, in words, for its manifest
}

// CheckTarget reports whether WriteDir could write to dir, so that nobody computes for an hour first. The target may be
// missing, an empty folder, or, with Force, an earlier export; a link is followed; a folder that holds files of anybody
// else's is never touched. It creates a folder where WriteDir would, and removes it.
func CheckTarget(dir string, opts WriteOptions) error {
	t, err := findTarget(dir, opts)
	if err != nil {
		return err
	}
	tmp, undo, err := temporaryBeside(t.path)
	if err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	defer undo()
	defer tmp.Forget()
	return os.Remove(tmp.Path())
}

// target is a place that may be written.
type target struct {
	path  string // absolute, links resolved
	state targetState
}

type targetState int

const (
	missing targetState = iota
	emptyFolder
	earlierExport // and opts said that it may be replaced
)

// findTarget returns what is at dir, or why it cannot be written.
func findTarget(dir string, opts WriteOptions) (target, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return target{}, err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved // replace what a link points to, not the link
	}
	if holdsCurrentFolder(abs) {
		return target{}, fmt.Errorf("%s: %w: it is or holds the current folder, choose a folder of its own", dir,
			ErrTarget)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Lstat(abs); err == nil {
			return target{}, fmt.Errorf("%s: %w: it is a link to nowhere", dir, ErrTarget)
		}
		return target{abs, missing}, nil
	case err != nil:
		return target{}, err
	case !info.IsDir():
		return target{}, fmt.Errorf("%s: %w and is not a folder", dir, ErrExists)
	case isMountPoint(abs):
		return target{}, fmt.Errorf("%s: %w: it is a mount point, choose a folder inside", dir, ErrTarget)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return target{}, err
	}
	if len(entries) == 0 {
		return target{abs, emptyFolder}, nil
	}
	m, err := readManifestFile(abs)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w, is not empty and not an export", dir, ErrExists)
	}
	if name := foreign(entries, m); name != "" {
		return target{}, fmt.Errorf("%s: %w and holds %s, which is not of an export: move it away first", dir,
			ErrExists, name)
	}
	if !opts.Force {
		return target{}, &files.ExistsError{Path: dir, Holds: "an export"}
	}
	return target{abs, earlierExport}, nil
}

// foreign returns the name of an entry that no export with this manifest has written, or "": what is not listed, or is
// a folder or a link by a name that is.
func foreign(entries []os.DirEntry, m *Manifest) string {
	for _, e := range entries {
		if _, listed := m.Files[e.Name()]; !e.Type().IsRegular() || (!listed && e.Name() != ManifestName) {
			return e.Name()
		}
	}
	return ""
}

// holdsCurrentFolder reports whether abs, without links, is the current folder or one above it.
func holdsCurrentFolder(abs string) bool {
	here, err := os.Getwd()
	if err != nil {
		return false
	}
	if resolved, err := filepath.EvalSymlinks(here); err == nil {
		here = resolved
	}
	const separator = string(filepath.Separator)
	return here == abs || strings.HasPrefix(here, strings.TrimSuffix(abs, separator)+separator)
}

// temporaryBeside creates a new folder beside abs, thus on the same file system, and the folders above it that are
// missing. Calling undo removes these again, as far as they are empty; not the new one.
func temporaryBeside(abs string) (tmp *files.Temporary, undo func(), err error) {
	parent := filepath.Dir(abs)
	var made []string // deepest first
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		made = append(made, p)
	}
	undo = func() {
		for _, p := range made {
			if os.Remove(p) != nil {
				return
			}
		}
	}
	for range 10 { // another run may remove an empty folder that it made
		if err = os.MkdirAll(parent, 0o777); err != nil {
			break
		}
		tmp, err = files.NewFolder(parent, removeUnfinished)
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		undo()
		return nil, nil, err
	}
	return tmp, undo, nil
}
