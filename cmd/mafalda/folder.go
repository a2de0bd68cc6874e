package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mafalda/export"
	"mafalda/internal/figures"
)

// namedFigure is a figure and the name of its files, without an ending.
type namedFigure struct {
	name   string
	figure *figures.Figure
}

// checkFolder finds out, before anything is computed, whether a result can be written to the folder. An empty name of a folder is none.
func checkFolder(dir, name string, force bool) error {
	if dir == "" {
		return nil
	}
	if err := refuseExport(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil && !force {
		return usagef("%s is there already: use --force to replace it", filepath.Join(dir, name))
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

// refuseExport keeps other files out of an export: it would not verify any more, and no noise be drawn from it.
func refuseExport(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, export.ManifestName)); err == nil {
		return usagef("%s is an export, which has no other files: choose another folder with -o", dir)
	}
	return nil
}

// removeIfEmpty takes back a folder that checkFolder has made, if nothing came of it.
func removeIfEmpty(dir string, err error) {
	if err != nil && dir != "" {
		_ = os.Remove(dir) // refuses a folder with something in it
	}
}

// writeResult writes a result, as JSON, and its figures.
func writeResult(dir, name string, result any, figures []namedFigure, force bool) error {
	err := export.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return writeJSON(w, result) }, force)
	if err != nil {
		return usageIfExists(err)
	}
	for _, g := range figures {
		if err := writeFigure(io.Discard, dir, g.name, g.figure, force); err != nil {
			return err
		}
	}
	return nil
}

// usageIfExists makes an error about existing files one of usage.
func usageIfExists(err error) error {
	if errors.Is(err, export.ErrExists) {
		return usage(err)
	}
	return err
}
