package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"mafalda/internal/figures"
	"mafalda/internal/files"
	"mafalda/internal/study"
	"mafalda/internal/version"
)

// StudyOf returns the inputs that all studies have, before those of a command.
func StudyOf(command string) study.Spec {
	s := study.Spec{Study: "mafalda " + command}
	s.Inputs.Add("program", version.String())
	return s
}

// StudyError makes errors about a folder that was named errors of usage.
func StudyError(err error) error {
	var other *study.InputsError
	switch {
	case errors.As(err, &other):
		return Usagef("%w: choose another folder, or --force to replace them", err)
	case errors.Is(err, study.ErrForeign) || errors.Is(err, study.ErrDamaged):
		return Usage(err)
	}
	return err
}

// StoppedError says what is kept of a study that ended early.
func StoppedError(err error, dir, what string) error {
	var stopped *study.StoppedError
	if !errors.As(err, &stopped) {
		return StudyError(err)
	}
	if errors.Is(err, context.Canceled) {
		err = ErrInterrupted
	}
	err = StudyError(err)
	kept := fmt.Sprintf("%d of %s", stopped.Done, Count(stopped.Total, what))
	switch {
	case stopped.Done == 0 && !errors.Is(err, ErrInterrupted):
		return err
	case dir == "" && errors.Is(err, ErrInterrupted):
		return fmt.Errorf("%w after %s; nothing kept (use -o FOLDER to be able to go on)", err, kept)
	case dir == "":
		return err
	case stopped.Done == 0:
		return fmt.Errorf("%w; none of %s is finished, and nothing is written", err, Count(stopped.Total, what))
	}
	return fmt.Errorf("%w; %s are kept in %s, and the same command goes on with them", err, kept, dir)
}

// Summarize has the files of a folder made anew of all cells, also after a run that ended early: running is how it
// ended.
func Summarize[C, R any](ctx context.Context, s *study.Store[C, R], running error,
	make func([]study.Entry[C, R]) ([]study.File, error)) error {
	err := s.Summarize(context.WithoutCancel(ctx), make)
	if running != nil {
		return running // the summaries are made again when the command is
	}
	return StudyError(err)
}

// Study is a study that a command runs.
type Study[C, R any] struct {
	Dir      string // of its store; empty: nothing is kept
	Spec     study.Spec
	Cells    []C    // that were asked for
	Cell     string // what a cell is, for messages, such as "attacker"
	Do       func(context.Context, C) (R, error)
	Files    func(all []study.Entry[C, R]) ([]study.File, error) // makes the summaries
	Workers  int                                                 // as of study.Options
	Progress *Progress
}

// Run computes the cells that have no results yet, has the summaries made anew, and returns the results in the order of the
// cells. Errors say what is kept.
func (s Study[C, R]) Run(ctx context.Context) ([]R, error) {
	store, err := study.Open[C, R](s.Dir, s.Spec)
	if err != nil {
		return nil, StudyError(err)
	}
	err = study.Run(ctx, store, s.Cells, s.Do, study.Options{Workers: s.Workers, Progress: s.Progress.ShowAt})
	s.Progress.Clear()
	if err != nil {
		err = StoppedError(err, s.Dir, s.Cell)
	}
	if err := Summarize(ctx, store, err, s.Files); err != nil {
		return nil, err
	}
	var results []R
	for _, c := range s.Cells {
		r, _, err := store.Get(c)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// FigureFiles returns a figure in every format; none of a figure that is nil.
func FigureFiles(name string, f *figures.Figure) []study.File {
	if f == nil {
		return nil
	}
	var all []study.File
	for _, ext := range figures.Formats() {
		all = append(all, study.File{Name: name + ext, Write: func(w io.Writer) error { return f.WriteAs(w, name+ext) }})
	}
	return all
}

// JsonFile returns a summary in JSON.
func JsonFile(name string, v any) study.File {
	return study.File{Name: name, Write: func(w io.Writer) error { return WriteJSON(w, v) }}
}

// WithFigures adds the files of figures to the names of others.
func WithFigures(names []string, pictures ...string) []string {
	for _, name := range pictures {
		for _, ext := range figures.Formats() {
			names = append(names, name+ext)
		}
	}
	return names
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
