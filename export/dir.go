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

	"mafalda/internal/files"
)

// WriteDir writes the files and then the manifest, whose Files it fills in, to the folder dir: all of them, or, on an
// error, none. An earlier export in dir is replaced if opts say so, atomically where the system can exchange folders
// (Linux), by two renames elsewhere. Nobody else's file is ever removed: what has come to an earlier export while it
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
	if t, err = findTarget(dir, opts); err != nil { // again: somebody may have written in the meantime
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
	m, err := readManifestFile(dir)
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
	if _, err := readManifestFile(path); err == nil {
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
