package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/files"
)

// WriteDir writes the files and then the manifest, whose Files it fills in, to the folder dir: all of them, or, on an
// error, none. An earlier export in dir is replaced if opts say so, atomically where the system can exchange folders
// (Linux), by two renames elsewhere. A file that is not listed is never removed: what has come to an earlier export while it
// was being replaced is kept, with it, in a folder that the error names.
func WriteDir(dir string, m *Manifest, all []File, opts WriteOptions) error {
	t, err := findTarget(dir, opts)
	if err != nil {
		return err
	}
	made, undo, err := temporaryBeside(t.path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	defer made.Forget()
	tmp := made.Path()
	placed := false
	defer func() { // also if a writer panics
		if !placed {
			os.RemoveAll(tmp)
			undo()
		}
	}()
	complete := *m
	if m.Space != nil { // the variances are in the files
		space := *m.Space
		space.Own, space.Pairs = nil, nil
		complete.Space = &space
	}
	if complete.Files, err = fill(tmp, dir, all); err != nil {
		return err
	}
	if err := files.WriteNew(filepath.Join(tmp, ManifestName), complete.WriteJSON); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, ManifestName), err)
	}
	if err := files.SyncFolder(tmp); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if t, err = findTarget(dir, opts); err != nil { // again: other programs may have written in the meantime
		return err
	}
	if t.state == earlierExport { // which gets the temporary's name, and must not be taken for a dead run's
		defer files.Hold(t.path)()
	}
	if err := made.Place(func() error { return replace(tmp, t) }); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	placed = true
	m.Files = complete.Files
	if t.state == earlierExport { // it is in tmp now
		if err := removeExport(tmp); err != nil {
			return fmt.Errorf("%s is written, but the earlier export is kept in %s: %w", dir, tmp, err)
		}
	}
	return files.SyncFolder(filepath.Dir(t.path))
}

// fill writes the files to tmp and returns their SHA-256. Errors speak of dir, where the files are to be.
func fill(tmp, dir string, all []File) (map[string]string, error) {
	hashes := map[string]string{}
	for _, f := range all {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		hash := sha256.New()
		err := files.WriteNew(filepath.Join(tmp, f.Name), func(w io.Writer) error {
			return f.Write(io.MultiWriter(w, hash))
		})
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", filepath.Join(dir, f.Name), err)
		}
		hashes[f.Name] = hex.EncodeToString(hash.Sum(nil))
	}
	return hashes, nil
}

// replace puts the folder tmp in the place of t. An earlier export is then in tmp. It fails if t is not any more what
// it was found to be.
func replace(tmp string, t target) error {
	switch t.state {
	case earlierExport:
		return files.Exchange(tmp, t.path)
	case emptyFolder:
		if err := os.Remove(t.path); err != nil {
			return err
		}
		if err := os.Rename(tmp, t.path); err != nil {
			return errors.Join(err, os.Mkdir(t.path, 0o777))
		}
		return nil
	}
	return os.Rename(tmp, t.path)
}

// removeExport removes the folder and the files that its manifest lists; none of them if there are others.
func removeExport(dir string) error {
	m, _, err := readManifestFile(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if name := foreign(entries, m); name != "" {
		return fmt.Errorf("%s in it is not of an export", name)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(dir)
}

// exportNames are the files that an unfinished export may hold.
func exportNames() []string {
	return []string{"C.npy", "C_inv.npy", "C.csv", "C_inv.csv", nodesName, pairsName, gossipNPY,
		gossipMTX, ManifestName}
}

// removeUnfinished removes a folder that holds an export or a part of one, and nothing else.
func removeUnfinished(path string) {
	if _, _, err := readManifestFile(path); err == nil {
		_ = removeExport(path) // refuses a folder with files of anybody else's
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(exportNames(), e.Name()) {
			return
		}
	}
	for _, e := range entries {
		os.Remove(filepath.Join(path, e.Name()))
	}
	os.Remove(path) // refuses a folder that is not empty
}

// Errors of folders that an export is not written to.
var (
	ErrTarget = errors.New("not a place for an export")
	ErrExists = files.ErrExists // holds something; an earlier export is replaced with WriteOptions.Force
)

// WriteOptions tunes WriteDir and, but for Force, the files that Matrices makes for it. The zero value replaces
// nothing.
type WriteOptions struct {
	Force          bool   // replace an earlier export
	Format         Format // format of the matrices' files
	ParametersOnly bool   // write the parameters of a structured strategy, not its matrices

	Command []string // the command that makes the export, in words, for its manifest
}

// CheckTarget reports whether WriteDir could write to dir, before an hour of computing. The target may be
// missing, an empty folder, or, with Force, an earlier export; a link is followed; a folder with other files
// is never touched. It creates a folder where WriteDir would, and removes it.
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
	m, _, err := readManifestFile(abs)
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
