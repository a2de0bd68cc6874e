package results

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/study"
)

// pages are the texts of the documents.
//
//go:embed pages
var pages embed.FS

// CheckFolder finds out, before anything is computed, whether a result and its pictures can be written to the folder. An empty name
// of a folder is none.
func CheckFolder(dir, name string, force bool, pictures ...string) error {
	if dir == "" {
		return nil
	}
	if err := CheckPictures(dir, pictures, force); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil && !force {
		return terminal.Usagef("%s is there already: use --force to replace it", filepath.Join(dir, name))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// RefuseExport keeps other files out of an export: it would not verify any more, and no noise be drawn from it.
func RefuseExport(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, export.ManifestName)); err == nil {
		return terminal.Usagef("%s is an export, which has no other files: choose another folder with -o", dir)
	}
	return nil
}

// CheckPictures finds out, before anything is drawn, whether the pictures can be written to the folder.
func CheckPictures(dir string, names []string, force bool) error {
	if err := RefuseExport(dir); err != nil {
		return err
	}
	for _, name := range figures.WithFiles(nil, names...) {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil && !force {
			return terminal.Usage(&files.ExistsError{Path: path})
		}
	}
	return nil
}

// RemoveIfEmpty takes back a folder that was made for results, if nothing came of it.
func RemoveIfEmpty(dir string, err error) {
	if err != nil && dir != "" {
		_ = os.Remove(dir) // refuses a folder with something in it
	}
}

// documentFile is the summary of a study that says what its results are.
func documentFile(d *document.Document) study.File {
	return study.File{Name: document.FileName, Write: d.JSON}
}

// WriteResult writes a result, which is a JSON object, with the command that made it, and what it says, if that is known. Its
// pictures are written after it: it is there whatever becomes of them.
func WriteResult(dir, name string, command []string, result any, says *document.Document, force bool) error {
	object, err := json.Marshal(result)
	if err != nil {
		return err
	}
	words, err := json.Marshal(command)
	if err != nil {
		return err
	}
	stored := json.RawMessage(slices.Concat([]byte(`{"command":`), words, []byte(","), object[1:])) // its first key
	err = files.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return terminal.WriteJSON(w, stored) }, force)
	if err == nil && says != nil {
		err = files.WriteFile(filepath.Join(dir, document.FileName), says.JSON, force)
	}
	return terminal.UsageIfExists(err)
}

// WritePictures writes pictures in every format to the folder, if it can write all, and returns the paths of what it has written.
func WritePictures(dir string, p figures.Pictures, force bool, style figures.Style) (written []string, err error) {
	names := lists.Map(p.All, func(g figures.Named) string { return g.Name })
	if err := cmp.Or(p.Err, CheckPictures(dir, names, force)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the figures: %w", err)
	}
	for _, g := range p.All {
		for _, file := range figures.Files(g.Name, g.Figure, nil, style) {
			path := filepath.Join(dir, file.Name)
			if err := files.WriteFile(path, file.Write, force); err != nil {
				return written, terminal.UsageIfExists(err)
			}
			written = append(written, path)
		}
	}
	return written, nil
}
