package figures

import (
	"io"

	"mafalda/internal/study"
)

// Files returns a figure in every format; none of a figure that is nil.
func Files(name string, f *Figure) []study.File {
	if f == nil {
		return nil
	}
	var all []study.File
	for _, ext := range Formats() {
		all = append(all, study.File{Name: name + ext,
			Write: func(w io.Writer) error { return f.WriteAs(w, name+ext) }})
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
