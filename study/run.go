package study

import (
	"context"
	"sync"
)

// Options tunes Run. The zero value computes one cell after the other.
type Options struct {
	Workers  int                   // cells at a time; 0 means 1
	Progress func(done, total int) // if not nil, hears of every cell that is begun or done, one call at a time

	// GoOn computes the other cells after one that failed, and keeps why it did (Store.Fail): for shards, which run
	// unattended. The error of Run is the first one.
	GoOn bool
}

// Run sees to it that all cells have results: it calls do for those that have none, begun in their order, and
// keeps what it returns. Results that another process has kept in the meantime are not computed again. After the
// first error, or the end of ctx, no cell is begun, and the context of those that are running ends. Any error is a
// [StoppedError]; what is kept stays.
func Run[C, R any](ctx context.Context, s *Store[C, R], cells []C, do func(context.Context, C) (R, error), o Options) error {
	w, err := s.Work(cells, do)
	if err != nil {
		return &StoppedError{0, len(cells), err}
	}
	return w.run(ctx, o)
}

// run computes the cells in this process.
func (w *Work) run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards what follows, and Progress
	begun, done := 0, w.Total-len(w.Cells)
	var failed error // the first one, with GoOn
	tell := func() {
		if o.Progress != nil {
			o.Progress(done, w.Total)
		}
	}
	begin := func() (i int, left bool) {
		mu.Lock()
		defer mu.Unlock()
		if i = begun; i == len(w.Cells) || ctx.Err() != nil {
			return i, false
		}
		begun++
		tell()
		return i, true
	}
	end := func(i int, ofCell bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			done++
			tell()
			return
		}
		if ofCell && o.GoOn && ctx.Err() == nil {
			if failed == nil {
				failed = err
			}
			if err = w.Fail(w.Cells[i], err); err == nil {
				return
			}
		}
		cancel(err)
	}
	var wg sync.WaitGroup
	for range min(max(o.Workers, 1), len(w.Cells)) {
		wg.Go(func() {
			for i, left := begin(); left; i, left = begin() {
				ofCell, err := w.compute(ctx, i)
				end(i, ofCell, err)
			}
		})
	}
	wg.Wait()
	if done == w.Total {
		return nil
	}
	if ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	return &StoppedError{done, w.Total, failed}
}
