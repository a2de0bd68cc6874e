package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"mafalda/internal/lists"
)

// A Store keeps the results of cells: in memory, and in a folder if it has one. Its methods may be called from
// several goroutines at once, and several processes may have stores in one folder.
type Store[C, R any] struct {
	folder *folder // nil: only in memory
	key    Key

	mu      sync.Mutex
	entries map[string]Entry[C, R] // entries by the names of their files
	claim   sync.Mutex             // while the folder is made the study's
}

// Entry is a cell with its result.
type Entry[C, R any] struct {
	Cell   C
	Result R
}

// File is a summary: its name, and what writes it.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// Open returns the store of the folder dir, with what is there; of none, in memory alone, if dir is empty. It
// makes nothing: the first result does. It fails with an [InputsError], [ErrForeign] or [ErrDamaged], and if the place
// cannot be written.
func Open[C, R any](dir string, spec Spec) (*Store[C, R], error) {
	s := &Store[C, R]{key: spec.Inputs.Key(spec.Study), entries: map[string]Entry[C, R]{}}
	if dir == "" {
		return s, nil
	}
	s.folder = &folder{dir: dir, spec: spec, key: s.key}
	there := s.folder.filesNamed(spec.Summaries) // before study.json is read: what another process writes is named there first
	found, err := s.folder.look()
	if err == nil {
		err = s.folder.checkForeign(there, found)
	}
	if err == nil {
		err = checkWritable(dir)
	}
	if err == nil && found.mine != nil {
		s.folder.claimed = true
		err = s.load()
	}
	return s, err
}

// load reads the cells in the folder that are not known yet, and checks all of them.
func (s *Store[C, R]) load() error {
	names, err := s.folder.cellFiles()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if _, known := s.entries[name]; known {
			continue
		}
		e, err := s.read(name)
		if err != nil {
			return err
		}
		s.entries[name] = e
	}
	return nil
}

func (s *Store[C, R]) read(name string) (e Entry[C, R], err error) {
	cell, result, err := s.folder.readCell(name)
	if err != nil {
		return e, err
	}
	if err := errors.Join(json.Unmarshal(cell, &e.Cell), json.Unmarshal(result, &e.Result)); err != nil {
		return e, fmt.Errorf("%s is %w: %w", filepath.Join(s.folder.cells(), name), ErrDamaged, err)
	}
	return e, nil
}

// name returns the JSON of a cell, and the name of its file.
func (s *Store[C, R]) name(c C) (cell []byte, name string, err error) {
	if cell, err = json.Marshal(c); err != nil {
		return nil, "", fmt.Errorf("a cell: %w", err)
	}
	return cell, s.key.cellFile(cell), nil
}

// Get returns the result of a cell, and whether there is one by now.
func (s *Store[C, R]) Get(c C) (r R, there bool, err error) {
	_, name, err := s.name(c)
	if err != nil {
		return r, false, err
	}
	s.mu.Lock()
	e, there := s.entries[name]
	s.mu.Unlock()
	if there || s.folder == nil {
		return e.Result, there, nil
	}
	if e, err = s.read(name); errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	} else if err == nil {
		s.keep(name, e)
	}
	return e.Result, err == nil, err
}

func (s *Store[C, R]) keep(name string, e Entry[C, R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[name] = e
}

// Put keeps the result of a cell: when it returns without an error, the result is on the disk.
func (s *Store[C, R]) Put(ctx context.Context, c C, r R) error {
	cell, name, err := s.name(c)
	if err != nil {
		return err
	}
	if s.folder != nil {
		result, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("the result of %s: %w", cell, err)
		}
		s.claim.Lock()
		err = s.folder.claim(ctx)
		s.claim.Unlock()
		if err == nil {
			err = s.folder.writeCell(name, cell, result)
		}
		if err != nil {
			return fmt.Errorf("keeping a result in %s: %w", s.folder.dir, err)
		}
	}
	s.keep(name, Entry[C, R]{c, r})
	return nil
}

// Summarize hands all cells of the folder, other processes' cells included, to make, always in the same order, and
// writes the files that it returns. Nothing is called where there is no folder, or no cell.
func (s *Store[C, R]) Summarize(ctx context.Context, make func(all []Entry[C, R]) ([]File, error)) error {
	if s.folder == nil || !s.folder.claimed {
		return nil
	}
	return s.folder.withLock(ctx, func() error {
		found, err := s.folder.look()
		if err == nil {
			err = s.load()
		}
		if err != nil || found.mine == nil || len(s.entries) == 0 {
			return err
		}
		summaries, err := make(s.allEntries())
		if err != nil {
			return err
		}
		return s.folder.summarize(found, summaries)
	})
}

func (s *Store[C, R]) allEntries() []Entry[C, R] {
	names := slices.Sorted(maps.Keys(s.entries))
	return lists.Map(names, func(name string) Entry[C, R] { return s.entries[name] })
}

// summarize writes summaries, after study.json says that they may be replaced, and removes earlier ones that are not made
// any more.
func (f *folder) summarize(found state, summaries []File) error {
	names := slices.Sorted(slices.Values(lists.Map(summaries, func(s File) string { return s.Name })))
	if err := f.checkForeign(f.filesNamed(names), found); err != nil {
		return err
	}
	r := found.mine
	stale := slices.DeleteFunc(slices.Clone(r.Files), func(name string) bool { return slices.Contains(names, name) })
	if err := f.remove(stale); err != nil {
		return err
	}
	if added := r.add(f.spec.Command); added || !slices.Equal(r.Files, names) {
		r.Files = names
		if err := f.write(r); err != nil {
			return err
		}
	}
	for _, s := range summaries {
		if err := replaceFile(filepath.Join(f.dir, s.Name), s.Write); err != nil {
			return err
		}
	}
	return nil
}
