package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/figures"
	"mafalda/internal/files"
)

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// WriteJSON writes one object over several lines.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(Verbatim(w))
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteJSONLine writes one object in a line.
func WriteJSONLine(w io.Writer, v any) error { return json.NewEncoder(Verbatim(w)).Encode(v) }

// WriteFigure writes a figure in every format to the folder and says where.
func WriteFigure(w io.Writer, dir, name string, f *figures.Figure, force bool) error {
	written, err := SaveFigure(dir, name, f, force)
	for _, path := range written {
		fmt.Fprintf(w, "written  %s\n", path)
	}
	return err
}

// SaveFigure writes a figure in every format to the folder, and returns the paths of what it has written: none of a figure
// that is nil, with nothing to show.
func SaveFigure(dir, name string, f *figures.Figure, force bool) (written []string, err error) {
	if f == nil {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the figures: %w", err)
	}
	for _, ext := range figures.Formats() {
		path := filepath.Join(dir, name+ext)
		if err := files.WriteFile(path, func(w io.Writer) error { return f.WriteAs(w, path) }, force); err != nil {
			return written, UsageIfExists(err)
		}
		written = append(written, path)
	}
	return written, nil
}

// Written says which of the files are in the folder.
func Written(w io.Writer, dir string, names ...string) error {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err != nil // no figure without anything to draw
	})
	_, err := fmt.Fprintf(w, "\nwritten        %s: %s\n", dir, strings.Join(names, ", "))
	return err
}
