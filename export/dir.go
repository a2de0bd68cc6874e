package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteDir writes the files and then the manifest, whose Files it fills in, to the folder dir: all of them, or, on an
// error, none. An earlier export in dir is replaced if opts say so, atomically where the system can exchange folders
// (Linux), by two renames elsewhere. Nobody else's file is ever removed: what has come to an earlier export while it was
// being replaced is kept, with it, in a folder that the error names.
func WriteDir(dir string, m *Manifest, files []File, opts WriteOptions) error {
	t, err := findTarget(dir, opts)
	if err != nil {
		return err
	}
	made, undo, err := temporaryBeside(t.path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	defer made.forget()
	tmp := made.path
	placed := false
	defer func() { // also if a writer panics
		if !placed {
			os.RemoveAll(tmp)
			undo()
		}
	}()
	complete := *m
	if complete.Files, err = fill(tmp, dir, files); err != nil {
		return err
	}
	if err := createIn(tmp, ManifestName, complete.WriteJSON); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, ManifestName), err)
	}
	if err := syncDir(tmp); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if t, err = findTarget(dir, opts); err != nil { // again: somebody may have written in the meantime
		return err
	}
	if t.state == earlierExport { // which gets the temporary's name, and must not be taken for a dead run's
		if lock, _ := lockTemporary(t.path); lock != nil {
			defer lock.Close()
		}
	}
	if err := made.place(func() error { return replace(tmp, t) }); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	placed = true
	m.Files = complete.Files
	if t.state == earlierExport { // it is in tmp now
		if err := removeExport(tmp); err != nil {
			return fmt.Errorf("%s is written, but the earlier export is kept in %s: %w", dir, tmp, err)
		}
	}
	return syncDir(filepath.Dir(t.path))
}

// fill writes the files to tmp and returns their SHA-256. Errors speak of dir, where the files are to be.
func fill(tmp, dir string, files []File) (map[string]string, error) {
	hashes := map[string]string{}
	for _, f := range files {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		hash := sha256.New()
		err := createIn(tmp, f.Name, func(w io.Writer) error { return f.Write(io.MultiWriter(w, hash)) })
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", filepath.Join(dir, f.Name), err)
		}
		hashes[f.Name] = hex.EncodeToString(hash.Sum(nil))
	}
	return hashes, nil
}

func createIn(dir, name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeAndSync(f, write)
}

// replace puts the folder tmp in the place of t. An earlier export is then in tmp. It fails if t is not any more what it was
// found to be.
func replace(tmp string, t target) error {
	switch t.state {
	case earlierExport:
		return exchange(tmp, t.path)
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
