package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"mafalda/export"
	"mafalda/internal/figure"
	"mafalda/internal/files"
	"mafalda/internal/study"
	"mafalda/participation"
)

// studyOf returns the inputs that all studies have, before those of a command.
func studyOf(command string) study.Spec {
	s := study.Spec{Study: "mafalda " + command}
	s.Inputs.Add("program", version())
	return s
}

// addSchema adds who takes part when: of a file its patterns, not its name.
func addSchema(in *study.Inputs, f *schemaFlags, s participation.Schema) {
	p := f.describe(s)
	p.Source = ""
	text, _ := json.Marshal(p) // numbers and a name
	in.Add("T", s.Steps())
	in.Add("participation", string(text))
}

// exportDigest is of an export whose hashes have been checked: they are in its manifest, and so the manifest
// stands for every byte.
func exportDigest(e *export.Export) (string, error) {
	d := study.NewDigest()
	text, err := json.Marshal(e.Manifest)
	d.Bytes(text)
	return d.Sum(), err
}

// studyError makes errors about a folder that was named errors of usage.
func studyError(err error) error {
	var other *study.InputsError
	switch {
	case errors.As(err, &other):
		return usagef("%w: choose another folder, or --force to replace them", err)
	case errors.Is(err, study.ErrForeign) || errors.Is(err, study.ErrDamaged):
		return usage(err)
	}
	return err
}

// stoppedError says what is kept of a study that ended early.
func stoppedError(err error, dir, what string) error {
	var stopped *study.StoppedError
	if !errors.As(err, &stopped) {
		return studyError(err)
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	err = studyError(err)
	kept := fmt.Sprintf("%d of %s", stopped.Done, count(stopped.Total, what))
	switch {
	case stopped.Done == 0 && !errors.Is(err, errInterrupted):
		return err
	case dir == "" && errors.Is(err, errInterrupted):
		return fmt.Errorf("%w after %s; nothing kept (use -o FOLDER to be able to go on)", err, kept)
	case dir == "":
		return err
	case stopped.Done == 0:
		return fmt.Errorf("%w; none of %s is finished, and nothing is written", err, count(stopped.Total, what))
	}
	return fmt.Errorf("%w; %s are kept in %s, and the same command goes on with them", err, kept, dir)
}

// summarize has the files of a folder made anew of all cells, also after a run that ended early: running is how it
// ended.
func summarize[C, R any](ctx context.Context, s *study.Store[C, R], running error,
	make func([]study.Entry[C, R]) ([]study.File, error)) error {
	err := s.Summarize(context.WithoutCancel(ctx), make)
	if running != nil {
		return running // the summaries are made again when the command is
	}
	return studyError(err)
}

// figureFiles returns a figure in every format; none of a figure that is nil.
func figureFiles(name string, f *figure.Figure) []study.File {
	if f == nil {
		return nil
	}
	var all []study.File
	for _, ext := range figure.Formats() {
		all = append(all, study.File{Name: name + ext, Write: func(w io.Writer) error { return f.WriteAs(w, name+ext) }})
	}
	return all
}

// jsonFile returns a summary in JSON.
func jsonFile(name string, v any) study.File {
	return study.File{Name: name, Write: func(w io.Writer) error { return writeJSON(w, v) }}
}

// withFigures adds the files of figures to the names of others.
func withFigures(names []string, figures ...string) []string {
	for _, name := range figures {
		for _, ext := range figure.Formats() {
			names = append(names, name+ext)
		}
	}
	return names
}

// formerly recognizes folders of the versions that kept all results in one file: it is there, with these keys, and
// beside it there is nothing but what they wrote.
func formerly(store string, keys []string, known func(name string) bool) func(dir string, names []string) bool {
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
