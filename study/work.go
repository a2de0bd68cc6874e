package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Work is what is missing of a grid, for those who have its cells computed elsewhere: cells and results are JSON.
// Two programs with the same inputs have the same Key and the same cells, and Do of one computes what Keep of the
// other keeps. Its functions may be called from several goroutines at once, as far as what computes the cells allows
// that.
type Work struct {
	Key   Key
	Cells []json.RawMessage // cells that were asked for and have no results so far, each once
	Total int               // number of cells, with those that have results

	// Do computes a cell, and keeps nothing.
	Do func(ctx context.Context, cell json.RawMessage) (result json.RawMessage, err error)
	// Keep keeps a result. One that is there already stays, so that it does no harm to compute a cell twice.
	Keep func(ctx context.Context, cell, result json.RawMessage) error
	// Fail keeps why a cell has no result, until it has one.
	Fail func(cell json.RawMessage, because error) error

	// compute computes and keeps one of Cells, unless another process has. ofCell says that an error concerns this cell
	// alone; other errors, such as a full disk, concern the folder and so all cells.
	compute func(ctx context.Context, i int) (ofCell bool, err error)
}

// Work returns the missing ones of cells, which do computes. It fails if the existing cells cannot be read.
func (s *Store[C, R]) Work(cells []C, do func(context.Context, C) (R, error)) (*Work, error) {
	w := &Work{Key: s.key}
	var missing []C
	seen := map[string]bool{}
	for _, c := range cells {
		text, name, err := s.name(c)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		w.Total++
		if _, there, err := s.Get(c); err != nil {
			return nil, err
		} else if !there {
			missing, w.Cells = append(missing, c), append(w.Cells, text)
		}
	}
	w.compute = func(ctx context.Context, i int) (ofCell bool, err error) {
		_, there, err := s.Get(missing[i]) // by now
		if there || err != nil {
			return false, err
		}
		r, err := do(ctx, missing[i])
		if err != nil {
			return true, err
		}
		return false, s.Put(context.WithoutCancel(ctx), missing[i], r) // it is finished: keep it
	}
	w.Do = func(ctx context.Context, cell json.RawMessage) (json.RawMessage, error) {
		c, err := decodeAs[C]("a cell", cell)
		if err != nil {
			return nil, err
		}
		r, err := do(ctx, c)
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	}
	w.Keep = s.keepText
	w.Fail = func(cell json.RawMessage, because error) error {
		c, err := decodeAs[C]("a cell", cell)
		if err != nil {
			return err
		}
		return s.Fail(c, because)
	}
	return w, nil
}

// keepText is Put of what another program has computed.
func (s *Store[C, R]) keepText(ctx context.Context, cell, result json.RawMessage) error {
	c, err := decodeAs[C]("a cell", cell)
	if err != nil {
		return err
	}
	r, err := decodeAs[R]("the result of "+string(cell), result)
	if err != nil {
		return err
	}
	if _, there, err := s.Get(c); there || err != nil {
		return err
	}
	return s.Put(ctx, c, r)
}

// decodeAs reads a value that another program has written; err is an [ErrDamaged] if it would not write it like this.
func decodeAs[V any](what string, text json.RawMessage) (v V, err error) {
	err = json.Unmarshal(text, &v)
	var again []byte
	if err == nil {
		again, err = json.Marshal(v)
	}
	if err == nil && string(again) != string(text) {
		err = errors.New("it is not of this version of the program")
	}
	if err != nil {
		return v, fmt.Errorf("%s is %w: %w", what, ErrDamaged, err)
	}
	return v, nil
}
