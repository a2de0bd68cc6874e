package study

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"mafalda/internal/files"
	"mafalda/internal/version"
)

// Spec says whose a folder is.
type Spec struct {
	Study  string // its name
	Inputs Inputs

	// Summaries are the names of those that are known before there are results: files of somebody else that bear
	// them are found before anything is computed.
	Summaries []string

	// Former reports whether a folder without study.json, but with these files, has the results of a program that
	// knew no studies. Such results are of other inputs. Nil stands for no.
	Former func(dir string, names []string) bool

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

// Formerly recognizes folders of the versions that kept all results in one file: it is there, with these keys, and
// beside it there is nothing but what they wrote.
func Formerly(store string, keys []string, known func(name string) bool) func(dir string, names []string) bool {
	return func(dir string, names []string) bool {
		foreign := func(name string) bool { return name != store && !known(name) }
		if !slices.Contains(names, store) || slices.ContainsFunc(names, foreign) {
			return false
		}
		f, _, err := files.Open(filepath.Join(dir, store))
		if err != nil {
			return false
		}
		defer f.Close()
		var there map[string]json.RawMessage
		if json.NewDecoder(f).Decode(&there) != nil {
			return false
		}
		return !slices.ContainsFunc(keys, func(key string) bool { return there[key] == nil })
	}
}
