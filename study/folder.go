package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/lists"
)

// Names in a folder.
const (
	recordName = "study.json"
	cellsName  = "cells"
	lockName   = ".lock"
)

// record is the content of study.json.
type record struct {
	Study  string   `json:"study"`
	Inputs Inputs   `json:"inputs"`
	Key    string   `json:"key"`
	Files  []string `json:"files"` // summaries

	Commands [][]string `json:"commands,omitempty"` // commands that have added results, in words, in the order in which they came
}

// add adds a command, unless it is empty or there, and reports whether it did.
func (r *record) add(command []string) bool {
	same := func(other []string) bool { return slices.Equal(command, other) }
	if len(command) == 0 || slices.ContainsFunc(r.Commands, same) {
		return false
	}
	r.Commands = append(r.Commands, command)
	return true
}

// folder is the place of a study.
type folder struct {
	dir     string
	spec    Spec
	key     Key
	claimed bool // the folder is known to be of this study, or was made its
}

// state is what there is in the place of a folder.
type state struct {
	mine  *record // record of this study
	other *record // record of another study, which may be replaced
	// none of them: the folder is free
}

// look finds out what there is; it is an error if that does not leave room for the study.
func (f *folder) look() (state, error) {
	entries, err := os.ReadDir(f.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return state{}, nil
	case err != nil:
		if info, failed := os.Stat(f.dir); failed == nil && !info.IsDir() {
			return state{}, fmt.Errorf("%s is a file: %w", f.dir, ErrForeign)
		}
		return state{}, err
	}
	for _, e := range entries { // what is written or removed here would be so elsewhere
		if e.Type()&os.ModeSymlink != 0 {
			return state{}, fmt.Errorf("%s is %w: %s is a link, put what it leads to in its place", f.dir, ErrForeign, e.Name())
		}
	}
	r, err := f.read()
	if err != nil {
		return state{}, err
	}
	if r != nil {
		differences := f.compare(r)
		switch {
		case differences == nil:
			return state{mine: r}, nil
		case f.spec.Replace && !f.claimed: // once
			return state{other: r}, nil
		}
		return state{}, &InputsError{f.dir, differences}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			return state{}, fmt.Errorf("%s: %w: it holds %s, and no %s", f.dir, ErrForeign, e.Name(), recordName)
		}
	}
	return state{}, nil
}

// compare says how the study of a folder differs from this one; nil if it does not.
func (f *folder) compare(r *record) []string {
	if r.Study != f.spec.Study {
		return []string{fmt.Sprintf("they are of %s, not of %s", r.Study, f.spec.Study)}
	}
	if r.Key == f.key.String() {
		return nil
	}
	if d := f.spec.Inputs.differences(r.Inputs); d != nil {
		return d
	}
	return []string{"they are in another order"}
}

// read returns what study.json says; nil without the file.
func (f *folder) read() (*record, error) {
	const most = 1 << 24 // bytes
	path := filepath.Join(f.dir, recordName)
	text, err := readFile(path, most)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s is %w: %w (remove the folder, or name another)", path, ErrDamaged, err)
	}
	odd := func(name string) bool { return !isSummary(name) }
	if r.Key != r.Inputs.Key(r.Study).String() || slices.ContainsFunc(r.Files, odd) {
		return nil, fmt.Errorf("%s is %w: it is not what was written (remove the folder, or name another)", path,
			ErrDamaged)
	}
	return &r, nil
}

// isSummary reports whether a file may have this name: one in the folder itself, that has no other use.
func isSummary(name string) bool {
	return filepath.IsLocal(name) && filepath.Base(name) == name && name != recordName && name != cellsName &&
		name != gridsName && name != failedName && !strings.HasPrefix(name, ".")
}

func (f *folder) write(r *record) error {
	path := filepath.Join(f.dir, recordName)
	return replaceFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// claim makes the folder this study's own, unless it is already.
func (f *folder) claim(ctx context.Context) error {
	r, err := f.read()
	if err != nil {
		return err
	}
	if r != nil && f.compare(r) == nil {
		f.claimed = true
		return os.MkdirAll(f.cells(), 0o777) // who has written study.json may be about to
	}
	if _, err := f.look(); err != nil { // before anything is made in it
		return err
	}
	made := missingAbove(f.dir)
	err = os.MkdirAll(f.dir, 0o777)
	if err == nil {
		err = f.withLock(ctx, f.take)
	}
	if err != nil && len(made) > 0 {
		_ = os.Remove(filepath.Join(f.dir, lockName))
		for _, dir := range made {
			_ = os.Remove(dir) // refuses one with something in it
		}
	}
	f.claimed = f.claimed || err == nil
	return err
}

// take is claim under the lock.
func (f *folder) take() error {
	s, err := f.look()
	if err != nil || s.mine != nil {
		return err
	}
	if err := f.clear(s); err != nil {
		return err
	}
	r := &record{Study: f.spec.Study, Inputs: f.spec.Inputs, Key: f.key.String(), Files: []string{}}
	r.add(f.spec.Command)
	if err := f.write(r); err != nil {
		return err
	}
	if err := os.MkdirAll(f.cells(), 0o777); err != nil {
		return errors.Join(err, os.Remove(filepath.Join(f.dir, recordName)))
	}
	return files.SyncFolder(f.dir)
}

// clear removes the results of other inputs.
func (f *folder) clear(s state) error {
	if s.other == nil {
		return nil
	}
	all := s.other.Files
	for _, in := range []string{cellsName, gridsName, failedName} {
		names, err := f.jsonFiles(in)
		if err != nil {
			return err
		}
		all = append(all, lists.Map(names, func(name string) string { return filepath.Join(in, name) })...)
	}
	return f.remove(all)
}

// remove removes files of the folder, as far as they are there.
func (f *folder) remove(names []string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *folder) cells() string { return filepath.Join(f.dir, cellsName) }

// withLock calls do while no other process does the same.
func (f *folder) withLock(ctx context.Context, do func() error) error {
	unlock, err := lock(ctx, filepath.Join(f.dir, lockName))
	if err != nil {
		return err
	}
	return errors.Join(do(), unlock())
}

// filesNamed returns the names that files in the folder have, and the names that no summary can have.
func (f *folder) filesNamed(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Lstat(filepath.Join(f.dir, name))
		return isSummary(name) && err != nil
	})
}

// checkForeign returns an error if one of the files that are present was not written by the study.
func (f *folder) checkForeign(present []string, s state) error {
	var own []string
	for _, r := range []*record{s.mine, s.other} {
		if r != nil {
			own = append(own, r.Files...)
		}
	}
	for _, name := range present {
		path := filepath.Join(f.dir, name)
		if !isSummary(name) {
			return fmt.Errorf("%s: %w: no summary can have this name", path, ErrForeign)
		}
		if !slices.Contains(own, name) {
			return fmt.Errorf("%s: %w: it was not written by %s, move it away", path, ErrForeign, f.spec.Study)
		}
	}
	return nil
}

// missingAbove returns the folders that would have to be made for dir, dir first.
func missingAbove(dir string) []string {
	var missing []string
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
}
