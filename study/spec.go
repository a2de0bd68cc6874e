package study

import (
	"encoding/json"
	"io"

	"mafalda/internal/version"
)

// Spec says whose a folder is.
type Spec struct {
	Study  string // name of the study
	Inputs Inputs

	// Summaries are the names of those that are known before there are results: files of other programs that bear
	// them are found before anything is computed.
	Summaries []string

	// Command is what is run, in words; the folder keeps the commands that have added to it.
	Command []string

	// Replace removes the results of other inputs, their cells and summaries, when there is a first one of these.
	// Files of anybody else's are never removed.
	Replace bool
}

// Of returns what says whose a study of this program is: its name, and the version among its inputs, before all others.
func Of(name string) Spec {
	s := Spec{Study: "mafalda " + name}
	s.Inputs.Add("program", version.String())
	return s
}

// JSONFile returns a summary in JSON.
func JSONFile(name string, v any) File {
	return File{Name: name, Write: func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}}
}
