package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"mafalda/internal/figures"
	"mafalda/internal/files"
	"os"
)

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteFigure writes a figure in every format to the folder and says where.
func WriteFigure(w io.Writer, dir, name string, f *figures.Figure, force bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the folder of the figures: %w", err)
	}
	for _, ext := range figures.Formats() {
		path := filepath.Join(dir, name+ext)
		if err := files.WriteFile(path, func(w io.Writer) error { return f.WriteAs(w, path) }, force); err != nil {
			return UsageIfExists(err)
		}
		fmt.Fprintf(w, "written  %s\n", path)
	}
	return nil
}
