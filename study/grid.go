package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mafalda/internal/files"
)

// Names in the folder of a grid that is computed in shards.
const (
	gridsName  = "grids"
	failedName = "failed"
)

// grid is what was asked for, the same in every shard, so that its file is written by each of them, without a lock.
type grid struct {
	Study   string            `json:"study"` // the key
	Command []string          `json:"command"`
	Cells   []json.RawMessage `json:"cells"`
}

// Ask writes down what all shards together are to compute, and the command that asks for it, so that Overview can tell
// what is missing, and who merges can ask for the same. It claims the folder for the study, and panics without a folder.
func (s *Store[C, R]) Ask(ctx context.Context, command []string, cells []C) error {
	g := grid{Study: s.key.String(), Command: command}
	for _, c := range cells {
		text, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("a cell: %w", err)
		}
		g.Cells = append(g.Cells, text)
	}
	content, err := json.Marshal(g)
	if err != nil {
		return err
	}
	s.claim.Lock()
	defer s.claim.Unlock()
	if err := s.folder.claim(ctx); err != nil {
		return err
	}
	return s.folder.keep(gridsName, nameOf(content), content)
}

// Fail keeps why a cell has no result, until it has one.
func (s *Store[C, R]) Fail(c C, because error) error {
	cell, name, err := s.name(c)
	if err != nil || s.folder == nil {
		return err
	}
	line, _, _ := strings.Cut(because.Error(), "\n")
	content, err := json.Marshal(Failure{cell, line})
	if err != nil {
		return err
	}
	return s.folder.keep(failedName, name, content)
}

// keep writes a file into a folder of the folder, which is made.
func (f *folder) keep(in, name string, content []byte) error {
	dir := filepath.Join(f.dir, in)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return replaceBytes(filepath.Join(dir, name), append(content, '\n'))
}

func nameOf(content []byte) string {
	d := NewDigest()
	d.Bytes(content)
	return d.Sum() + cellSuffix
}

// Overview is how far the grids of a folder are that are computed in shards.
type Overview struct {
	Study    string
	Commands [][]string // commands that asked for the cells, as of Store.Ask
	Cells    int
	Done     int
	Failed   []Failure         // cells without a result so far, and why
	Left     []json.RawMessage // neither done nor failed
	Finished []time.Time       // when cells that are done were written, ascending
}

// Failure is a cell that could not be computed, and why.
type Failure struct {
	Cell  json.RawMessage `json:"cell"`
	Error string          `json:"error"`
}

// Complete reports whether every cell has a result.
func (o *Overview) Complete() bool { return o.Done == o.Cells }

// Look returns how far the folder is. It fails with [ErrForeign] where nothing is computed in shards, with [ErrDamaged],
// and if reading does.
func Look(dir string) (*Overview, error) {
	f := &folder{dir: dir}
	r, err := f.read()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("%s: %w: it holds no %s", dir, ErrForeign, recordName)
	}
	f.key = r.Inputs.Key(r.Study)
	names, err := f.jsonFiles(gridsName)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: %w that is computed in shards", dir, ErrForeign)
	}
	o := &Overview{Study: r.Study}
	seen := map[string]bool{}
	for _, name := range names {
		g, err := f.readGrid(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(o.Commands, func(c []string) bool { return slices.Equal(c, g.Command) }) {
			o.Commands = append(o.Commands, g.Command) // once, though a command may ask in several rounds
		}
		for _, cell := range g.Cells {
			name := f.key.cellFile(cell)
			if seen[name] {
				continue
			}
			seen[name] = true
			if err := f.add(o, name, cell); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(o.Finished, time.Time.Compare)
	return o, nil
}

// add counts a cell as done, failed or left.
func (f *folder) add(o *Overview, name string, cell json.RawMessage) error {
	o.Cells++
	_, _, err := f.readCell(name)
	if err == nil {
		o.Done++
		if info, err := os.Stat(filepath.Join(f.cells(), name)); err == nil {
			o.Finished = append(o.Finished, info.ModTime())
		}
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	content, err := files.Read(filepath.Join(f.dir, failedName, name), maxCell)
	if errors.Is(err, os.ErrNotExist) {
		o.Left = append(o.Left, cell)
		return nil
	}
	if err != nil {
		return err
	}
	var why Failure
	if err := json.Unmarshal(content, &why); err != nil {
		return fmt.Errorf("%s is %w: %w", filepath.Join(f.dir, failedName, name), ErrDamaged, err)
	}
	o.Failed = append(o.Failed, Failure{cell, why.Error})
	return nil
}

// readGrid reads one of the grids. Its name is the digest of what is in it.
func (f *folder) readGrid(name string) (*grid, error) {
	path := filepath.Join(f.dir, gridsName, name)
	content, err := files.Read(path, maxCell)
	if err != nil {
		return nil, err
	}
	var g grid
	err = json.Unmarshal(content, &g)
	if err == nil && nameOf([]byte(strings.TrimSuffix(string(content), "\n"))) != name {
		err = errors.New("it is not what was written")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %w (remove it, and start a shard again)", path, ErrDamaged, err)
	}
	if g.Study != f.key.String() {
		return nil, fmt.Errorf("%s is %w: it is of another study (remove it)", path, ErrDamaged)
	}
	return &g, nil
}

// jsonFiles returns the names of the JSON files in a folder of the folder, ascending; none where it is missing.
func (f *folder) jsonFiles(in string) ([]string, error) {
	names, err := f.visible(in)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, cellSuffix) }), err
}

// visible returns the names in a folder of the folder that are not hidden, ascending; none where it is missing.
func (f *folder) visible(in string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, in))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
