package figures

import (
	"fmt"
	"io"

	"mafalda/study"
)

// Files returns a figure in every format, or nothing if the figure is nil. A figure that could not be made fails only when
// its files are written. List files of results before files of figures: then the results are written in any case.
func Files(name string, f *Figure, err error, s Style) []study.File {
	if err != nil {
		failed := func(io.Writer) error { return fmt.Errorf("drawing %s: %w", name, err) }
		return []study.File{{Name: name + Formats()[0], Write: failed}}
	}
	if f == nil {
		return nil
	}
	var all []study.File
	for _, ext := range Formats() {
		all = append(all, study.File{Name: name + ext,
			Write: func(w io.Writer) error { return f.WriteAs(w, name+ext, s) }})
	}
	return all
}

// WithFiles adds the files of figures to the names of others.
func WithFiles(names []string, pictures ...string) []string {
	for _, name := range pictures {
		for _, ext := range Formats() {
			names = append(names, name+ext)
		}
	}
	return names
}
